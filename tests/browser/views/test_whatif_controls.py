"""The controls of what-if: each works as labelled, in both languages, and fits a phone."""

import json
import re
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import Page, expect

from tests.browser.legible import overflow
from tests.browser.printed import read
from tests.browser.views.machine import OFF, PLACE, START, said, trace
from tests.browser.workspace import Workspace

ROWS = """() => [...document.querySelectorAll(".token-changes tbody tr")].map((row) =>
    [...row.querySelectorAll("td.number")].map((cell) => cell.textContent.replace("−", "-")))"""
BOTH = """() => document.documentElement?.dataset.status === "ready"
    && document.querySelector(".whatif-main[aria-busy=false]")"""


def weights(document: dict[str, Any], head: int = 2) -> NDArray[Any]:
    return np.array(document["tensors"][f"{PLACE}.weights"]["data"][head])


def chips(workspace: Workspace) -> list[str]:
    return workspace.find(".change-chip > span").all_inner_texts()


def probabilities(page: Page, count: int) -> NDArray[Any]:
    """Return the table's numbers of each token: before, after, change."""
    expect(page.locator(".token-changes tbody tr")).to_have_count(count)
    page.wait_for_function(BOTH)
    return np.array([[read(cell) for cell in row[:3]] for row in page.evaluate(ROWS)])


def figures(workspace: Workspace) -> list[NDArray[Any]]:
    """Return attention before, after, and the difference, as drawn."""
    expect(workspace.find(".trio .chart[data-drawn]")).to_have_count(3)
    workspace.page.wait_for_function(BOTH)
    workspace.page.wait_for_timeout(300)
    return [chart.values for chart in workspace.charts(".trio")]


def effects(url: str, *made: object) -> tuple[dict[str, Any], NDArray[Any]]:
    """Return the unchanged run, and its tokens' probabilities before and after, from the API."""
    before = trace(url)
    after = trace(url, target=before["output"]["text"], interventions=list(made))
    both = np.exp([before["output"]["logprobs"], after["output"]["logprobs"]])
    return before, np.stack([*both, both[1] - both[0]], axis=1)


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


def test_the_same_in_chinese(workspace: Workspace) -> None:
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


@pytest.mark.parametrize("width", [390, 320])
@pytest.mark.parametrize("effect", ["heads", "tokens", "attention", "runs"])
def test_it_fits_a_phone(workspace: Workspace, width: int, effect: str) -> None:
    workspace.page.set_viewport_size({"width": width, "height": 800})
    workspace.open(**START | {"effect": effect}, interventions=json.dumps([OFF]))
    workspace.settled()
    assert not overflow(workspace.page, width)
    expect(workspace.find(".change-panel")).to_be_visible()
