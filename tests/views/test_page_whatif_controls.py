"""The controls of what-if: each works as labelled, in both languages, and fits a phone."""

import json
import re
from typing import Any

import numpy as np
from playwright.sync_api import expect

from tests.browsing.legible import overflow
from tests.browsing.workspace import Workspace
from tests.views.changes_by_api import (
    BOTH,
    OFF,
    PLACE,
    START,
    chips,
    effects,
    probabilities,
    said,
    trace,
)


def test_every_control_makes_what_it_says(workspace: Workspace) -> None:
    workspace.open(**START, query=1, key=4)
    panel = workspace.find(".change-panel")
    head, sublayer, cell, sentence = (panel.locator("section").nth(n) for n in range(4))

    def made() -> Any:
        workspace.page.wait_for_function(BOTH)
        return said(workspace)[-1]

    for name, do in (("uniform", "uniform"), ("mean", "mean")):
        head.get_by_text(name, exact=True).click()
        assert made() == OFF | {"do": do}
    head.get_by_text("borrowed", exact=True).click()
    assert made()["do"] == {"freeze": {"source": "My father bought a new book yesterday."}}
    other = head.get_by_label("The sentence to borrow from")
    other.fill("The dog sleeps.")
    other.press("Enter")
    assert made() == OFF | {"do": {"freeze": {"source": "The dog sleeps."}}}
    assert "The dog sleeps." in chips(workspace)[0]
    head.get_by_label("all heads of this layer").check()
    head.get_by_text("off", exact=True).click()
    assert made() == {"at": PLACE, "do": "zero"}
    head.get_by_label("all heads of this layer").uncheck()
    heat = head.get_by_role("slider", name="Temperature of the softmax")
    heat.focus()
    heat.press("ArrowRight")
    heat.press("ArrowRight")
    heat.press("ArrowRight")
    workspace.page.wait_for_function("() => location.search.includes('%3A2%7D')")
    assert made() == OFF | {"do": {"temperature": 2}}
    cell.get_by_text("Cut this edge").click()
    assert made() == OFF | {"do": {"cut": [1, 4]}}
    sentence.get_by_text("dropped", exact=True).click()
    assert made() == {"at": "source.position", "do": "drop"}
    sentence.get_by_text("shuffled", exact=True).click()
    sentence.get_by_text("shuffle again").click()
    assert made() == {"at": "source.position", "do": {"shuffle": 2}}
    sentence.get_by_label("drop the positions of the output").check()
    assert made() == {"at": "target.position", "do": "drop"}
    sublayer.locator("select").select_option("decoder.2.ffn")
    sublayer.get_by_label("residual connection dropped").check()
    assert made() == {"at": "decoder.2.ffn.residual", "do": "drop"}
    before, expected = effects(workspace.url, *said(workspace))
    table = probabilities(workspace.page, len(before["output"]["tokens"]))
    np.testing.assert_allclose(table, expected, atol=0.00501)
    workspace.find("#changes").get_by_text("Undo all").click()
    expect(workspace.find("#changes")).to_be_hidden()


def matches(workspace: Workspace) -> None:
    """The page's numbers are the API's for what is in the address."""
    before, expected = effects(workspace.url, *said(workspace))
    table = probabilities(workspace.page, len(before["output"]["tokens"]))
    np.testing.assert_allclose(table, expected, atol=0.00501)


