"""Two runs side by side: both and their difference, from the API's weights."""

import re
from difflib import SequenceMatcher
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import expect

from tests.browsing import api
from tests.browsing.legible import overflow
from tests.browsing.watch import Watch
from tests.browsing.workspace import Chart, Workspace

A = "My mother bought a new book yesterday."
B = "My brother bought a red book yesterday."
START: dict[str, Any] = {"source": A, "view": "compare", "block": "cross", "layer": 1, "head": 2}

Matrix = NDArray[Any]


def run(url: str, place: str, head: int, **request: object) -> tuple[dict[str, Any], Matrix]:
    """Return the API's document and one head's weights."""
    reply = api.trace(url, f"{place}.weights", **request)
    return reply, api.arrays(reply)[f"{place}.weights"][head]


def figures(workspace: Workspace) -> list[Chart]:
    """Return the charts of A, B and the difference."""
    workspace.drawn()
    expect(workspace.find(".trio .chart[data-drawn]")).to_have_count(3)
    workspace.settled()
    return workspace.charts(".trio")


def partners(a: list[dict[str, Any]], b: list[dict[str, Any]]) -> list[tuple[int, int]]:
    """Return the positions of common tokens, by Python's `difflib`."""
    one, other = ([token["text"].strip() for token in tokens] for tokens in (a, b))
    blocks = SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks()
    return [(block.a + i, block.b + i) for block in blocks for i in range(block.size)]


def shown_of(matrix: Matrix) -> Matrix:
    """Return only the rows and columns that have a number."""
    kept = ~np.isnan(matrix)
    return matrix[np.ix_(kept.any(axis=1), kept.any(axis=0))]


def test_a_word_changed(workspace: Workspace) -> None:
    workspace.open(**START, b=B)
    (a, a_range), (b, b_range), (delta, range_) = figures(workspace)
    one, first = run(workspace.url, "decoder.1.cross", 2, source=A)
    two, second = run(workspace.url, "decoder.1.cross", 2, source=B)
    np.testing.assert_allclose(shown_of(a), first, atol=1e-5)
    np.testing.assert_allclose(shown_of(b), second, atol=1e-5)
    rows = partners(one["output"]["tokens"], two["output"]["tokens"])
    cols = partners(one["tokens"]["source"], two["tokens"]["source"])
    assert len(cols) == len(one["tokens"]["source"]) - 2, "all but the two words that changed"
    change = np.array([[second[j, m] - first[i, k] for k, m in cols] for i, j in rows])
    np.testing.assert_allclose(shown_of(delta), change, atol=1e-5)
    assert a_range == b_range == [0, 1], "one scale for both"
    most = max(0.1, float(np.abs(change).max()))
    assert range_ == pytest.approx([-most, most], abs=1e-5), "as far below zero as above"
    labels = workspace.find(".trio-a .labels.cols .label").all_inner_texts()
    assert {"·motherᴬ", "·brotherᴮ"} <= {*labels}
    expect(workspace.find(".trio-a .key")).to_contain_text("only in B")
    change_said = workspace.find(".change").first
    told = change_said.locator("b").first.inner_text().replace("−", "-")
    assert abs(float(told)) == pytest.approx(np.abs(change).max(), abs=1e-4)
    # The largest change is lit; pointing lights the same cell in all three.
    names = change_said.locator(".token").all_inner_texts()
    for which in ("a", "b", "delta"):
        expect(workspace.find(f".trio-{which} .mark.cell")).to_be_visible()
    row, col = np.unravel_index(np.nanargmax(np.abs(delta)), delta.shape)
    workspace.page.mouse.move(*workspace.cell(int(row), int(col)))
    tip = workspace.find(".trio-a .tip").inner_text().replace("−", "-")
    for number in (a[row, col], b[row, col], delta[row, col]):
        assert f"{number:.4f}" in tip
    assert all(name in tip for name in names)
    gap = workspace.find(".trio-a .labels.cols .label").filter(has_text="brotherᴮ")
    gap.hover(force=True)
    for which in ("a", "b", "delta"):
        lit = workspace.find(f".trio-{which} .labels.cols .label.lit")
        expect(lit).to_have_text(re.compile("brotherᴮ"))
    # A change is pinned from the list.
    workspace.find(".change").nth(1).click()
    assert {"query", "key"} <= workspace.link.keys()
    expect(workspace.find("#announce")).to_contain_text("Δ")
    workspace.page.keyboard.press("Escape")
    assert "query" not in workspace.link


