"""The heatmap of words and pooled heads, compared with the API's weights."""

import re
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import expect

from tests.browsing import api
from tests.browsing.workspace import Workspace

SENTENCE = "The unbelievable animals were tired."
TARGET = "动物很累。"
HEAD = 2
PLACES = {"encoder": "encoder.1.self", "cross": "decoder.1.cross"}
WORDS = [[0], [1], [2, 3, 4, 5, 6, 7], [8], [9], [10], [11], [12]]
SPECIAL = [0, 12]

Matrix = NDArray[Any]


def run(url: str, block: str, **more: object) -> tuple[dict[str, Any], Matrix]:
    """Return the API's document, and all heads' weights, NaN where masked."""
    names = [f"{PLACES[block]}.{name}" for name in ("weights", "mask")]
    reply = api.trace(url, *names, source=SENTENCE, target=TARGET, **more)
    weights, mask = map(api.arrays(reply).__getitem__, names)
    return reply, np.where(mask, weights, np.nan)


def fold(matrix: Matrix, groups: list[list[int]]) -> Matrix:
    """Sum over groups of keys and average over groups of queries, for each head."""
    summed = np.stack([matrix[..., keys].sum(axis=-1) for keys in groups], axis=-1)
    return np.stack([summed[:, queries].mean(axis=1) for queries in groups], axis=1)


def look(workspace: Workspace, block: str, **options: object) -> Matrix:
    """Return the plotted numbers with these options."""
    place = {"source": SENTENCE, "target": TARGET, "block": block, "layer": 1, "head": HEAD}
    workspace.open(**{**place, **options})
    return workspace.figure()[0]


def test_words_are_summed_over_keys_and_averaged_over_queries(workspace: Workspace) -> None:
    plotted = look(workspace, "encoder", words=1, query=2, key=2)
    _, all_heads = run(workspace.url, "encoder")
    np.testing.assert_allclose(plotted, fold(all_heads, WORDS)[HEAD], atol=1e-5)
    np.testing.assert_allclose(plotted.sum(axis=1), 1, atol=1e-5)
    assert workspace.figure()[1][1][1][2] == "·unbelievable"
    expect(workspace.find(".notes")).to_contain_text("summed over its keys")
    # The inspector works a word out.
    sums = all_heads[HEAD][np.ix_(WORDS[2], WORDS[2])].sum(axis=1)
    said = workspace.find("#working .part dd b").all_inner_texts()
    np.testing.assert_allclose([float(one) for one in said], sums, atol=1e-4)
    whole = workspace.find("#working > div:last-child dd").inner_text()
    assert float(whole) == pytest.approx(sums.mean(), abs=1e-4)


def test_heads_are_pooled_and_the_page_says_so(workspace: Workspace) -> None:
    plotted = look(workspace, "cross", pool="mean")
    _, all_heads = run(workspace.url, "cross")
    expected = all_heads.mean(axis=0)
    np.testing.assert_allclose(plotted, expected, atol=1e-5)
    caption = workspace.find("#caption").inner_text()
    assert not re.search(r"head \d", caption), "a claim about one head"
    assert caption.startswith("Layer 2, mean of 8 heads")
    parts = [float(part) for part in workspace.find("#working .part dd").all_inner_texts()]
    names = workspace.find(".labels.rows .label").all_inner_texts()
    row = names.index(workspace.find(".labels.rows .label.lit").inner_text())
    np.testing.assert_allclose(parts, all_heads[:, row, expected[row].argmax()], atol=1e-4)
    workspace.find("#heads label").nth(5).click()
    expect(workspace.find("#caption")).to_contain_text("Layer 2, head 6")
    assert "pool" not in workspace.link, "a picked head is shown"


def test_hidden_tokens_are_counted_and_their_mass_is_shown(workspace: Workspace) -> None:
    plotted = look(workspace, "cross", special="hide")
    reply, all_heads = run(workspace.url, "cross")
    rows = [i for i, token in enumerate(reply["output"]["tokens"]) if not token["special"]]
    np.testing.assert_allclose(plotted, all_heads[HEAD][rows][:, 1:-1], atol=1e-5)
    mass = all_heads[HEAD][rows][:, SPECIAL].sum(axis=1)
    said = workspace.find(".notes").inner_text()
    assert "2 tokens are hidden (special tokens), so rows no longer sum to 1" in said
    average = re.search(r"(\d\.\d\d) on average", said)
    assert average
    assert float(average[1]) == pytest.approx(mass.mean(), abs=0.006)


