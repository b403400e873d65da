"""What a change did, in one sentence, in every view at the same place; nothing else moves."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browsing import api
from tests.browsing.workspace import Workspace

SOURCE = "My mother bought a new book yesterday."
NEEDED = {"at": "decoder.0.cross", "head": 4, "do": "zero"}
PLACE = {"source": SOURCE, "block": "cross", "layer": 2, "head": 0, "query": 3, "key": 2}


# The weight of a cell that a change takes away: a line of the calculation comes or goes.
STRONG = {"source": SOURCE, "block": "cross", "layer": 0, "head": 4, "query": 6, "key": 2}
UNDER = "([x, y]) => document.elementFromPoint(x, y).closest('button')?.id"


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("size", [(1440, 900), (960, 700), (390, 844)])
def test_the_pressed_button_stays_under_the_pointer(
    workspace: Workspace, size: tuple[int, int], lang: str
) -> None:
    page = workspace.page
    page.set_viewport_size({"width": size[0], "height": size[1]})
    for part in ["head", "edge", "token"]:
        workspace.load(**STRONG, view="attention", lang=lang)
        workspace.settled()
        if workspace.find("#pair-open").is_visible():
            workspace.find("#pair-open").click()
        button = workspace.find(f"#switch-{part}")
        button.scroll_into_view_if_needed()
        (box,) = workspace.boxes(f"#switch-{part}")
        point = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        for pressed in ["true", "false"]:
            page.mouse.click(*point)
            expect(button).to_have_attribute("aria-pressed", pressed)
            workspace.settled()
            assert page.evaluate(UNDER, point) == f"switch-{part}", pressed
            (after,) = workspace.boxes(f"#switch-{part}")
            assert abs(after["x"] - box["x"]) < 1, pressed


def test_the_sentence_is_the_same_in_every_view_and_place(workspace: Workspace) -> None:
    trained, changed = (
        api.trace(workspace.url, source=SOURCE, **more)["output"]["text"]
        for more in ({}, {"interventions": [NEEDED]})
    )
    assert trained != changed
    said = []
    for view in ("attention", "whatif", "decoding", "training"):
        workspace.open(**PLACE, view=view, interventions=[NEEDED])
        workspace.settled()
        sentence = workspace.find(".change-effect")
        expect(sentence).to_contain_text("The translation changes from step")
        (box,) = workspace.boxes(".change-effect")
        said.append((sentence.inner_text(), box["x"], box["y"]))
    assert len(set(said)) == 1, said
    assert "mother" in said[0][0]


def test_a_head_that_is_off_is_one_figure_of_what_is_gone(workspace: Workspace) -> None:
    workspace.open(**PLACE, view="attention")
    trained = workspace.charts()[0].values
    workspace.find("#switch-head").click()
    expect(workspace.find(".runs.removed h3")).to_contain_text("Removed by the change")
    workspace.settled()
    (chart,) = workspace.charts()
    assert (chart.values == trained).all()
    # A cell of it is pinned, and the changed run stays.
    workspace.page.mouse.click(*workspace.cell(1, 1))
    expect(workspace.find(".runs.removed h3")).to_contain_text("Removed by the change")
    assert "as" not in workspace.link
    expect(workspace.find(".change-effect")).to_contain_text("stays the same; it became")


def test_the_head_that_matters_most_is_found_on_request(workspace: Workspace) -> None:
    workspace.open(**PLACE, view="attention", interventions=[NEEDED])
    workspace.find(".head-search button").click()
    expect(workspace.find(".head-search")).to_contain_text("matters most")
    workspace.find(".head-search button").click()
    assert (workspace.link["layer"], workspace.link["head"]) == ("0", "4")


@pytest.mark.parametrize(
    ("source", "at", "head"),
    [(SOURCE, "decoder.0.cross", 4), ("我妈妈昨天买了一本新书。", "decoder.2.cross", 5)],
)
def test_the_head_of_the_tour_is_needed(
    workspace: Workspace, source: str, at: str, head: int
) -> None:
    trained = api.trace(workspace.url, source=source)["output"]
    off = {"at": at, "head": head, "do": "zero"}
    without = api.trace(workspace.url, source=source, target=trained["text"], interventions=[off])[
        "output"
    ]
    assert sum(without["logprobs"]) < sum(trained["logprobs"]) - 0.5
    workspace.load(source=source, tour=4, view="attention")
    workspace.find("#tour .turns button").last.click()
    workspace.settled()
    assert re.sub(r"\D", "", at) == workspace.link["layer"]
    assert str(head) == workspace.link["head"]


def with_stand_ins(url: str) -> tuple[int, int, list[int]]:
    """Return a layer, a head of its cross-attention that hardly matters, and up to three like it.

    Heads are alike if they share 0.7 of their weight; no other head is near this bound.
    """
    before = api.trace(url, source=SOURCE)["output"]
    for layer in (2, 1, 0):
        (weights,) = api.tensors(url, f"decoder.{layer}.cross.weights", source=SOURCE).values()
        for head, own in enumerate(weights):
            shared = np.minimum(weights, own).sum(axis=-1).mean(axis=-1)
            alike = [int(other) for other in np.flatnonzero(shared >= 0.7) if other != head]
            if not 1 <= len(alike) <= 3 or (np.abs(shared - 0.7) < 0.01).any():
                continue
            off = {"at": f"decoder.{layer}.cross", "head": head, "do": "zero"}
            after = api.trace(url, source=SOURCE, interventions=[off])["output"]
            change = sum(after["logprobs"]) - sum(before["logprobs"])
            if after["text"] == before["text"] and abs(change) < 0.2:
                return layer, head, alike
    pytest.skip("no head of this model has others like it")


def test_heads_that_may_stand_in_for_one_that_is_off_are_named(workspace: Workspace) -> None:
    layer, head, alike = with_stand_ins(workspace.url)
    off = {"at": f"decoder.{layer}.cross", "head": head, "do": "zero"}
    workspace.load(
        source=SOURCE, view="attention", block="cross", layer=layer, head=head, interventions=[off]
    )
    said = workspace.find(".change-effect")
    expect(said).to_contain_text(re.compile(f"layer {layer + 1}, heads? "))
    (heads,) = re.findall(rf"layer {layer + 1}, heads? ([^.]*)\.", said.inner_text())
    assert sorted(map(int, re.findall(r"\d+", heads))) == [other + 1 for other in alike]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_what_if_says_in_the_same_words_how_likely_it_became(
    workspace: Workspace, lang: str
) -> None:
    off = {"at": "decoder.2.cross", "head": 0, "do": "zero"}
    workspace.load(**PLACE, view="whatif", lang=lang, interventions=[off])
    workspace.settled()
    likely = workspace.find(".change-effect > b").inner_text()
    assert re.search(r"\d\.\d\d", likely), likely
    assert workspace.find(".caption b").inner_text() == likely