def test_another_head_and_another_layer(workspace: Workspace) -> None:
    workspace.open(**START, other="head", head_b=5)
    _, first = run(workspace.url, "decoder.1.cross", 2, source=A)
    _, second = run(workspace.url, "decoder.1.cross", 5, source=A)
    expected = (first, second, second - first)
    for (drawn, _), values in zip(figures(workspace), expected, strict=True):
        np.testing.assert_allclose(drawn, values, atol=1e-5)
    workspace.find(".other label").nth(6).click()
    assert workspace.link["head_b"] == "6"
    expect(workspace.find(".trio-b h3")).to_contain_text("head 7")
    workspace.find(".options").get_by_text("the layer").click()
    workspace.find(".other label").nth(0).click()
    expect(workspace.find(".trio-b h3")).to_contain_text("layer 1")
    _, third = run(workspace.url, "decoder.0.cross", 2, source=A)
    np.testing.assert_allclose(figures(workspace)[1][0], third, atol=1e-5)


def test_the_other_direction_is_turned_over(workspace: Workspace) -> None:
    workspace.open(**START, other="direction")
    one, first = run(workspace.url, "decoder.1.cross", 2, source=A)
    back = {"source": one["output"]["text"], "target": A, "direction": "zh-en"}
    two, second = run(workspace.url, "decoder.1.cross", 2, **back)
    (a, _), (b, _), (delta, _) = figures(workspace)
    np.testing.assert_allclose(shown_of(a), first, atol=1e-5)
    np.testing.assert_allclose(shown_of(b), second.T, atol=1e-5)
    rows = partners(one["output"]["tokens"], two["tokens"]["source"])
    cols = partners(one["tokens"]["source"], two["output"]["tokens"])
    change = np.array([[second[m, j] - first[i, k] for k, m in cols] for i, j in rows])
    np.testing.assert_allclose(shown_of(delta), change, atol=1e-5)
    name = workspace.find(".trio-b h3")
    expect(name).to_contain_text("transposed")
    for width in (390, 1366):
        workspace.page.set_viewport_size({"width": width, "height": 768})
        workspace.settled()
        assert name.evaluate("it => it.scrollWidth <= it.clientWidth"), "a long name is whole"
    workspace.place("encoder", 1)
    workspace.find(".hint button").click()
    assert workspace.link["block"] == "cross"


def test_b_is_live_in_the_link_and_what_is_wrong_stands_beside_it(
    workspace: Workspace, watch: Watch
) -> None:
    watch.expect("status of 4(13|22)")
    workspace.open(**START)
    box, problem = workspace.find("#source-b"), workspace.find("#problem-b")
    expect(box).to_have_value("My father bought a new book yesterday.")
    assert "b" not in workspace.link, "what the page proposes is not chosen yet"
    box.fill("My mother bought a new car yesterday.")
    expect(workspace.find(".trio-b .labels.cols .label").filter(has_text="carᴮ")).to_be_visible()
    assert workspace.link["b"] == "My mother bought a new car yesterday."
    workspace.page.reload()
    expect(box).to_have_value("My mother bought a new car yesterday.")
    for text, words in (("", "nothing to read yet"), ("word " * 300, "too long")):
        box.fill(text)
        expect(problem).to_contain_text(words)
    expect(workspace.find("#problem")).to_be_hidden()
    box.fill("My mother bought it.")
    expect(problem).to_be_hidden()
    figures(workspace)
    workspace.page.set_viewport_size({"width": 320, "height": 800})
    workspace.settled()
    boxes = workspace.boxes(".trio-a, .trio-b, .trio-delta")
    assert len(boxes) == 3
    assert len({round(one["x"]) for one in boxes}) == 1, "below each other on a phone"
    assert not overflow(workspace.page, 320)
