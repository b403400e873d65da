"""The drawn alignment, compared with weights recomputed from q and k."""

import re
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import expect

from tests.browser import api
from tests.browser.api import client
from tests.browser.workspace import Workspace

START: dict[str, Any] = {
    "source": "The librarian apologised quietly.",
    "target": "图书管理员小声道歉。",
    "view": "alignment",
    "block": "cross",
    "layer": 1,
    "head": 3,
}
WORDS = ["The", "librarian", "apologised", "quietly", "."]
# The picture as data: [source word, written word] of each line, its width and its opacity.
LINES = """() => [...document.querySelectorAll(".alignment-lines [data-link]")].map((line) => [
    ...line.dataset.link.split(" ").map(Number),
    Number(line.getAttribute("stroke-width")),
    Number(line.getAttribute("stroke-opacity")),
])"""


def heads(url: str, layers: list[int]) -> tuple[dict[str, Any], NDArray[Any]]:
    """Return the reply, and the cross-attention weights of some layers, computed from q and k."""
    names = [f"decoder.{layer}.cross.{tensor}" for layer in layers for tensor in "qk"]
    reply = api.trace(url, *names, source=START["source"], target=START["target"])
    tensors = api.arrays(reply)
    found = []
    for layer in layers:
        q, k = (tensors[f"decoder.{layer}.cross.{tensor}"] for tensor in "qk")
        scores = q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1])
        exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
        found.append(exponentials / exponentials.sum(axis=-1, keepdims=True))
    return reply, np.concatenate(found)


def soft(
    reply: dict[str, Any], weights: NDArray[Any], reads: bool = False
) -> tuple[NDArray[Any], float]:
    """Return the alignment of output characters and source words, and the special tokens' share."""
    source = reply["tokens"]["source"]
    rows = weights[reads:][: len(START["target"])]
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


def expected(workspace: Workspace, of: str, reads: bool = False) -> tuple[NDArray[Any], float]:
    layers = {"head": [1], "layer": [1], "all": [0, 1, 2]}[of]
    reply, weights = heads(workspace.url, layers)
    return soft(reply, weights[START["head"]] if of == "head" else weights.mean(axis=0), reads)


@pytest.mark.parametrize(
    ("of", "rows"), [("head", "writes"), ("layer", "reads"), ("all", "writes")]
)
def test_lines_and_table_are_the_weights(workspace: Workspace, of: str, rows: str) -> None:
    workspace.open(**START, of=of, rows=rows)
    matrix, special = expected(workspace, of, rows == "reads")
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


def test_a_written_word_is_said_and_stepped_through(workspace: Workspace) -> None:
    workspace.open(**START)
    matrix, _ = expected(workspace, "head")
    workspace.find(".alignment-lines").focus()
    workspace.page.keyboard.press("ArrowRight")
    before = int(workspace.link["query"])
    workspace.page.keyboard.press("ArrowRight")
    row = int(workspace.link["query"])
    assert row == before + 1
    said = workspace.find(".finding").inner_text()
    word, weight = WORDS[int(matrix[row].argmax())], float(matrix[row].max())
    assert said == (
        f"Layer 2, head 4: while writing {START['target'][row]}, "
        f"it looks most at {word} ({weight:.2f})."
    )
    expect(workspace.find("#announce")).to_have_text(said)
    expect(workspace.find("#target-tokens .chip").nth(row)).to_have_class(re.compile("as-query"))
    workspace.page.keyboard.press("Escape")
    assert "query" not in workspace.link


def test_pointing_at_a_word_leaves_its_own_lines(workspace: Workspace) -> None:
    workspace.open(**START)
    word = workspace.find(".alignment-lines [data-word='source 1']")
    word.hover()
    faded = {tuple(line[:2]) for line in workspace.page.evaluate(LINES) if line[3] < 0.1}
    others = {tuple(line[:2]) for line in workspace.page.evaluate(LINES) if line[0] != 1}
    assert faded == others
    # Its two pieces are one word; the first of them is lit elsewhere too.
    expect(workspace.find("#source-tokens .chip").nth(2)).to_have_class(re.compile("as-key"))
    workspace.page.mouse.move(0, 0)
    assert all(line[3] > 0.1 for line in workspace.page.evaluate(LINES))


