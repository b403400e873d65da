"""The view inside a decoder step, compared with streams, parameters and other runs."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import expect

from tests.browser import api
from tests.browser.api import client
from tests.browser.printed import read
from tests.browser.workspace import Workspace
from tests.shipped import IN_ALL

RUN = {"source": "The dog is tired.", "target": "这只狗累了。"}
START: dict[str, Any] = {
    **RUN,
    "view": "inside",
    "block": "cross",
    "layer": 1,
    "head": 2,
    "query": 3,
}
HEADS, LAYERS, CHANNELS = 8, 3, 32
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
        cell.querySelector(".token").textContent, Number(cell.querySelector(".p").textContent),
        parseFloat(cell.querySelector(".bar").style.width) / 100, cell.className]),
    own: [row.querySelector(".own .p").textContent, row.querySelector(".own .rank").textContent],
}))"""

Array = NDArray[np.float64]


def begin(workspace: Workspace, **link: object) -> None:
    workspace.open(**{**START, **link})
    drawn(workspace, runs=2 if "interventions" in link else 1)


def drawn(workspace: Workspace, runs: int = 1) -> None:
    """Wait for both matrices of each displayed run."""
    expect(workspace.find(".of-slopes .chart[data-drawn]")).to_have_count(2 * runs)


def ask(url: str, select: list[str], **more: object) -> dict[str, Any]:
    return api.trace(url, *select, **RUN | more)


@cache
def stream(url: str) -> tuple[dict[str, Array], list[int]]:
    """Return all tensors of the decoder, and the ids of its output."""
    reply = ask(url, ["decoder.*", "target.*", "decoder.logits"])
    return api.arrays(reply), [token["id"] for token in reply["output"]["tokens"]]


@cache
def parameters(url: str) -> dict[str, Array]:
    names = ["W_o", "b_o", "b_2", "gain", "bias"]
    select = ",".join(["embedding", *(f"decoder.*.*.{name}" for name in names)])
    address = f"{url}/api/models/en-zh/parameters"
    reply = client.get(address, params={"select": select}).raise_for_status().json()
    return {name: np.array(tensor["data"]) for name, tensor in reply["tensors"].items()}


def carried(url: str, vector: Array, first: int, row: int, id_: int | None = None) -> float:
    """Return what a vector added before the `first` sublayer's norm adds to a token's logit."""
    tensors, written = stream(url)
    given = parameters(url)
    for place in places()[first:]:
        residual = tensors[f"{place}.residual"][row]
        vector = (vector - vector.mean()) / np.sqrt(residual.var() + 1e-5) * given[f"{place}.gain"]
    return float(vector @ given["embedding"][written[row] if id_ is None else id_])


def places() -> list[str]:
    return [
        f"decoder.{layer}.{part}" for layer in range(LAYERS) for part in ("self", "cross", "ffn")
    ]


def of_head(url: str, index: int, head: int, row: int, id_: int | None = None) -> float:
    """Return what a head of the `index`-th sublayer adds, computed forwards through the norms."""
    place = places()[index]
    rows = slice(head * CHANNELS, (head + 1) * CHANNELS)
    mixed = stream(url)[0][f"{place}.mix"][head, row]
    return carried(url, mixed @ parameters(url)[f"{place}.W_o"][rows], index, row, id_)


@pytest.mark.parametrize("row", [0, 3])
def test_each_head_adds_what_its_output_comes_to(workspace: Workspace, row: int) -> None:
    begin(workspace, query=row)
    lines = workspace.page.evaluate(BUTTONS)
    assert [len(line) for line in lines] == [HEADS] * 2 * LAYERS
    attentions = [i for i, place in enumerate(places()) if not place.endswith("ffn")]
    for line, index in zip(lines, attentions, strict=True):
        for head, (value, text) in enumerate(line):
            expected = of_head(workspace.url, index, head, row)
            assert value == pytest.approx(expected, abs=2e-5)
            assert number(text) == pytest.approx(expected, abs=0.0051)


