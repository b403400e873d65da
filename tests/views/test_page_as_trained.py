"""The changed model and the model as trained: every view shows either, and says which."""

import json
import re

import numpy as np
from playwright.sync_api import expect

from tests.browsing import api
from tests.browsing.api import client
from tests.browsing.workspace import Workspace
from tests.workspace.test_page_requests import posts

OFF = {"at": "decoder.1.cross", "head": 2, "do": "zero"}
START = {
    "source": "The dog is tired, so it sleeps.",
    "block": "cross",
    "layer": 1,
    "head": 2,
    "interventions": [OFF],
}
# Views that show both at once, one at a time, and that need no switch.
BOTH = ("attention", "lines", "alignment", "heads", "space", "flow", "inside")
ONE = ("decoding", "qkv", "worksheet", "positions", "compare")
NEITHER = ("whatif", "training")
SPEAKS = re.compile("no token to look at|looks at no source word|Nothing changes: A and B are")


def flip(workspace: Workspace, name: str) -> None:
    workspace.find("#changes .which-run label").filter(has_text=name).click()


def share(workspace: Workspace) -> str:
    """Share the current state; return the share's id."""
    return workspace.share().rpartition("/")[2]


def without_model(workspace: Workspace) -> None:
    """Make the share's model one that is no longer served."""
    models = client.get(f"{workspace.url}/api/models").json()
    others = [{**model, "digest": "another"} for model in models]
    workspace.page.route("**/api/models", lambda route: route.fulfill(json=others))
    for path in ("**/api/trace", "**/api/sweep", "**/api/decode", "**/parameters*"):
        workspace.page.route(path, lambda route: route.abort())


def test_every_view_shows_either_run_at_once(workspace: Workspace) -> None:
    plain = api.trace(workspace.url, source=START["source"])["output"]["text"]
    asked = posts(workspace)
    for view in (*BOTH, *ONE):
        workspace.open(**START | {"head": 3}, view=view)
        workspace.settled()
        says = workspace.find(".shown-as")
        expect(says).to_have_text("Changed")
        expect(workspace.find(".runs.pair")).to_have_count(1 if view in BOTH else 0)
        place, changed = workspace.boxes("#view")[0], workspace.find("#output").inner_text()
        assert not SPEAKS.search(workspace.find(".saying").inner_text())
        asked.clear()
        flip(workspace, "As trained")
        expect(says).to_have_text("As trained")
        assert workspace.link["as"] == "trained"
        workspace.settled()
        assert len(asked) == int(view == "decoding"), (view, asked)  # requested step by step
        assert workspace.boxes("#view")[0]["y"] == place["y"], f"{view} jumps"
        assert workspace.find("#output").inner_text() == plain
        flip(workspace, "Changed")
        expect(says).to_have_text("Changed")
        expect(workspace.find("#output")).to_have_text(changed)
    for view in NEITHER:
        workspace.open(**START, view=view)
        expect(workspace.find(".change-chip")).to_be_visible()
        expect(workspace.find(".which-run")).to_be_hidden()
        says = workspace.find(".shown-as:visible")
        expect(says).to_have_text(["Without the changes"] if view == "training" else [])


def test_a_head_that_is_off_shows_what_is_gone(workspace: Workspace) -> None:
    place = {"block": "encoder", "layer": 1, "head": 2, "query": 3}
    workspace.open(source="The dog is tired, so it sleeps.", **place)
    trained = workspace.charts()[0].values
    asked = posts(workspace)
    workspace.find("#switch-head").click()
    expect(workspace.find("#caption")).to_contain_text("this head is off; it contributes nothing")
    workspace.settled()
    (chart,) = workspace.charts()
    np.testing.assert_allclose(chart.values, trained)
    # The largest weight of the row in both runs, as a number.
    expect(workspace.find("#caption")).to_contain_text(
        re.compile(r"takes? its weight on .+ from 0\.\d\d to 0\b")
    )
    workspace.find("#switch-head").click()
    expect(workspace.find(".runs.removed")).to_have_count(0)
    assert len(asked) <= 2, "the run as trained is there, and its alignment is asked for once"
    assert "as" not in workspace.link


def test_a_link_to_a_head_that_is_off_lights_the_same_row_everywhere(workspace: Workspace) -> None:
    off = {"at": "encoder.1.self", "head": 2, "do": "zero"}
    place = {"block": "encoder", "layer": 1, "head": 2, "interventions": [off]}
    workspace.open(source="The dog is tired, so it sleeps.", **place, view="attention")
    workspace.settled()
    expect(workspace.find(".runs.removed")).to_have_count(1)
    (lit,) = [
        number
        for number, chip in enumerate(workspace.find("#source-tokens .chip").all())
        if "as-query" in (chip.get_attribute("class") or "").split()
    ]
    (row,) = workspace.boxes("#view .mark.row")
    assert row["y"] < workspace.cell(lit, 1)[1] < row["y"] + row["height"]


