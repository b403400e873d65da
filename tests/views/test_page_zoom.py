"""Zooming into a matrix: Plotly is loaded on demand, and the simple picture comes back."""

import re
from typing import Any

import numpy as np
from playwright.sync_api import Route, expect

from tests.browsing.workspace import Workspace

SOURCE = (
    "The old lighthouse keeper, who had lived alone for forty years, finally told the children "
    "about the storm that took his brother's boat."
)
LONG: dict[str, Any] = {"source": SOURCE, "view": "attention", "block": "decoder", "layer": 1}
# Plotly's values, null where empty, and the visible range of both axes.
PLOTTED = """() => {
    const { data, _fullLayout: { xaxis, yaxis } } = document.querySelector(".js-plotly-plot");
    const z = data[0].z.map((row) => Array.from(row, (n) => (Number.isNaN(n) ? null : n)));
    const names = [data[0].y, data[0].x].map((axis) => axis && [...axis]);
    return { z, names, ends: [xaxis.range, yaxis.range], shapes: document.querySelectorAll(
        ".js-plotly-plot .shapelayer path").length };
}"""


def opened(workspace: Workspace, **link: object) -> dict[str, Any]:
    workspace.open(**LONG | link)
    workspace.find(".matrix > .zoom").click()
    workspace.find(".zoomed .main-svg").first.wait_for()
    return plotted(workspace)


def plotted(workspace: Workspace) -> dict[str, Any]:
    found: dict[str, Any] = workspace.page.evaluate(PLOTTED)
    return found


def cell_at(workspace: Workspace, row: int, col: int) -> tuple[float, float]:
    """Return the middle of a cell in pixels of the window, from the visible range."""
    frame = workspace.boxes(".zoomed .nsewdrag")[0]
    (left, right), (bottom, top) = plotted(workspace)["ends"]
    across, down = (col - left) / (right - left), (row - top) / (bottom - top)
    return frame["x"] + frame["width"] * across, frame["y"] + frame["height"] * down


def test_it_zooms_until_numbers_have_room_and_leads_back(workspace: Workspace) -> None:
    found = opened(workspace)
    chart = workspace.find("#view .chart canvas")
    np.testing.assert_array_equal(np.array(found["z"], dtype=float), workspace.charts()[0].values)
    assert found["names"][1][0] == "&lt;bos&gt;", "a name is no markup"
    assert found["shapes"] == 1, "the row of what is lit"
    expect(chart).to_be_hidden()
    workspace.page.keyboard.press("Escape")
    expect(chart).to_be_visible()
    expect(workspace.find(".matrix > .zoom")).to_be_focused()
    expect(workspace.find(".js-plotly-plot .main-svg")).to_have_count(0)
    whole = opened(workspace)["ends"]
    words = workspace.find(".zoomed .heatmap-label")
    expect(words).to_have_count(0)
    for _ in range(3):
        workspace.find(".modebar-btn[data-title='Zoom in']").click()
    words.first.wait_for()
    said = words.first.text_content() or ""
    assert re.fullmatch(r"\d\.\d\d", said)
    closer = plotted(workspace)
    assert all(
        abs(a[1] - a[0]) < abs(b[1] - b[0]) / 4 for a, b in zip(closer["ends"], whole, strict=True)
    )
    workspace.find("#heads label").nth(5).click()
    workspace.settled()
    other = plotted(workspace)
    assert other["ends"] == closer["ends"]
    np.testing.assert_array_equal(np.array(other["z"], dtype=float), workspace.charts()[0].values)
    workspace.find(".modebar-btn[data-title='Show all']").click()
    expect(words).to_have_count(0)


def test_pointing_clicking_and_dragging_in_it_speak_to_the_page(workspace: Workspace) -> None:
    opened(workspace, block="encoder")
    before = workspace.boxes(".zoomed .nsewdrag")
    workspace.page.mouse.move(*cell_at(workspace, 4, 2))
    expect(workspace.find("#source-tokens .chip").nth(4)).to_have_class(re.compile("as-query"))
    expect(workspace.find("#source-tokens .chip").nth(2)).to_have_class(re.compile("as-key"))
    assert workspace.boxes(".zoomed .nsewdrag") == before, "the mark of a cell moves nothing"
    workspace.page.mouse.click(*cell_at(workspace, 4, 2))
    workspace.page.wait_for_url("**query=4&key=2**")
    workspace.page.keyboard.press("Escape")
    opened(workspace, block="encoder")
    mouse = workspace.page.mouse
    mouse.move(*cell_at(workspace, 2, 2))
    mouse.down()
    mouse.move(*cell_at(workspace, 7, 7), steps=4)
    mouse.up()
    workspace.page.wait_for_function(
        """() => {
            const { xaxis, yaxis } = document.querySelector(".js-plotly-plot")._fullLayout;
            return xaxis.range[1] - xaxis.range[0] < 6 && yaxis.range[0] - yaxis.range[1] < 6;
        }"""
    )
    assert "query" not in workspace.link, "a drag picks nothing"
    mouse.click(*cell_at(workspace, 5, 4))
    workspace.page.wait_for_url("**query=5&key=4**")


def test_without_plotly_the_picture_stays(workspace: Workspace, watch: Any) -> None:
    watch.expect("ERR_FAILED|plotly")
    broken: list[Route] = []

    def fail(route: Route) -> None:
        broken.append(route)
        route.abort()

    workspace.page.route("**/plotly.min.js", fail)
    workspace.load(**LONG)
    workspace.find(".matrix > .zoom").click()
    workspace.settled()
    assert broken
    expect(workspace.find("#view .chart canvas")).to_be_visible()
    expect(workspace.find(".zoomed")).to_be_hidden()
    workspace.open(source="The cat sits.", view="attention", block="encoder")
    expect(workspace.find(".matrix > .zoom")).to_be_hidden()