def expected_parts(url: str, row: int) -> dict[str, list[float | None]]:
    """Return what each part adds: at the input, then layer by layer."""
    tensors, _ = stream(url)
    given = parameters(url)
    found: dict[str, list[float | None]] = {}
    for name in ("embedding", "position"):
        found[name] = [carried(url, tensors[f"target.{name}"][row], 0, row), None, None, None]
    for kind, offset in (("self", 0), ("cross", 1)):
        heads = [
            [of_head(url, index + offset, n, row) for n in range(HEADS)] for index in (0, 3, 6)
        ]
        found[kind] = [None, *map(sum, heads)]
    found |= {"ffn": [None], "bias": [None], "norm": [None]}
    for layer in range(LAYERS):
        index, ffn = 3 * layer, f"decoder.{layer}.ffn"
        sublayers = list(enumerate(places()))[index : index + 3]
        output = tensors[f"{ffn}.output"][row] - given[f"{ffn}.b_2"]
        found["ffn"].append(carried(url, output, index + 2, row))
        constants = [(n, given[f"{p}.b_2" if p == ffn else f"{p}.b_o"]) for n, p in sublayers]
        found["bias"].append(sum(carried(url, constant, n, row) for n, constant in constants))
        betas = [carried(url, given[f"{place}.bias"], n + 1, row) for n, place in sublayers]
        found["norm"].append(sum(betas))
    return found


def number(text: str) -> float | None:
    return read(text.removeprefix("+")) if text else None


def test_all_parts_are_the_logit(workspace: Workspace) -> None:
    begin(workspace)
    row = START["query"]
    tensors, written = stream(workspace.url)
    logit = tensors["decoder.logits"][row][written[row]]
    expected = expected_parts(workspace.url, row)
    shown = workspace.page.evaluate(LEDGER)
    assert list(shown) == list(expected)
    everything = 0.0
    for part, values in expected.items():
        together = sum(value for value in values if value is not None)
        everything += together
        for text, value in zip(shown[part], [*values, together], strict=True):
            assert number(text) == (None if value is None else pytest.approx(value, abs=0.0051))
    assert everything == pytest.approx(logit, abs=1e-4)
    expect(workspace.find(".ledger-sums .all")).to_have_text(f"+{logit:.2f}")
    expect(workspace.find(".balance")).to_contain_text(f"{logit:.4f}")


def test_the_lens_is_each_stream_through_the_output_matrix(workspace: Workspace) -> None:
    begin(workspace)
    tensors, written = stream(workspace.url)
    matrix, row = parameters(workspace.url)["embedding"], START["query"]
    reply = ask(workspace.url, [])
    token = reply["output"]["tokens"][row]
    shown = workspace.page.evaluate(LENS)
    assert len(shown) == LAYERS
    for layer, line in enumerate(shown):
        scores = tensors[f"decoder.{layer}.ffn.norm"][row] @ matrix.T
        chances = np.exp(scores - scores.max())
        chances /= chances.sum()
        best = np.argsort(-chances)
        assert len(line["cells"]) >= 3
        for place, (id_, text, printed, bar, look) in enumerate(line["cells"]):
            assert id_ == best[place]
            assert printed == pytest.approx(chances[id_], abs=0.0051)
            assert bar == pytest.approx(chances[id_], abs=1e-4)
            assert ("is-written" in look) == (id_ == written[row])
            if id_ == written[row]:
                assert text == token["text"].strip()
        own = chances[written[row]]
        assert float(line["own"][0]) == pytest.approx(own, abs=6e-5)
        assert line["own"][1] == f"rank {1 + int((chances > own).sum())}"
    assert shown[-1]["own"][0] == f"{np.exp(reply['output']['logprobs'][row]):.4f}"


@pytest.mark.parametrize("block", ["cross", "decoder"])
def test_gradient_is_the_slope_between_two_runs(workspace: Workspace, block: str) -> None:
    """Compare with finite differences: change a weight slightly up and down."""
    begin(workspace, block=block, layer=2, head=3)
    place = "decoder.2.self" if block == "decoder" else "decoder.2.cross"
    weights, drawn = (chart.values for chart in workspace.charts(".of-slopes"))
    reply = ask(workspace.url, [f"{place}.mask"])
    mask = np.array(reply["tensors"][f"{place}.mask"]["data"])
    np.testing.assert_array_equal(np.isnan(drawn), ~mask)
    np.testing.assert_array_equal(np.isnan(weights), ~mask)
    middle = np.where((weights > 0.1) & (weights < 0.9), np.abs(drawn), 0)

    def slope(query: int, key: int, step: float) -> float:
        ends: list[float] = []
        for by in (step, -step):
            cell = {"set": [query, key, float(weights[query, key] + by)]}
            change = {"at": place, "head": 3, "do": cell}
            reply = ask(workspace.url, [], interventions=[change])
            ends.append(float(sum(reply["output"]["logprobs"])))
        return (ends[0] - ends[1]) / (2 * step)

    for query, key in zip(
        *np.unravel_index(np.argsort(-middle, None)[:4], middle.shape), strict=True
    ):
        near, far = (slope(int(query), int(key), step) for step in (0.02, 0.04))
        limit = (4 * near - far) / 3  # Richardson extrapolation, with an error of fourth order
        assert drawn[query, key] == pytest.approx(limit * weights[query, key], abs=2e-3)


