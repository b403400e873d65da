"""The view inside a decoder step shows what the API says; tests/model holds the numbers."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import expect

from tests.browsing import api
from tests.browsing.printed import read
from tests.browsing.workspace import Workspace
from tests.shipped_head_counts import IN_ALL

RUN = {"source": "The dog is tired.", "target": "这只狗累了。"}
START: dict[str, Any] = {
    **RUN, "view": "inside", "block": "cross", "layer": 1, "head": 2, "query": 3
}  # fmt: skip
ROW = START["query"]
HEADS, LAYERS = 8, 3
BUTTONS = """() => [...document.querySelectorAll(".head-sums tbody tr")].map((row) =>
    [...row.querySelectorAll("button")].map((one) =>
        [Number(one.dataset.value), one.textContent]))"""
# The number and the colour of each head's cell, here and in What if.
TONES = """() => {
    const cells = document.querySelectorAll(".head-sums button, .head-map [data-at]");
    return Array.from(cells, (cell) => {
        const [text, rect] = [cell.querySelector("text") ?? cell, cell.querySelector("rect")];
        const colour = rect ? getComputedStyle(rect).fill : getComputedStyle(cell).backgroundColor;
        return [text.textContent, colour.match(/[\\d.]+/g).slice(0, 3).map(Number)];
    });
}"""
LEDGER = """() => Object.fromEntries([...document.querySelectorAll(".ledger-sums [data-part]")].map(
    (row) => [row.dataset.part, [...row.querySelectorAll("td")].map((td) => td.textContent)]))"""
LENS = """() => [...document.querySelectorAll(".lens tbody tr")].map((row) => ({
    cells: [...row.querySelectorAll("td[data-id]")].map((cell) => [Number(cell.dataset.id),
        Number(cell.querySelector(".p").textContent),
        parseFloat(cell.querySelector(".bar").style.width) / 100, cell.className]),
    own: [row.querySelector(".own .p").textContent, row.querySelector(".own .rank").textContent],
}))"""


def begin(workspace: Workspace, **link: object) -> None:
    workspace.open(**{**START, **link})
    drawn(workspace, runs=2 if "interventions" in link else 1)


def drawn(workspace: Workspace, runs: int = 1) -> None:
    """Wait for both matrices of each displayed run."""
    expect(workspace.find(".of-slopes .chart[data-drawn]")).to_have_count(2 * runs)


@cache
def told(url: str, *select: str) -> tuple[dict[str, NDArray[Any]], list[int]]:
    """Return tensors from the API, and the ids of the output."""
    reply = api.trace(url, *select, "decoder.logits", **RUN)
    return api.arrays(reply), [token["id"] for token in reply["output"]["tokens"]]


def number(text: str) -> float | None:
    return read(text.removeprefix("+")) if text else None


def shows_parts(workspace: Workspace, prefix: str) -> float:
    """Check each head's number and the ledger of parts; return their sum."""
    tensors, _ = told(workspace.url, f"{prefix}.*")
    lines = workspace.page.evaluate(BUTTONS)
    assert [len(line) for line in lines] == [HEADS] * 2 * LAYERS
    for n, line in enumerate(lines):
        heads = tensors[f"{prefix}.{('self', 'cross')[n % 2]}"][n // 2, :, ROW]
        assert [value for value, _ in line] == pytest.approx(heads, abs=2e-5)
        assert [number(text) for _, text in line] == pytest.approx(heads, abs=0.0051)
    total = 0.0
    for part, cells in workspace.page.evaluate(LEDGER).items():
        each = tensors[f"{prefix}.{part}"][..., ROW]
        layers = each.reshape(len(each), -1).sum(axis=1) if each.ndim else each
        shown = [number(cell) for cell in cells if cell]
        assert shown == pytest.approx([*np.atleast_1d(layers), each.sum()], abs=0.0051), part
        total += each.sum()
    assert total == pytest.approx(tensors[f"{prefix}.total"][ROW], abs=1e-4)
    expect(workspace.find(".ledger-sums .all")).to_have_text(f"{total:+.2f}".replace("-", "−"))
    return total


def test_heads_and_parts_are_what_is_added_to_the_logit(workspace: Workspace) -> None:
    begin(workspace)
    logit = shows_parts(workspace, "inside.logit")
    expect(workspace.find(".balance")).to_contain_text(f"{logit:.4f}")
    expect(workspace.find(".finding").first).to_contain_text("does most for it (")
    expect(workspace.find(".finding").first).to_contain_text(f"of a logit of {logit:.2f}).")
    workspace.find(".of-slopes .rows .label").nth(1).hover()  # another token is another row
    other = told(workspace.url, "inside.logit.*")[0]["inside.logit.total"][1]
    expect(workspace.find(".balance")).to_contain_text(f"{other:.4f}")
    workspace.page.mouse.move(0, 0)
    workspace.find(".head-sums button").nth(4 * HEADS + 6).click()
    expect(workspace.find(".of-slopes h4").first).to_have_text("Attention of layer 3, head 7")
    link = workspace.link
    assert (link["block"], link["layer"], link["head"], link["query"]) == ("decoder", "2", "6", "3")
    pressed = workspace.find(".head-sums [aria-pressed='true']")
    expect(pressed).to_have_count(1)
    pressed.focus()
    for key in ("ArrowDown", "ArrowLeft", "Enter"):
        workspace.page.keyboard.press(key)
    expect(workspace.find(".of-slopes h4").first).to_have_text("Attention of layer 3, head 6")
    assert (workspace.link["block"], workspace.link["head"]) == ("cross", "5")


def test_the_lens_is_each_stream_through_the_output_matrix(workspace: Workspace) -> None:
    begin(workspace)
    tensors, written = told(workspace.url, "inside.lens.*")
    lens = {
        name: tensors[f"inside.lens.{name}"][:, ROW] for name in ("probabilities", "candidates")
    }
    shown = workspace.page.evaluate(LENS)
    assert len(shown) == LAYERS
    for layer, line in enumerate(shown):
        assert len(line["cells"]) >= 3
        for place, (id_, printed, bar, look) in enumerate(line["cells"]):
            assert id_ == lens["candidates"][layer, place]
            assert [printed, bar] == pytest.approx(
                [lens["probabilities"][layer, place]] * 2, abs=0.0051
            )
            assert ("is-written" in look) == (id_ == written[ROW])
        own, rank = (tensors[f"inside.lens.{name}"][layer, ROW] for name in ("written", "rank"))
        assert float(line["own"][0]) == pytest.approx(own, abs=6e-5)
        assert line["own"][1] == f"rank {rank:.0f}"


def test_gradient_is_the_slope_between_two_runs(workspace: Workspace) -> None:
    """Compare with finite differences: change a weight slightly up and down."""
    begin(workspace, block="decoder", layer=2, head=3)
    weights, drawn = (chart.values for chart in workspace.charts(".of-slopes"))
    masked = np.triu(np.ones_like(weights, dtype=bool), 1)
    np.testing.assert_array_equal(np.isnan(drawn), masked)
    np.testing.assert_array_equal(np.isnan(weights), masked)
    middle = np.where((weights > 0.1) & (weights < 0.9), np.abs(drawn), 0)
    query, key = (int(n) for n in np.unravel_index(middle.argmax(), middle.shape))

    def slope(step: float) -> float:
        ends = []
        for by in (step, -step):
            cell = {"set": [query, key, float(weights[query, key] + by)]}
            change = {"at": "decoder.2.self", "head": 3, "do": cell}
            reply = api.trace(workspace.url, **RUN, interventions=[change])
            ends.append(sum(reply["output"]["logprobs"]))
        return float(ends[0] - ends[1]) / (2 * step)

    limit = (4 * slope(0.02) - slope(0.04)) / 3  # Richardson extrapolation
    assert drawn[query, key] == pytest.approx(limit * weights[query, key], abs=2e-3)


def test_orange_helps_here_and_in_what_if(workspace: Workspace) -> None:
    begin(workspace)
    for section in (".of-heads", ".of-parts"):
        says = workspace.find(f"{section} > .note")
        expect(says).to_have_text("Orange raises the logit; blue lowers it.")
    expect(workspace.find(".of-slopes > .note")).to_contain_text("Orange: a larger weight makes")
    expect(workspace.find(".of-heads details")).to_be_visible()
    inside = workspace.page.evaluate(TONES)
    workspace.view("whatif")
    workspace.find(f".head-map[data-drawn='{IN_ALL}']").wait_for()
    whatif = workspace.page.evaluate(TONES)
    for cells, helps in ((inside, 1), (whatif, -1)):  # what is lost without the head is negative
        values = [(helps * (number(text) or 0), colour) for text, colour in cells]
        (_, (red, _, blue)), (_, (other_red, _, other_blue)) = max(values), min(values)
        assert red > blue
        assert other_red < other_blue


def test_it_follows_what_is_changed_and_is_in_chinese_too(workspace: Workspace) -> None:
    off = [{"at": "decoder.2.cross", "head": 6, "do": "zero"}]
    begin(workspace, interventions=off, lang="zh")
    expect(workspace.find(".of-lens h3").first).to_have_text("logit 透镜")
    expect(workspace.find("#caption")).to_contain_text("层起")
    trained, changed = np.array(
        [[value for value, _ in row] for row in workspace.page.evaluate(BUTTONS)]
    ).reshape(2, 2 * LAYERS, HEADS)
    assert changed[5, 6] == 0 != trained[5, 6]
    reply = api.trace(workspace.url, "inside.logit.total", **RUN, interventions=off)
    logit = reply["tensors"]["inside.logit.total"]["data"][ROW]
    expect(workspace.find("[data-as=changed] .balance")).to_contain_text(f"{logit:.4f}")


def test_a_share_shows_the_same_without_the_model(workspace: Workspace) -> None:
    begin(workspace)
    shown = (".lens", ".head-sums", ".balance")
    seen = [workspace.find(place).inner_text() for place in shown]
    names = ["inside.lens.*", "inside.logit.*", "inside.relevance.decoder.1.cross"]
    weights = [f"decoder.1.cross.{name}" for name in ("weights", "mask")]
    made = api.shared(workspace.url, START, select=[*names, *weights])
    asked: list[str] = []
    workspace.page.on("request", lambda request: asked.append(request.url))
    workspace.page.goto(f"{workspace.url}/s/{made['id']}")
    drawn(workspace)
    assert [workspace.find(place).inner_text() for place in shown] == seen
    assert not [url for url in asked if url.endswith("/api/trace")]
