"""Two runs side by side: both and their difference are recomputed from q and k in NumPy."""

import re
from difflib import SequenceMatcher
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import expect

from tests.browser import api
from tests.browser.legible import overflow
from tests.browser.test_numbers import weights
from tests.browser.watch import Watch
from tests.browser.workspace import Chart, Workspace

A = "My mother bought a new book yesterday."
B = "My brother bought a red book yesterday."
START: dict[str, Any] = {"source": A, "view": "compare", "block": "cross", "layer": 1, "head": 2}

Matrix = NDArray[Any]


def run(url: str, place: str, head: int, **request: object) -> tuple[dict[str, Any], Matrix]:
    """Return the API's document and one head's weights from its q and k."""
    select = [f"{place}.{name}" for name in ("q", "k", "mask")]
    reply = api.trace(url, *select, **request)
    q, k, mask = map(api.arrays(reply).__getitem__, select)
    return reply, weights(q[head], k[head], mask)


def figures(workspace: Workspace) -> list[Chart]:
    """Return the charts of A, B and the difference."""
    workspace.drawn()
    expect(workspace.find(".trio .chart[data-drawn]")).to_have_count(3)
    workspace.settled()
    return workspace.charts(".trio")


def words(tokens: list[dict[str, Any]]) -> list[str]:
    return [token["text"].strip() for token in tokens]


def partners(a: list[str], b: list[str]) -> list[tuple[int, int]]:
    """Return the positions of common tokens, by Python's `difflib`."""
    blocks = SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks()
    return [(one.a + i, one.b + i) for one in blocks for i in range(one.size)]


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
    rows = partners(words(one["output"]["tokens"]), words(two["output"]["tokens"]))
    cols = partners(words(one["tokens"]["source"]), words(two["tokens"]["source"]))
    assert len(cols) == len(one["tokens"]["source"]) - 2, "all but the two words that changed"
    change = np.array([[second[j, m] - first[i, k] for k, m in cols] for i, j in rows])
    np.testing.assert_allclose(shown_of(delta), change, atol=1e-5)
    assert a_range == b_range == [0, 1], "one scale for both"
    most = max(0.1, float(np.abs(change).max()))
    assert range_ == pytest.approx([-most, most], abs=1e-5), "as far below zero as above"
    labels = workspace.find(".trio-a .labels.cols .label").all_inner_texts()
    assert "·motherᴬ" in labels
    assert "·brotherᴮ" in labels
    expect(workspace.find(".trio-a .key")).to_contain_text("only in B")
    told = workspace.find(".change b").first.inner_text().replace("−", "-")
    assert abs(float(told)) == pytest.approx(np.abs(change).max(), abs=1e-4)


def test_another_head_and_another_layer(workspace: Workspace) -> None:
    workspace.open(**START, other="head", head_b=5)
    _, first = run(workspace.url, "decoder.1.cross", 2, source=A)
    _, second = run(workspace.url, "decoder.1.cross", 5, source=A)
    for (drawn, _), expected in zip(
        figures(workspace), (first, second, second - first), strict=True
    ):
        np.testing.assert_allclose(drawn, expected, atol=1e-5)
    workspace.find(".other label").nth(6).click()
    assert workspace.link["head_b"] == "6"
    expect(workspace.find(".trio-b h3")).to_contain_text("head 7")
    workspace.find(".options").get_by_text("the layer").click()
    workspace.find(".other label").nth(0).click()
    expect(workspace.find(".trio-b h3")).to_contain_text("layer 1")
    _, third = run(workspace.url, "decoder.0.cross", 2, source=A)
    workspace.settled()
    np.testing.assert_allclose(figures(workspace)[1][0], third, atol=1e-5)