def test_a_head_is_picked_by_a_click_and_by_keys(workspace: Workspace) -> None:
    begin(workspace)
    workspace.find(".head-sums button").nth(4 * HEADS + 6).click()
    expect(workspace.find(".of-slopes h4").first).to_have_text("Attention of layer 3, head 7")
    link = workspace.link
    assert (link["block"], link["layer"], link["head"], link["query"]) == ("decoder", "2", "6", "3")
    pressed = workspace.find(".head-sums [aria-pressed='true']")
    expect(pressed).to_have_count(1)
    pressed.focus()
    workspace.page.keyboard.press("ArrowDown")
    workspace.page.keyboard.press("ArrowLeft")
    workspace.page.keyboard.press("Enter")
    expect(workspace.find(".of-slopes h4").first).to_have_text("Attention of layer 3, head 6")
    assert (workspace.link["block"], workspace.link["head"]) == ("cross", "5")


def test_another_token_is_another_row(workspace: Workspace) -> None:
    begin(workspace)
    before = workspace.find(".balance").inner_text()
    workspace.find(".of-slopes .rows .label").nth(1).hover()
    expect(workspace.find(".balance")).not_to_have_text(before)
    tensors, written = stream(workspace.url)
    logit = tensors["decoder.logits"][1][written[1]]
    expect(workspace.find(".balance")).to_contain_text(f"{logit:.4f}")


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


def test_it_follows_what_is_changed_in_the_machine(workspace: Workspace) -> None:
    change = '[{"at":"decoder.2.cross","head":6,"do":"zero"}]'
    begin(workspace, interventions=change)
    trained, changed = np.array(
        [[value for value, _ in row] for row in workspace.page.evaluate(BUTTONS)]
    ).reshape(2, 2 * LAYERS, HEADS)
    assert changed[5, 6] == 0 != trained[5, 6]
    reply = ask(
        workspace.url,
        ["decoder.logits"],
        interventions=[{"at": "decoder.2.cross", "head": 6, "do": "zero"}],
    )
    row = START["query"]
    logit = reply["tensors"]["decoder.logits"]["data"][row][reply["output"]["tokens"][row]["id"]]
    expect(workspace.find("[data-as=changed] .balance")).to_contain_text(f"{logit:.4f}")


def test_it_is_in_chinese_too(workspace: Workspace) -> None:
    begin(workspace, lang="zh")
    expect(workspace.find(".of-lens h3")).to_have_text("logit 透镜")
    expect(workspace.find("#caption")).to_contain_text("层起")


def test_a_share_shows_the_same_without_the_model(workspace: Workspace) -> None:
    begin(workspace)
    seen = [workspace.find(place).inner_text() for place in (".lens", ".head-sums", ".balance")]
    names = ["inside.lens.*", "inside.logit.*", "inside.relevance.decoder.1.cross"]
    weights = [f"decoder.1.cross.{name}" for name in ("weights", "mask")]
    share = {"state": START, "select": [*names, *weights]}
    made = client.post(f"{workspace.url}/api/shares", json=share).raise_for_status()
    asked: list[str] = []
    workspace.page.on("request", lambda request: asked.append(request.url))
    workspace.page.goto(f"{workspace.url}/s/{made.json()['id']}")
    drawn(workspace)
    for place, text in zip((".lens", ".head-sums", ".balance"), seen, strict=True):
        assert workspace.find(place).inner_text() == text
    assert not [url for url in asked if url.endswith("/api/trace")]
