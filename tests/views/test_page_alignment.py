"""The drawn alignment, compared with the API's weights summed over words."""

import re
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import expect

from tests.browsing import api
from tests.browsing.api import client
from tests.browsing.printed import two
from tests.browsing.workspace import Workspace

START: dict[str, Any] = {
    "source": "The librarian apologised quietly.", "target": "图书管理员小声道歉。",
    "view": "alignment", "block": "cross", "layer": 1, "head": 3,
}  # fmt: skip
WORDS = ["The", "librarian", "apologised", "quietly", "."]
# The picture as data: [source word, written word] of each line, its width and its opacity.
LINES = """() => [...document.querySelectorAll(".alignment-lines [data-link]")].map((line) => [
    ...line.dataset.link.split(" ").map(Number),
    Number(line.getAttribute("stroke-width")),
    Number(line.getAttribute("stroke-opacity")),
])"""


def soft(workspace: Workspace, *names: str, reads: bool = False) -> tuple[NDArray[Any], float]:
    """Return the alignment of output characters and source words, and the special tokens' share.

    Tensors with a head axis are averaged over all their heads.
    """
    reply = api.trace(workspace.url, *names, source=START["source"], target=START["target"])
    found = api.arrays(reply)
    weights = np.mean([found[name].reshape(-1, *found[name].shape[-2:]) for name in names], (0, 1))
    return words_of(reply, weights, reads)


def words_of(reply: Any, weights: NDArray[Any], reads: bool) -> tuple[NDArray[Any], float]:
    source, rows = reply["tokens"]["source"], weights[reads:][: len(START["target"])]
    columns, at = [], 0
    for word in WORDS:
        at = START["source"].index(word, at)
        inside = [
            i
            for i, token in enumerate(source)
            if not token["special"] and token["start"] < at + len(word) and token["end"] > at
        ]
        columns.append(rows[:, inside].sum(axis=1))
    special = [i for i, token in enumerate(source) if token["special"]]
    return np.stack(columns, axis=1), float(rows[:, special].sum(axis=1).mean())


def of_head(workspace: Workspace, reads: bool = False) -> NDArray[Any]:
    name = "decoder.1.cross.weights"
    reply = api.trace(workspace.url, name, source=START["source"], target=START["target"])
    return words_of(reply, api.arrays(reply)[name][START["head"]], reads)[0]


def test_lines_and_table_are_the_weights(workspace: Workspace) -> None:
    for of, rows, layers in (("layer", "reads", [1]), ("all", "writes", [0, 1, 2])):
        workspace.open(**START, of=of, rows=rows)
        names = [f"decoder.{layer}.cross.weights" for layer in layers]
        matrix, special = soft(workspace, *names, reads=rows == "reads")
        plotted, axes = workspace.figure()
        assert axes[0][1] == list(START["target"])
        assert [word.strip("·") for word in axes[1][1]] == WORDS
        np.testing.assert_allclose(plotted, matrix, atol=1e-5)
        drawn = {(to, from_): rest for from_, to, *rest in workspace.page.evaluate(LINES)}
        best = {(row, int(matrix[row].argmax())) for row in range(len(matrix))}
        wanted = {pair for pair in np.ndindex(matrix.shape) if matrix[pair] >= 0.1} | best
        assert set(drawn) == wanted
        for pair, (width, opacity) in drawn.items():
            assert width == pytest.approx(max(1, 10 * matrix[pair]), abs=0.06)
            assert opacity == (0.9 if pair in best else 0.32)
        note = workspace.find(".aligned .note").inner_text()
        assert f"they get {special:.2f}" in note
        assert f"{matrix.size - len(wanted)} pairs below 0.10" in note
    # The choices are in the link, and a threshold leaves the strongest line of each word.
    workspace.find(".options input[type=range]").fill("30")
    assert (workspace.link["of"], workspace.link["least"]) == ("all", "30")
    workspace.page.reload()
    workspace.drawn()
    strong = {pair for pair in np.ndindex(matrix.shape) if matrix[pair] >= 0.3}
    assert len(workspace.page.evaluate(LINES)) == len(strong | best)


def test_a_word_is_said_stepped_through_and_pointed_at(workspace: Workspace) -> None:
    workspace.open(**START)
    matrix = of_head(workspace)
    workspace.find(".alignment-lines").focus()
    workspace.page.keyboard.press("ArrowRight")
    before = int(workspace.link["query"])
    workspace.page.keyboard.press("ArrowRight")
    row = int(workspace.link["query"])
    assert row == before + 1
    said = workspace.find(".finding")
    sentence = "Layer 2, head 4: {} {}, it looks most at {} ({:.2f})."
    best = WORDS[int(matrix[row].argmax())], float(matrix[row].max())
    text = sentence.format("while writing", START["target"][row], *best)
    expect(said).to_have_text(text)
    expect(workspace.find("#announce")).to_have_text(text)
    expect(workspace.find("#target-tokens .chip").nth(row)).to_have_class(re.compile("as-query"))
    workspace.find(".options label").get_by_text("reading it").click()
    assert workspace.link["rows"] == "reads"
    reads = of_head(workspace, reads=True)[row]
    best = WORDS[int(reads.argmax())], float(reads.max())
    expect(said).to_have_text(sentence.format("after reading", START["target"][row], *best))
    workspace.page.keyboard.press("Escape")
    assert "query" not in workspace.link

    workspace.find(".alignment-lines [data-word='source 1']").hover()
    lines = workspace.page.evaluate(LINES)
    assert [line[3] < 0.1 for line in lines] == [line[0] != 1 for line in lines]
    # Its two pieces are one word; the first of them is lit elsewhere too.
    expect(workspace.find("#source-tokens .chip").nth(2)).to_have_class(re.compile("as-key"))
    workspace.page.mouse.move(0, 0)
    assert all(line[3] > 0.1 for line in workspace.page.evaluate(LINES))


