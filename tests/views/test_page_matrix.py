"""A matrix is always legible: its labels, how it fills its panel, and scrolling on a phone."""

from typing import Any

from playwright.sync_api import expect

from tests.browsing.workspace import Workspace

LONG = "The animal didn't cross the street because it was too tired."
OTHER = "The animal didn't cross the street because it was too wide."
LONGER = (
    "The old man who lived next door told my sister that he would never forget the day when the "
    "two of them had met in the small shop near the river, and she laughed."
)
# The visible labels of a side, as text.
SEEN = """([panel, side]) => [...document.querySelectorAll(`${panel} .labels.${side} .label`)]
    .filter((label) => label.checkVisibility({ visibilityProperty: true }))
    .map((label) => label.textContent)"""
# Visible row labels that overlap the previous one, and by how many pixels.
OVERLAPS = """() => {
    const labels = [...document.querySelectorAll("#view .labels.rows .label")]
        .filter((label) => label.checkVisibility({ visibilityProperty: true }))
        .map((label) => label.getBoundingClientRect()).sort((a, b) => a.top - b.top);
    return labels.slice(1).map((box, i) => labels[i].bottom - box.top).filter((by) => by > 2);
}"""
GEOMETRY = "() => document.querySelector('#view .chart').picture.geometry"


def test_the_lit_label_is_never_dropped_and_lies_on_no_other(workspace: Workspace) -> None:
    for row in [5, 33]:
        workspace.page.set_viewport_size({"width": 1024, "height": 640})
        workspace.open(source=LONGER, block="encoder", layer=0, head=0, query=row, key=row - 2)
        for side in ("rows", "cols"):
            expect(workspace.find(f"#view .labels.{side} .lit")).to_be_visible()
        assert workspace.page.evaluate(OVERLAPS) == []
        workspace.page.mouse.move(*workspace.cell(row - 4, 3))
        expect(workspace.find("#view .labels.rows .lit")).to_be_visible()
        assert workspace.page.evaluate(OVERLAPS) == []


def test_the_maps_of_compare_fill_their_panels_and_name_what_is_lit(workspace: Workspace) -> None:
    """Three maps in a row share their row labels, and have equal cells."""
    workspace.page.set_viewport_size({"width": 1440, "height": 900})
    workspace.open(source=LONG, view="compare", b=OTHER, block="cross", layer=1, head=2)
    cells = set()
    for panel in ("a", "b", "delta"):
        map_of = f"document.querySelector('.trio-{panel} .chart').picture.geometry"
        geometry: dict[str, Any] = workspace.page.evaluate(map_of)
        cells.add((geometry["cellWidth"], geometry["cellHeight"], geometry["top"]))
        room = workspace.boxes(f".trio-{panel}")[0]["width"] - geometry["left"]
        assert geometry["cols"] * geometry["cellWidth"] >= 0.85 * room, panel
    assert len(cells) == 1
    for panel in ("a", "b", "delta"):
        seen = workspace.page.evaluate(SEEN, [f".trio-{panel}", "cols"])
        assert {"·tiredᴬ", "·wideᴮ", "<2zh>", "<eos>"} <= set(seen), panel
    for col in range(0, geometry["cols"], 3):
        workspace.page.mouse.move(*workspace.cell(3, col, of=".trio-a"))
        for panel in ("a", "b", "delta"):
            expect(workspace.find(f".trio-{panel} .labels.cols .lit")).to_be_visible()
        expect(workspace.find(".trio-a .labels.rows .lit")).to_be_visible()


def test_the_opening_fills_its_panel(workspace: Workspace) -> None:
    workspace.load()
    panel, matrix = workspace.boxes("#view")[0], workspace.boxes("#view .matrix")[0]
    assert matrix["width"] >= 0.9 * panel["width"]


def test_on_a_phone_it_scrolls_at_a_size_that_reads(workspace: Workspace) -> None:
    for view in ("attention",):
        workspace.page.set_viewport_size({"width": 320, "height": 640})
        workspace.open(source=LONGER, view=view, block="encoder", layer=0, head=0, query=20, key=30)
        geometry: dict[str, Any] = workspace.page.evaluate(GEOMETRY)
        assert min(geometry["cellWidth"], geometry["cellHeight"]) >= 18
        box = workspace.boxes("#view")[0]
        assert box["x"] + box["width"] <= 320
        panned = workspace.find("#view .panned").first
        assert panned.evaluate("(element) => element.scrollLeft") > 0, "the pinned cell is in sight"
        names = workspace.find("#view .labels.rows .lit").first.bounding_box()
        assert names
        assert 0 <= names["x"] < 100, "the names of rows stay"
