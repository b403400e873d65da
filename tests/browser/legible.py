"""What a program can see to be wrong with a page."""

# Elements with text of their own under 13 px; an index or an exponent is smaller by nature.
SMALL_LABELS = """() => [...document.querySelectorAll("body *")].filter((element) => {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    const seen = element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
    const hidden = element.closest(".hidden, option, sub, sup, math");
    return own && seen && !hidden && parseFloat(getComputedStyle(element).fontSize) < 13;
}).map((element) => element.outerHTML.slice(0, 120))"""
