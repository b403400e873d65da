"""Defects of a page that a program can detect."""

# Elements with text smaller than 13 px, except indices and exponents.
SMALL_LABELS = """() => [...document.querySelectorAll("body *")].filter((element) => {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    const seen = element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
    const hidden = element.closest(".hidden, option, sub, sup, math");
    return own && seen && !hidden && parseFloat(getComputedStyle(element).fontSize) < 13;
}).map((element) => element.outerHTML.slice(0, 120))"""

# Text that is cut off by its box, or outside the page and not reachable by scrolling. Text with
# an ellipsis at its end is allowed.
CUT_OFF = """() => [...document.querySelectorAll("body *")].filter((element) => {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    const seen = element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
    const apart = element.closest(".hidden, .skip, option, textarea, .noscript");
    if (!own || !seen || apart) return false;
    const style = getComputedStyle(element);
    if (style.textOverflow === "ellipsis") return false;
    const clips = ["hidden", "clip"].includes(style.overflowX);
    if (clips && element.scrollWidth > element.clientWidth + 1) return true;
    const { left, right } = element.getBoundingClientRect();
    for (let up = element.parentElement; up; up = up.parentElement)
        if (/auto|scroll/.test(getComputedStyle(up).overflowX)) return false;
    return left < -1 || right > innerWidth + 1;
}).map((element) => element.outerHTML.slice(0, 120))"""