def test_a_narrow_page_shows_one_at_a_time_and_a_wide_one_both(workspace: Workspace) -> None:
    workspace.page.set_viewport_size({"width": 390, "height": 844})
    workspace.open(**START | {"head": 3}, view="attention")
    workspace.settled()
    expect(workspace.find(".twin")).to_have_count(0)
    flip(workspace, "As trained")
    expect(workspace.find(".shown-as")).to_have_text("As trained")
    assert workspace.charts()[0].values.any()
    page = workspace.page
    page.set_viewport_size({"width": 1600, "height": 720})
    expect(workspace.find(".twin")).to_have_count(1)
    flip(workspace, "Changed")
    assert len(workspace.boxes(".run")) == 2, "beside the inspector"
    page.mouse.click(*workspace.cell(1, 2, of=".run[data-as=trained]"))
    expect(workspace.find("#pair-title")).to_be_visible()
    assert len(workspace.boxes(".run")) == 2, "the inspector stays where it is"
    page.keyboard.press("Escape")
    workspace.view("training")
    workspace.settled()
    workspace.view("lines")
    workspace.settled()
    expect(workspace.find(".twin .training")).to_have_count(0)
    expect(workspace.find(".twin .weave")).to_have_count(1)
    # A projector shows both.
    page.set_viewport_size({"width": 1920, "height": 1080})
    workspace.open(**START | {"head": 3}, view="attention", projector=1)
    workspace.settled()
    expect(workspace.find(".runs.pair")).to_have_count(1)
    for chart in workspace.find(".run .matrix").all():
        expect(chart).to_be_in_viewport(ratio=0.9)


def test_typing_asks_once_for_each_run(workspace: Workspace) -> None:
    workspace.open(**START, view="attention")
    workspace.settled()
    asked = posts(workspace)
    workspace.find("#source").fill("A dog sleeps.")
    workspace.find("#source").press("Enter")
    workspace.says("A dog sleeps.")
    workspace.settled()
    assert [("interventions" in json.loads(body)) for body in asked] == [True, False]


def test_a_share_and_an_embed_hold_both_runs(workspace: Workspace) -> None:
    workspace.page.set_viewport_size({"width": 1600, "height": 900})
    workspace.open(**START | {"head": 3}, view="attention")
    workspace.settled()
    values = [one.values for one in workspace.charts(".runs")]
    made = share(workspace)
    without_model(workspace)
    workspace.page.goto(f"{workspace.url}/s/{made}")
    workspace.drawn()
    expect(workspace.find(".twin .chart[data-drawn]")).to_be_visible()
    for one, seen in zip(workspace.charts(".runs"), values, strict=True):
        np.testing.assert_allclose(one.values, seen, atol=1e-6)
    flip(workspace, "As trained")
    expect(workspace.find(".shown-as")).to_have_text("As trained")
    workspace.page.reload()
    workspace.drawn()
    expect(workspace.find(".shown-as")).to_have_text("As trained")
    expect(workspace.find("#departed")).to_be_hidden()
    workspace.page.unroute_all()
    workspace.open(**START, view="lines", **{"as": "trained"})
    embedded = share(workspace)
    workspace.page.set_viewport_size({"width": 500, "height": 700})
    workspace.page.goto(f"{workspace.url}/embed/{embedded}")
    workspace.drawn()
    expect(workspace.find(".shown-as")).to_have_text("As trained")
    flip(workspace, "Changed")
    expect(workspace.find(".shown-as")).to_have_text("Changed")
    expect(workspace.find(".weave [data-strand]")).to_have_count(0)


def test_files_say_which_run_they_are_of(workspace: Workspace) -> None:
    workspace.open(**START, view="qkv")
    workspace.settled()
    names, values = [], []
    for run in ("Changed", "As trained"):
        flip(workspace, run)
        expect(workspace.find(".shown-as")).to_have_text(run)
        workspace.find("#export").click()
        with workspace.page.expect_download() as download:
            workspace.find("#export-panel").get_by_text("JSON", exact=True).click()
        names.append(download.value.suggested_filename)
        values.append(json.loads(download.value.path().read_text()))
    assert [name.rpartition("head-3-")[2] for name in names] == ["changed.json", "as-trained.json"]
    assert values[0]["id"] != values[1]["id"]
    workspace.open(**START, view="lines")
    workspace.settled()
    expect(workspace.find(".runs.pair")).to_have_count(1)
    workspace.find("#export").click()
    with workspace.page.expect_download() as picture:
        workspace.find("#export-panel").get_by_text("SVG", exact=True).click()
    svg = picture.value.path().read_text()
    assert [svg.count(f">{title}<") for title in ("As trained", "Changed")] == [1, 1]
    assert svg.count("Changed model: ") == 1
