"""The workspace page, for tests."""

import base64
import json
from collections.abc import Sequence
from typing import Any, NamedTuple
from urllib.parse import urlencode

import numpy as np
from numpy.typing import NDArray
from playwright.sync_api import Locator, Page, expect

from tests.browsing.page_settles import observe, settle

DRAWN = """() => document.documentElement?.dataset.status === "ready"
    && document.querySelector("#view [data-drawn]")"""
# Goes to a link as "back" does, if the page can; false if it must be loaded. On its
# way it has no sentence and another view, so that nothing is left of the last
# place, and the next one is requested and drawn as after loading.
MOVE = """async (address) => {
    const { origin, search, searchParams: wanted } = new URL(address);
    const { lang, share } = document.querySelector("#workspace")?.dataset ?? {};
    const placed = wanted.get("source") && (wanted.has("layer") || wanted.has("head"));
    const here = location.origin === origin && location.pathname === "/" && !share;
    if (!here || !placed || window.spent || lang !== (wanted.get("lang") ?? "en")) return false;
    const opened = "dialog, details, #shared, .drop, .sheet.open, :root[data-theme]";
    const hidden = "[popover]:not(:popover-open), [hidden]";
    const shut = (it) => it.matches(`dialog:not([open]), details:not([open]), ${hidden}`);
    if (![...document.querySelectorAll(opened)].every(shut)) return false;
    const go = (query) => {
        history.replaceState(null, "", query);
        dispatchEvent(new PopStateEvent("popstate"));
    };
    document.activeElement.blur();
    getSelection().removeAllRanges();
    document.querySelector("#announce").textContent = "";
    go(`?source=&lang=${lang}&view=${wanted.get("view") === "training" ? "lines" : "training"}`);
    scrollTo(0, 0);
    go(search);
    const { dataset } = document.documentElement;
    const frame = () => new Promise(requestAnimationFrame);
    for (let n = 0; n < 2 || dataset.status === "waiting"; n++) await frame();
    const said = new URLSearchParams(document.querySelector("#language").search);
    said.set("lang", lang);
    history.replaceState(null, "", `?${said}`);
    return true;
}"""
# It is set by a timer of no wait, after the frame that shows the choice.
WRITTEN = """async () => {
    const soon = () => [...(window.timersDue?.values() ?? [])].includes(0);
    for (let n = 0; n < 3 || soon(); n++) await new Promise(requestAnimationFrame);
    return LINK;
}"""
ADDRESS = WRITTEN.replace("LINK", "Object.fromEntries(new URLSearchParams(location.search))")
# The page's own: Playwright hears later of an address that changes without a navigation.
QUERY = WRITTEN.replace("LINK", "location.search.slice(1)")
# A chart's element has its picture, null where a cell shows no number.
CHARTS = """(selector) => [...document.querySelectorAll(`${selector} .chart[data-drawn]`)]
    .filter((chart) => chart.offsetParent).map(({ picture: { matrix, cover, shade } }) => ({
        range: shade.range,
        values: Array.from({ length: matrix.rows }, (_, row) =>
            Array.from({ length: matrix.cols }, (_, col) => {
                const value = matrix.values[row * matrix.cols + col];
                const why = cover?.[row * matrix.cols + col] ?? 0;
                return why || Number.isNaN(value) ? null : value;
            })),
    }))"""
# A choice is drawn in the next frame.
FIGURE = """async () => {
    for (const _ of [1, 2]) await new Promise(requestAnimationFrame);
    const matrix = document.querySelector("#view .matrix");
    const title = (side) => matrix.querySelector(`.labels.${side} .axis`).textContent;
    const { labels } = matrix.querySelector(".chart").picture;
    return [[title("rows"), labels.rows], [title("cols"), labels.cols]];
}"""
CELL = """([selector, row, col]) => {
    const chart = document.querySelector(`${selector} .chart[data-drawn]`);
    const frame = chart.getBoundingClientRect();
    const { left, top, cellWidth, cellHeight } = chart.picture.geometry;
    const x = (at) => frame.left + left + at * cellWidth;
    const y = (at) => frame.top + top + at * cellHeight;
    return [[x(col), y(row)], [x(col + 1), y(row + 1)]];
}"""
BOXES = """(selector) => [...document.querySelectorAll(selector)].map((element) => {
    const { x, y, width, height } = element.getBoundingClientRect();
    return { x, y, width, height };
})"""
PIXELS = """async ([png, points]) => {
    const image = new Image();
    image.src = `data:image/png;base64,${png}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.width, image.height];
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    return points.map(([x, y]) => Array.from(context.getImageData(x, y, 1, 1).data).slice(0, 3));
}"""

Point = tuple[float, float]