def test_it_opens_on_the_head_and_the_rows_that_align_best(workspace: Workspace) -> None:
    (model, *_) = client.get(f"{workspace.url}/api/models").json()
    best, other = model["aligners"]
    assert {best["rows"], other["rows"]} == {"writes", "reads"}
    place = {key: START[key] for key in ("source", "target", "view", "block")}
    workspace.open(**place)
    link = workspace.link
    assert (int(link.get("layer", 0)), int(link.get("head", 0))) == (best["layer"], best["head"])
    nearest, rows = workspace.find(".aligned .best"), workspace.find("input[name=option-rows]")
    expect(nearest).to_contain_text(f"error rate {round(best['error_rate'] * 100)} %")
    expect(nearest.get_by_role("button")).to_have_count(0)
    expect(rows.locator(f"nth={['writes', 'reads'].index(best['rows'])}")).to_be_checked()
    workspace.open(**place, layer=other["layer"], head=other["head"], rows=other["rows"])
    expect(nearest).to_contain_text(f"error rate {round(other['error_rate'] * 100)} %")
    nearest.get_by_role("button").click()
    expect(nearest).to_contain_text(f"error rate {round(best['error_rate'] * 100)} %")
    link = workspace.link
    assert (int(link.get("layer", 0)), int(link.get("head", 0))) == (best["layer"], best["head"])
    workspace.page.go_back()
    expect(nearest).to_contain_text(f"error rate {round(other['error_rate'] * 100)} %")
    assert workspace.link["rows"] == other["rows"]

    taught = {(one["layer"], one["head"]) for one in model["taught"]}
    assert taught
    for layer, head in [next(iter(taught)), (1, 3)]:
        workspace.open(**{**START, "layer": layer, "head": head})
        note, words = workspace.find(".aligned .note"), "heads trained with alignment supervision"
        assert (f"one of {len(taught)} {words}" in note.inner_text()) == ((layer, head) in taught)
        workspace.open(**{**START, "layer": layer, "head": head, "view": "heatmap"})
        name = f"Layer {layer + 1}, head {head + 1}"
        name += ", supervised to align" if (layer, head) in taught else ""
        expect(workspace.find("#caption .place")).to_have_text(name)


def test_the_row_that_is_lit_by_itself_is_said_for_what_it_reads(workspace: Workspace) -> None:
    """The first row reads no word, so another row is highlighted."""
    row = 0
    for head in range(8):
        workspace.open(**{**START, "head": head})
        lit = workspace.find("#target-tokens .as-query")
        row = START["target"].index(lit.locator(".token:last-child").inner_text())
        if row:
            break
    assert row
    expect(workspace.find(".finding")).to_contain_text(f"while writing {START['target'][row]}")
    workspace.find(".options label").get_by_text("reading it").click()
    expect(workspace.find(".finding")).to_contain_text(f"after reading {START['target'][row - 1]}")


def test_only_for_cross_attention_and_with_at_least_one_line(workspace: Workspace) -> None:
    workspace.open(**{**START, "block": "encoder"})
    assert workspace.link["block"] == "cross"
    expect(workspace.find("#map input[data-block=encoder]").first).to_be_disabled()
    workspace.open(**{**START, "source": "Hi", "target": "。"}, of="layer")
    assert len(workspace.page.evaluate(LINES)) == 1


def test_attributions_take_the_place_of_weights(workspace: Workspace) -> None:
    workspace.open(**START, connects="occlusion")
    matrix, _ = soft(workspace, "inside.occlusion")
    np.testing.assert_allclose(workspace.figure()[0], matrix, atol=1e-4)
    drawn = {(to, from_): width for from_, to, width, _ in workspace.page.evaluate(LINES)}
    most = np.abs(matrix).max()
    assert {pair for pair in np.ndindex(matrix.shape) if matrix[pair] >= 0.1 * most} <= set(drawn)
    for pair, width in drawn.items():
        assert matrix[pair] > 0
        assert width == pytest.approx(max(1, 10 * matrix[pair] / most), abs=0.06)
    # The words that are connected to a pinned one have the numbers themselves, in nats.
    workspace.open(**START, connects="occlusion", query=2)
    joined = [from_ for to, from_ in drawn if to == 2]
    assert joined
    for from_ in joined:
        number = workspace.find(f".alignment-lines [data-word='source {from_}'] text").last
        expect(number).to_have_text(two(matrix[2, from_]))
