"""Defects of a page that a program can detect."""

from playwright.sync_api import Page
from playwright.sync_api import TimeoutError as NotInTime

# Elements with text smaller than 13 px (or as many as are given), except indices and exponents.
SMALL_LABELS = """(smallest) => [...document.querySelectorAll("body *")].filter((element) => {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    const seen = element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
    const hidden = element.closest(".hidden, option, sub, sup, math");
    if (!own || !seen || hidden) return false;
    const svg = element.closest("svg[viewBox]");
    const scale = svg ? svg.getBoundingClientRect().width / svg.viewBox.baseVal.width : 1;
    return scale * parseFloat(getComputedStyle(element).fontSize) < (smallest ?? 13) - 0.1;
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


# A limit only: what fits is seen at once.
PATIENCE_MS = 30_000
FITS = "width => document.documentElement.scrollWidth <= width"


def overflow(page: Page, width: int) -> int:
    """Return by how many pixels the page is wider than its window of that width.

    A figure is drawn again only some time after the window has changed, so it is waited for.
    """
    try:
        page.wait_for_function(FITS, arg=width, timeout=PATIENCE_MS)
    except NotInTime:
        return int(page.evaluate("document.documentElement.scrollWidth")) - width
    return 0