def cell_of(block: str, layer: int = 0) -> str:
    """Return the selector of an attention's cell on the map of the model."""
    return f"#map label:has([data-block='{block}'][data-layer='{layer}'])"


def share(page: Page) -> str:
    """Share what a page shows; return the link, which may replace that of an earlier share."""
    page.locator("#share").click()
    expect(page.locator("#share")).not_to_have_attribute("aria-disabled", "true")
    link = page.locator("#shared-link")
    expect(link).to_be_visible()
    return link.input_value()


class Chart(NamedTuple):
    """A drawn matrix."""

    values: NDArray[Any]  # NaN where a cell shows no number
    range: list[float]  # the ends of its colour scale


class Workspace:
    """The page of the workspace, with methods to use and read it."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url
        observe(page.context)

    def open(self, **link: object) -> None:
        """Open a link, by navigation or loading, and wait until its picture is drawn."""
        self.go(**link)
        self.drawn()

    def load(self, **link: object) -> None:
        """Load a link and wait until its picture is drawn."""
        self.page.goto(self.address(**link))
        self.drawn()

    def go(self, **link: object) -> None:
        """Open a link: by navigation inside the page if possible, else by loading it."""
        address = self.address(**link)
        if not self.page.evaluate(MOVE, address):
            self.page.goto(address)

    def address(self, **link: object) -> str:
        """Return a link's address, with nested values as JSON; without a link, the workspace's."""
        words = {
            key: json.dumps(it) if isinstance(it, dict | list) else it for key, it in link.items()
        }
        if not set(words) - {"lang"}:  # such a link would open the introduction
            words["view"] = "attention"
        return f"{self.url}/?{urlencode(words)}"

    def drawn(self) -> None:
        """Wait until the trace is there and the view has drawn it."""
        self.page.wait_for_function(DRAWN)

    def settled(self) -> None:
        """Wait until the view's data is loaded and transitions have ended."""
        settle(self.page)

    def says(self, source: str) -> None:
        """Wait until the address bar has this sentence."""
        script = "s => new URLSearchParams(location.search).get('source') === s"
        self.page.wait_for_function(script, arg=source)

    def find(self, selector: str) -> Locator:
        return self.page.locator(selector)

    def view(self, name: str) -> None:
        """Choose a view by its tab, which is in a sheet on a phone."""
        if self.find("#views-open").is_visible():
            self.find("#views-open").click()
        self.find(f"#views label:has([value={name}])").click()

    def place(self, block: str, layer: int = 0) -> None:
        """Go to an attention by its cell on the map of the model."""
        self.find(cell_of(block, layer)).click()

    def menu(self, selector: str) -> None:
        """Choose something from the menu at the top."""
        self.find("#more").click()
        self.find(selector).click()

    def options(self) -> None:
        """Open the view's options if they are behind a button."""
        self.find("#options").click()

    def example(self, which: int) -> None:
        """Choose one of the examples; -1 is the last."""
        self.find("#examples-open").click()
        self.find("#examples button").nth(which).click()

    def share(self) -> str:
        """Share what is shown; return the link."""
        return share(self.page)

    @property
    def link(self) -> dict[str, str]:
        """The parameters in the address bar."""
        found: dict[str, str] = self.page.evaluate(ADDRESS)
        return found

    def figure(self) -> tuple[NDArray[Any], list[Any]]:
        """Return the values of the first chart, NaN where empty, and its two axes."""
        axes = self.page.evaluate(FIGURE)
        return self.charts()[0].values, axes

    def charts(self, selector: str = "#view") -> list[Chart]:
        """Return the visible charts."""
        found = self.page.evaluate(CHARTS, selector)
        return [Chart(np.array(one["values"], dtype=float), one["range"]) for one in found]

    def cell(
        self, row: int, col: int, across: float = 0.5, down: float = 0.5, of: str = "#view"
    ) -> Point:
        """Return a point in a cell, in pixels of the window."""
        (left, top), (right, bottom) = self.page.evaluate(CELL, [of, row, col])
        return left + (right - left) * across, top + (bottom - top) * down

    def boxes(self, selector: str) -> list[dict[str, float]]:
        """Return the boxes of all matching elements, in pixels of the window.

        Measured in one call: a view that is redrawn in the meantime, for example when a scroll bar
        appears, would remove a locator's element between finding and measuring it.
        """
        found: list[dict[str, float]] = self.page.evaluate(BOXES, selector)
        assert found, f"nothing matches {selector}"
        return found

    def pixels(self, points: Sequence[Point]) -> list[tuple[int, ...]]:
        """Return the colours of some points on the screen."""
        png = base64.b64encode(self.page.screenshot()).decode()
        blank = self.page.context.pages[0]
        whole = [[int(x), int(y)] for x, y in points]
        return [tuple(colour) for colour in blank.evaluate(PIXELS, [png, whole])]