def test_choices_are_in_the_link(workspace: Workspace) -> None:
    workspace.open(**START)
    workspace.find(".options label").get_by_text("all layers").click()
    assert workspace.link["of"] == "all"
    workspace.find(".options input[type=range]").fill("30")
    assert workspace.link["least"] == "30"
    workspace.page.reload()
    workspace.drawn()
    matrix, _ = expected(workspace, "all")
    count = len(
        {(r, c) for r, c in np.ndindex(matrix.shape) if matrix[r, c] >= 0.3}
        | {(r, int(matrix[r].argmax())) for r in range(len(matrix))}
    )
    assert len(workspace.page.evaluate(LINES)) == count


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


def test_a_head_that_was_taught_is_called_so(workspace: Workspace) -> None:
    (model, *_) = client.get(f"{workspace.url}/api/models").json()
    taught = {(one["layer"], one["head"]) for one in model["taught"]}
    assert taught
    for layer, head in [*taught, (1, 3)]:
        workspace.open(**{**START, "layer": layer, "head": head})
        note = workspace.find(".aligned .note")
        told = f"one of {len(taught)} heads trained with alignment supervision" in note.inner_text()
        assert told == ((layer, head) in taught)
        workspace.open(**{**START, "layer": layer, "head": head, "view": "heatmap"})
        caption = workspace.find("#caption .place")
        place = f"Layer {layer + 1}, head {head + 1}"
        expect(caption).to_have_text(
            f"{place}, supervised to align" if (layer, head) in taught else place
        )


def test_rows_that_read_are_said_as_such(workspace: Workspace) -> None:
    workspace.open(**START, query=2)
    said = workspace.find(".finding")
    expect(said).to_contain_text(f"while writing {START['target'][2]}")
    workspace.find(".options label").get_by_text("reading it").click()
    assert workspace.link["rows"] == "reads"
    matrix, _ = expected(workspace, "head", reads=True)
    word = WORDS[int(matrix[2].argmax())]
    expect(said).to_have_text(
        f"Layer 2, head 4: after reading {START['target'][2]}, it looks most at {word} "
        f"({matrix[2].max():.2f})."
    )


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


def test_only_for_cross_attention(workspace: Workspace) -> None:
    workspace.open(**{**START, "block": "encoder"})
    assert workspace.link["block"] == "cross"
    expect(workspace.find("#map input[data-block=encoder]").first).to_be_disabled()


def test_nothing_but_special_tokens(workspace: Workspace) -> None:
    workspace.open(**{**START, "source": "Hi", "target": "。"}, of="layer")
    assert len(workspace.page.evaluate(LINES)) == 1


@pytest.mark.parametrize("method", ["occlusion", "gradient-input", "integrated-gradients"])
def test_attributions_take_the_place_of_weights(workspace: Workspace, method: str) -> None:
    workspace.open(**START, connects=method)
    name = f"inside.{method}"
    reply = api.trace(workspace.url, name, source=START["source"], target=START["target"])
    matrix, _ = soft(reply, api.arrays(reply)[name])
    plotted, _ = workspace.figure()
    np.testing.assert_allclose(plotted, matrix, atol=1e-4)
    drawn = {(to, from_): width for from_, to, width, _ in workspace.page.evaluate(LINES)}
    most = np.abs(matrix).max()
    raised = {pair for pair in np.ndindex(matrix.shape) if matrix[pair] >= 0.1 * most}
    assert raised <= set(drawn)
    for pair, width in drawn.items():
        assert matrix[pair] > 0
        assert width == pytest.approx(max(1, 10 * matrix[pair] / most), abs=0.06)