def test_the_other_direction_is_turned_over(workspace: Workspace) -> None:
    workspace.open(**START, other="direction")
    one, first = run(workspace.url, "decoder.1.cross", 2, source=A)
    back = {"source": one["output"]["text"], "target": A, "direction": "zh-en"}
    two, second = run(workspace.url, "decoder.1.cross", 2, **back)
    (a, _), (b, _), (delta, _) = figures(workspace)
    np.testing.assert_allclose(shown_of(a), first, atol=1e-5)
    np.testing.assert_allclose(shown_of(b), second.T, atol=1e-5)
    rows = partners(words(one["output"]["tokens"]), words(two["tokens"]["source"]))
    cols = partners(words(one["tokens"]["source"]), words(two["output"]["tokens"]))
    change = np.array([[second[m, j] - first[i, k] for k, m in cols] for i, j in rows])
    np.testing.assert_allclose(shown_of(delta), change, atol=1e-5)
    workspace.place("encoder", 1)
    workspace.find(".hint button").click()
    assert workspace.link["block"] == "cross"


def test_a_long_name_is_whole(workspace: Workspace) -> None:
    workspace.open(**START, other="direction")
    name = workspace.find(".trio-b h3")
    expect(name).to_contain_text("transposed")
    for width in (390, 1366, 1920):
        workspace.page.set_viewport_size({"width": width, "height": 768})
        workspace.settled()
        assert name.evaluate("it => it.scrollWidth <= it.clientWidth"), width


def test_b_is_live_and_in_the_link(workspace: Workspace) -> None:
    workspace.open(**START)
    box = workspace.find("#source-b")
    expect(box).to_have_value("My father bought a new book yesterday.")
    assert "b" not in workspace.link, "what the page proposes is not chosen yet"
    box.fill("My mother bought a new car yesterday.")
    expect(workspace.find(".trio-b .labels.cols .label").filter(has_text="carᴮ")).to_be_visible()
    assert workspace.link["b"] == "My mother bought a new car yesterday."
    workspace.page.reload()
    expect(workspace.find("#source-b")).to_have_value("My mother bought a new car yesterday.")


def test_what_is_wrong_with_b_stands_beside_it(workspace: Workspace, watch: Watch) -> None:
    watch.expect("status of 4(13|22)")
    workspace.open(**START)
    workspace.find("#source-b").fill("")
    expect(workspace.find("#problem-b")).to_contain_text("nothing to read yet")
    workspace.find("#source-b").fill("word " * 300)
    expect(workspace.find("#problem-b")).to_contain_text("too long")
    expect(workspace.find("#problem")).to_be_hidden()
    workspace.find("#source-b").fill("My mother bought it.")
    expect(workspace.find("#problem-b")).to_be_hidden()
    expect(workspace.find(".trio")).to_be_visible()


def test_pointing_lights_the_same_cell_in_all_three(workspace: Workspace) -> None:
    workspace.open(**START, b=B)
    (a, _), (b, _), (delta, _) = figures(workspace)
    change = workspace.find(".change").first
    names = change.locator(".token").all_inner_texts()
    boxes = [workspace.find(f".trio-{which} .mark.cell") for which in ("a", "b", "delta")]
    for box in boxes:
        expect(box).to_be_visible()
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


def test_a_change_is_pinned_from_the_list(workspace: Workspace) -> None:
    workspace.open(**START, b=B)
    figures(workspace)
    workspace.find(".change").nth(1).click()
    assert {"query", "key"} <= workspace.link.keys()
    expect(workspace.find("#announce")).to_contain_text("Δ")
    workspace.page.keyboard.press("Escape")
    assert "query" not in workspace.link


@pytest.mark.parametrize("width", [390, 320])
def test_three_stand_below_each_other_on_a_phone(workspace: Workspace, width: int) -> None:
    workspace.page.set_viewport_size({"width": width, "height": 800})
    workspace.open(**START)
    figures(workspace)
    boxes = workspace.boxes(".trio-a, .trio-b, .trio-delta")
    assert len(boxes) == 3
    lefts = {round(box["x"]) for box in boxes}
    assert len(lefts) == 1
    assert not overflow(workspace.page, width)
