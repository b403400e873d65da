"""Where one is: the map of the model, the groups of views, and nothing that jumps."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browsing.legible import overflow
from tests.browsing.workspace import Workspace, cell_of

PLACE: dict[str, Any] = {
    "source": "My mother bought a new book yesterday.",
    "view": "attention",
    "block": "encoder",
    "layer": 1,
    "head": 2,
}
GROUPS = {
    "read": ["decoding", "alignment", "lines", "attention"],
    "compute": ["worksheet", "qkv", "space", "positions"],
    "explain": ["heads", "feed-forward", "flow", "inside", "training"],
    "experiment": ["compare", "whatif"],
}
VIEWS = [view for group in GROUPS.values() for view in group]
# The first mark of each picture: of a matrix its first cell.
MARKS = {
    "decoding": ".written li",
    "alignment": "svg",
    "lines": "svg",
    "attention": ".chart",
    "worksheet": ".contents li",
    "qkv": ".chart",
    "space": "svg",
    "positions": ".chart",
    "heads": ".atlas",
    "feed-forward": ".unit-values td",
    "flow": "svg",
    "inside": ".lens tbody td, .of-lens td",
    "training": ".chart-of-steps svg",
    "compare": ".chart",
    "whatif": ".head-map [data-at] rect",
}
FIRST_MARK = """(marks) => {
    const top = (one) => one.getBoundingClientRect().top + (one.picture?.geometry.top ?? 0);
    const all = [...document.querySelectorAll(`#view :is(${marks})`)];
    return Math.min(...all.filter((one) => one.checkVisibility()).map(top));
}"""


def test_the_map_is_the_models_own_table_and_views_stand_in_groups(workspace: Workspace) -> None:
    workspace.open(**PLACE)
    models = workspace.page.request.get(f"{workspace.url}/api/models").json()
    places = [attention["place"] for attention in models[0]["attentions"]]
    cells = workspace.find("#map input")
    assert sorted(cells.evaluate_all("them => them.map((one) => one.value)")) == sorted(places)
    expect(workspace.find("#map :checked")).to_have_value("encoder.1.self")
    tops = {layer: workspace.boxes(cell_of("encoder", layer))[0]["y"] for layer in range(3)}
    assert tops[2] < tops[1] < tops[0], "layer 1 stands at the bottom"
    found = workspace.page.evaluate("""() => Object.fromEntries(
        [...document.querySelectorAll("#views .group")].map((group) => [
            group.querySelector(".purpose").id.replace("views-", ""),
            [...group.querySelectorAll("input")].map((input) => input.value),
        ]))""")
    assert found == GROUPS
    for purpose in workspace.find("#views .purpose").all():
        assert len(purpose.inner_text().split()) > 2, "each says what it is for"
    workspace.open(**PLACE, query=1, key=2)
    workspace.place("encoder", 2)
    assert (workspace.link["layer"], workspace.link["query"]) == ("2", "1")
    workspace.place("cross", 0)
    assert "query" not in workspace.link, "a pin is of its tokens"
    assert (workspace.link["block"], workspace.link["layer"]) == ("cross", "0")
    assert workspace.link["head"] == "2"
    expect(workspace.find(".labels.cols .label").first).to_have_text("<2zh>")
    workspace.find("#map :checked").focus()
    workspace.page.keyboard.press("ArrowUp")
    assert workspace.link["block"] == "decoder"


def test_nothing_jumps_from_view_to_view_and_each_says_what_it_shows(workspace: Workspace) -> None:
    workspace.page.set_viewport_size({"width": 1280, "height": 720})
    workspace.open(**PLACE | {"block": "cross"})
    (band,) = workspace.boxes(".band")
    assert band["height"] <= 120
    tops, low, said = set(), {}, []
    for view in VIEWS:
        workspace.view(view)
        workspace.settled()
        workspace.drawn()
        tops.add(tuple(workspace.boxes(one)[0]["y"] for one in ("#views", ".saying", "#view")))
        first = workspace.page.evaluate(FIRST_MARK, MARKS[view])
        if not first <= 305:
            low[view] = first
        expect(workspace.find("#caption")).to_be_visible()
        expect(workspace.find("#view .finding:visible")).to_have_count(0)
        said.append(workspace.find("#caption").inner_text())
    assert len(tops) == 1, tops
    assert low == {}
    assert all(said)
    rows = re.compile(r"Layer 2, head 3: while writing")
    again = [text for text in said if said.count(text) > 1 and not rows.match(text)]
    assert not again, "of the view before"


LIT = "#map .lit, #map .added"


LIGHTS: list[tuple[str, dict[str, Any], list[str]]] = [
    ("attention", {}, []),
    ("decoding", {"block": "cross"}, ["map-part outputs lit"]),
    ("positions", {}, ["map-part inputs lit"]),
    ("feed-forward", {}, ["network lit"]),
    ("flow", {}, ["stack lit"]),
    ("flow", {"block": "cross"}, ["stack lit", "stack lit"]),
    ("inside", {"block": "cross"}, ["map-part outputs lit", "stack lit"]),
    ("compare", {"other": "layer", "layer_b": 2}, ["cell present lit"]),
    ("worksheet", {"step": "score"}, []),
    ("worksheet", {"step": "hidden"}, ["network lit"]),
    ("worksheet", {"step": "norm"}, ["cells added"]),
]


def test_the_map_lights_what_a_view_shows(workspace: Workspace) -> None:
    for view, more, parts in LIGHTS:
        workspace.open(**PLACE | {"view": view} | more)
        assert workspace.find(LIT).evaluate_all("all => all.map((one) => one.className)") == parts


def test_options_open_over_the_picture_and_the_inspector_comes_with_a_cell(
    workspace: Workspace,
) -> None:
    workspace.open(**PLACE)
    (before,) = workspace.boxes("#view .matrix")
    expect(workspace.find("#view .options")).to_be_hidden()
    workspace.find("#options").click()
    expect(workspace.find("#view .options")).to_be_visible()
    workspace.find("#view .options").get_by_text("hide", exact=True).click()
    expect(workspace.find("#options")).to_have_text("Options (1)")
    workspace.page.keyboard.press("Escape")
    expect(workspace.find("#view .options")).to_be_hidden()
    expect(workspace.find("#options")).to_be_focused()
    assert workspace.boxes("#view .matrix")[0]["y"] == before["y"]
    workspace.open(**PLACE)
    expect(workspace.find("#pair-title")).to_be_hidden()
    expect(workspace.find("#inspector .hint")).to_be_visible()
    (place,) = workspace.boxes("#view .matrix")
    workspace.page.mouse.click(*workspace.cell(1, 2))
    expect(workspace.find("#pair-title")).to_be_visible()
    assert workspace.boxes("#view .matrix") == [place], "nothing moves under the pointer"


@pytest.mark.parametrize("view", ["attention", "alignment", "inside"])
def test_a_link_opens_a_phone_at_its_top(workspace: Workspace, view: str) -> None:
    workspace.page.set_viewport_size({"width": 390, "height": 600})
    workspace.load(
        **PLACE | {"block": "cross", "source": "The cat sat on the mat.", "view": view, "query": 7}
    )
    workspace.settled()
    assert workspace.page.evaluate("scrollY") == 0
    expect(workspace.find("#band-open")).to_be_in_viewport()


def test_a_phone_shows_the_picture_of_every_view_first(workspace: Workspace) -> None:
    workspace.page.set_viewport_size({"width": 844, "height": 390})
    workspace.open(**PLACE | {"block": "cross"})
    bar = workspace.boxes(".thumbbar")[0]["y"]
    for view in VIEWS:
        workspace.view(view)
        workspace.drawn()
        (top,) = (box["y"] for box in workspace.boxes("#view"))
        assert top < bar * 0.75, (view, top)
        assert not overflow(workspace.page, 844)
    expect(workspace.find("#source-tokens")).to_be_hidden()
    workspace.find("#band-open").click()
    expect(workspace.find("#source")).to_be_focused()
    expect(workspace.find("#source-tokens")).to_be_visible()
    workspace.page.keyboard.press("Enter")
    expect(workspace.find("#source-tokens")).to_be_hidden()