def test_all_at_once_keeps_its_order_and_its_tokens(workspace: Workspace) -> None:
    plotted = look(workspace, "encoder", words=1, pool="max", special="hide", top=30)
    expected = fold(run(workspace.url, "encoder")[1], WORDS[1:-1]).max(axis=0)
    least = np.sort(expected, axis=None)[-int(np.ceil(expected.size * 0.3))]
    expected = np.where(expected < least - 1e-7, np.nan, expected)
    np.testing.assert_allclose(plotted, expected, atol=1e-5)
    assert workspace.find("#caption").inner_text().startswith("Layer 2, maximum of 8 heads")
    said = workspace.find(".notes").inner_text()
    assert f"{(~np.isnan(expected)).sum()} of {expected.size} cells are shown" in said
    workspace.page.mouse.click(*workspace.cell(1, 2))
    assert (workspace.link["query"], workspace.link["key"]) == ("2", "8"), "the trace's own tokens"
    chips = workspace.find("#source-tokens .chip.as-query")
    assert chips.all_inner_texts() == ["·un", "b", "el", "ie", "v", "able"]
    workspace.page.reload()
    workspace.drawn()
    assert workspace.find(".labels.rows .label.lit").inner_text() == "·unbelievable"
    assert workspace.find(".labels.cols .label.lit").inner_text() == "·animals"


def test_logarithmic_colours_and_covered_cells(workspace: Workspace) -> None:
    plotted = look(workspace, "cross", scale="log")
    _, all_heads = run(workspace.url, "cross")
    np.testing.assert_allclose(plotted, all_heads[HEAD], atol=1e-5)
    expect(workspace.find(".key")).to_contain_text("≤ 0.0001")
    row, col = np.unravel_index(np.abs(plotted - 0.01).argmin(), plotted.shape)
    tone = workspace.pixels([workspace.cell(int(row), int(col), 0.15, 0.15)])[0]
    assert tone[1] < 215, "a hundredth is half way down the scale, far from the paper"
    row, col = np.argwhere(np.isnan(look(workspace, "cross", top=10)))[4]
    workspace.page.mouse.move(*workspace.cell(int(row), int(col)))
    tip = workspace.find(".tip").inner_text()
    assert f"{all_heads[HEAD][row, col]:.4f}" in tip
    assert "not among the strongest" in tip
    expect(workspace.find(".key")).to_contain_text("hidden, not 0")


def test_padding_is_masked_and_hatched(workspace: Workspace) -> None:
    look(workspace, "encoder", words=0)
    workspace.options()
    workspace.find(".padding input[type=checkbox]").check()
    expect(workspace.find(".label.pad")).to_have_count(6)
    workspace.drawn()
    assert workspace.link["pad_to"] == "16"
    plotted, axes = workspace.figure()
    _, all_heads = run(workspace.url, "encoder", pad_to=16)
    np.testing.assert_allclose(plotted, all_heads[HEAD], atol=1e-5)
    assert np.isnan(plotted[:, 13:]).all()
    assert not np.isnan(plotted[:, :13]).any()
    assert axes[1][1][-1] == "<pad>₃"
    workspace.find(".count").fill("20")
    workspace.find(".count").press("Enter")
    expect(workspace.find(".label.pad")).to_have_count(14)
    workspace.find("#source").fill("A new sentence, which is run as it is")
    workspace.find("#source").press("Enter")
    expect(workspace.find(".label.pad")).to_have_count(0)
    assert "pad_to" not in workspace.link


def test_another_head_changes_only_what_it_says(workspace: Workspace) -> None:
    """Unchanged parts are not recreated, and nothing on the page moves afterwards."""
    look(workspace, "encoder")
    workspace.settled()
    kept = "#caption .place, #working div, #view .key, #view .notes li"
    said = [workspace.find(place).inner_text() for place in ("#working", "#caption")]
    workspace.page.evaluate(
        """(kept) => {
            window.kept = [...document.querySelectorAll(kept)];
            window.changed = [];
            new MutationObserver((all) => window.changed.push(...all.map(({ target }) => target)))
                .observe(document.querySelector("#view"), {
                    subtree: true, childList: true, characterData: true,
                });
            document.querySelectorAll("#heads input")[5].click();
        }""",
        kept,
    )
    expect(workspace.find("#caption")).to_contain_text("head 6")
    workspace.page.evaluate("() => new Promise(requestAnimationFrame)")
    same = (
        "(kept) => [...document.querySelectorAll(kept)].every((one, i) => one === window.kept[i])"
    )
    assert workspace.page.evaluate(same, kept)
    assert [workspace.find(place).inner_text() for place in ("#working", "#caption")] != said
    # Only the mean of the notes is another number.
    places = """() => window.changed.map(({ parentElement: it }) =>
        it.closest(".notes, .key")?.className ?? it.className)"""
    assert set(workspace.page.evaluate(places)) <= {"notes"}
    moving = "() => document.getAnimations().some(({ playState }) => playState === 'running')"
    assert not workspace.page.evaluate(moving)


def test_a_pinned_key_says_who_looks_at_it(workspace: Workspace) -> None:
    workspace.open(source="The dog is tired, so it sleeps.", block="cross", layer=1, head=2)
    values = workspace.charts()[0].values
    workspace.find("#source-tokens .chip").nth(2).click()
    most = int(np.nanargmax(values[:, 2]))
    said = workspace.find("#caption")
    expect(said).to_contain_text(f"({values[most, 2]:.2f})")
    row = workspace.find("#target-tokens .chip").nth(most).locator(".token").last.inner_text()
    expect(said).to_contain_text(f"“{row}”" if f"“{row}”" in said.inner_text() else row)
    expect(said).to_contain_text("The row that looks most at dog is the one that writes")