def test_a_change_is_restricted_to_rows(workspace: Workspace) -> None:
    workspace.open(**START, query=1)
    head = workspace.find(".of-head")
    tokens = head.locator(".row-tokens .chip")
    head.get_by_text("off", exact=True).click()
    head.get_by_label("only at some tokens").check()
    assert said(workspace) == [OFF | {"rows": [1]}]
    tokens.nth(3).click()
    assert said(workspace) == [OFF | {"rows": [1, 3]}]
    assert "only at 2 tokens" in chips(workspace)[0]
    matches(workspace)
    expect(head.get_by_text("borrowed")).to_have_count(0)
    heat = head.get_by_label("Temperature of the softmax").last
    heat.fill("4")
    heat.press("Enter")
    assert said(workspace)[1] == OFF | {"rows": [1, 3], "do": {"temperature": 4}}
    tokens.nth(1).focus()
    tokens.nth(1).press("Enter")  # both changes follow
    assert [one["rows"] for one in said(workspace)] == [[3], [3]]
    workspace.page.go_back()
    assert [one["rows"] for one in said(workspace)] == [[1, 3], [1, 3]]
    workspace.page.go_forward()
    tokens.nth(3).click()  # the last one
    assert said(workspace) == [OFF, OFF | {"do": {"temperature": 4}}]
    expect(tokens.first).to_be_hidden()
    workspace.find("#changes").get_by_text("Undo all").click()

    part = workspace.find(".of-sublayer")
    part.locator("select").select_option("encoder.1.ffn")
    part.get_by_label("only at some tokens").check()
    part.locator(".row-tokens .chip").nth(2).click()
    part.get_by_label("switched off: adds nothing").check()
    part.get_by_text("zero", exact=True).click()
    rows = [1, 2]
    assert said(workspace) == [
        {"at": "encoder.1.ffn.output", "rows": rows, "do": "zero"},
        {"at": "encoder.1.ffn.hidden", "rows": rows, "units": [0], "do": "zero"},
    ]
    matches(workspace)
    assert not overflow(workspace.page, workspace.page.viewport_size["width"])  # type: ignore[index]
    # A borrowed pattern stays that of all rows.
    freeze = OFF | {"do": {"freeze": {"source": "The dog sleeps."}}}
    warm = OFF | {"do": {"temperature": 2}}
    workspace.open(**START, query=1, interventions=json.dumps([freeze, warm]))
    workspace.find(".of-head").get_by_label("only at some tokens").check()
    assert said(workspace) == [freeze, warm | {"rows": [1]}]
    matches(workspace)


def test_edges_are_cut_as_one_change(workspace: Workspace) -> None:
    workspace.open(**START, query=1, key=4)
    cell = workspace.find(".of-cell")
    together = cell.get_by_label("one change with the other cuts")
    cut, restore = cell.get_by_text("Cut this edge"), cell.get_by_text("Restore")
    expect(together).to_be_hidden()
    cut.click()
    together.check()
    cell.get_by_label("key", exact=True).last.select_option("2")
    cut.click()
    assert said(workspace) == [OFF | {"do": {"cut": [[1, 4], [1, 2]]}}]
    expect(cut).to_have_attribute("aria-pressed", "true")
    expect(workspace.find(".change-chip")).to_contain_text("2 edges cut")
    matches(workspace)
    cell.get_by_label("key", exact=True).last.select_option("4")
    expect(cut).to_have_attribute("aria-pressed", "true")
    restore.click()
    assert said(workspace) == [OFF | {"do": {"cut": [1, 2]}}]
    expect(cut).to_have_attribute("aria-pressed", "false")
    cell.get_by_text("Cut all edges to this key").click()
    written = len(trace(workspace.url)["output"]["tokens"])
    column = [[query, 4] for query in range(written)]
    assert said(workspace)[1] == OFF | {"do": {"cut": column}}
    workspace.page.wait_for_function(BOTH)
    matches(workspace)
    cut.click()  # pressed: given back
    assert said(workspace)[1] == OFF | {"do": {"cut": [edge for edge in column if edge[0] != 1]}}


def test_it_fits_a_phone_in_chinese(workspace: Workspace) -> None:
    for effect in ["heads", "attention", "runs"]:
        workspace.open(**START | {"effect": effect}, interventions=json.dumps([OFF]))
        for width in (390, 320):
            workspace.page.set_viewport_size({"width": width, "height": 800})
            workspace.settled()
            assert not overflow(workspace.page, width)
            expect(workspace.find(".change-panel")).to_be_visible()
    # The same in chinese.
    workspace.open(**START, lang="zh")
    workspace.find(".change-panel").get_by_text("关闭", exact=True).click()
    switched = re.compile("交叉注意力，第 2 层，第 3 个头：关闭")
    expect(workspace.find(".change-chip")).to_have_text(switched)
    _, expected = effects(workspace.url, OFF)
    np.testing.assert_allclose(probabilities(workspace.page, len(expected)), expected, atol=0.00501)
    workspace.find(".mask-tokens .chip").nth(2).click()
    expect(workspace.find(".change-chip").last).to_have_text(re.compile("遮蔽 mother"))
    workspace.find("#changes").get_by_text("全部撤销").click()
    expect(workspace.find("#changes")).to_be_hidden()
