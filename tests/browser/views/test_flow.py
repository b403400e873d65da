"""Rollout, flow and residual stream as drawn, against NumPy and an independent maximum flow."""

import itertools
from collections import deque
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import expect

from tests.browser import api
from tests.browser.workspace import Workspace

START: dict[str, Any] = {
    "source": "The dog is tired.",
    "target": "这只狗累了。",
    "view": "flow",
    "layer": 2,
    "query": 4,
}
PLACES = {
    "encoder": [("encoder", "self")],
    "decoder": [("decoder", "self")],
    "cross": [("decoder", "self"), ("decoder", "cross"), ("encoder", "self")],
}
BARS = """() => [...document.querySelectorAll(".river [data-leaf]")].map((leaf) =>
    [...leaf.querySelectorAll("text")].slice(0, 2).map((text) => text.textContent))"""
EDGES = """() => [...document.querySelectorAll(".river [data-carried]")].map((edge) =>
    [...edge.dataset.edge.split(" ").map(Number), Number(edge.dataset.carried)])"""
# The canvas of cells carries the numbers that it shows, a list for each station.
STRIP = """() => Object.values(document.querySelector(".stream canvas").picture)
    .map((stations) => stations.flat())"""

Array = NDArray[np.float64]


def begin(workspace: Workspace, **link: object) -> None:
    """Open the view and wait for all its numbers; it has no chart to wait for."""
    workspace.go(**{**START, **link})
    workspace.find(".river [data-leaf]").first.wait_for()
    workspace.find(".stream [data-strip]").first.wait_for()
    expect(workspace.find(".river")).not_to_contain_text("…")


def means(url: str, block: str) -> list[list[Array]]:
    """Return the mean over the heads of every layer, from q, k and the mask."""
    names = [f"{stack}.*.{kind}.{x}" for stack, kind in PLACES[block] for x in ("q", "k", "mask")]
    tensors = ask(url, names)
    found = []
    for stack, kind in PLACES[block]:
        layers = []
        for layer in range(3):
            q, k, mask = (tensors[f"{stack}.{layer}.{kind}.{x}"] for x in ("q", "k", "mask"))
            scores = np.where(mask, q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1]), -np.inf)
            exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
            layers.append((exponentials / exponentials.sum(axis=-1, keepdims=True)).mean(axis=0))
        found.append(layers)
    return found


def ask(url: str, select: list[str]) -> dict[str, Array]:
    return api.tensors(url, *select, source=START["source"], target=START["target"])


def half(weights: Array) -> Array:
    """Return ½A + ½I."""
    return (weights + np.eye(len(weights))) / 2


def expected_rollout(layers: list[list[Array]]) -> Array:
    """Return the rollout: a row per output token, a column per input of either text."""
    if len(layers) == 1:
        product = np.eye(len(layers[0][0]))
        for weights in layers[0]:
            product = half(weights) @ product
        return product
    own, cross, encoder = layers
    memory = expected_rollout([encoder])
    target = np.eye(len(own[0]))
    source = np.zeros((len(target), len(memory)))
    for mine, other in zip(own, cross, strict=True):
        target, source = half(mine) @ target, half(mine) @ source
        target, source = target / 2, (source + other @ memory) / 2
    return np.hstack([source, target])


def capacities(layers: list[list[Array]]) -> tuple[Array, list[int], list[int]]:
    """Return the graph as a matrix of edges, with its output nodes and its inputs."""
    blocks: list[tuple[int, int, Array]] = []
    count = 0

    def room(size: int) -> int:
        nonlocal count
        count += size
        return count - size

    def climb(stack: list[Array], below: int) -> int:
        for weights in stack:
            above = room(len(weights))
            blocks.append((above, below, half(weights)))
            below = above
        return below

    if len(layers) == 1:
        size = len(layers[0][0])
        inputs = list(range(room(size), size))
        top = climb(layers[0], 0)
    else:
        own, cross, encoder = layers
        sources, targets = len(encoder[0]), len(own[0])
        memory = climb(encoder, room(sources))
        below = room(targets)
        inputs = [*range(sources), *range(below, below + targets)]
        for mine, other in zip(own, cross, strict=True):
            between = climb([mine], below)
            top = room(targets)
            blocks += [(top, between, np.eye(targets) / 2), (top, memory, other / 2)]
            below = top
        size = targets
    edges = np.zeros((count, count))
    for above, below, block in blocks:
        rows, cols = block.shape
        edges[above : above + rows, below : below + cols] += block
    return edges, list(range(top, top + size)), inputs


def maximum_flow(edges: Array, source: int, sink: int) -> float:
    """Compute the maximum flow on a dense matrix (Edmonds & Karp 1972)."""
    room, total = edges.copy(), 0.0
    while True:
        before = np.full(len(room), -1)
        before[source] = source
        queue = deque([source])
        while queue and before[sink] < 0:
            node = queue.popleft()
            for other in np.flatnonzero((room[node] > 1e-12) & (before < 0)):
                before[other] = node
                queue.append(int(other))
        if before[sink] < 0:
            return total
        path = [sink]
        while path[-1] != source:
            path.append(int(before[path[-1]]))
        steps = list(zip(path[1:], path[:-1], strict=True))
        least = min(room[step] for step in steps)
        for above, below in steps:
            room[above, below] -= least
            room[below, above] += least
        total += least


@pytest.mark.parametrize("block", PLACES)
def test_shares_are_rollout_and_maximum_flow(workspace: Workspace, block: str) -> None:
    begin(workspace, block=block)
    layers = means(workspace.url, block)
    rollout = expected_rollout(layers)[START["query"]]
    edges, tops, inputs = capacities(layers)
    flow = [maximum_flow(edges, tops[START["query"]], node) for node in inputs]
    bars = np.array(workspace.page.evaluate(BARS), dtype=float)
    assert bars.shape == (len(inputs), 2)
    np.testing.assert_allclose(bars[:, 0], rollout, atol=0.0051)
    np.testing.assert_allclose(bars[:, 1], flow, atol=0.0051)
    assert rollout.sum() == pytest.approx(1)
    # Both numbers of each input, as in the sentence.
    numbers = len(ask(workspace.url, ["source.embedding"])["source.embedding"])
    for leaf in range(numbers if block != "decoder" else START["query"] + 1):
        workspace.find(f".river [data-leaf='{leaf}'] text").last.hover()
        said = workspace.find(".finding").inner_text()
        found = [float(part.strip(" .,")) for part in said.split("rollout ")[1].split(", flow ")]
        np.testing.assert_allclose(found, [rollout[leaf], flow[leaf]], atol=6e-5)


def test_edges_carry_the_rollout(workspace: Workspace) -> None:
    begin(workspace, block="encoder")
    [layers] = means(workspace.url, "encoder")
    mixed = [half(weights) for weights in layers]
    size = len(mixed[0])
    above = np.eye(size)[START["query"]]
    expected = {}
    for column in (3, 2, 1):
        for i, j in np.ndindex(size, size):
            expected[column * size + i, (column - 1) * size + j] = (
                above[i] * mixed[column - 1][i, j]
            )
        above = above @ mixed[column - 1]
    drawn = {(a, b): carried for a, b, carried in workspace.page.evaluate(EDGES)}
    assert set(drawn) == {edge for edge, carried in expected.items() if carried >= 0.004}
    for edge, carried in drawn.items():
        assert carried == pytest.approx(expected[edge], abs=2e-5)


def test_edges_of_a_flow_keep_to_their_weights(workspace: Workspace) -> None:
    begin(workspace, block="encoder", amount="flow", key=1)
    layers = means(workspace.url, "encoder")
    edges, tops, inputs = capacities(layers)
    total = maximum_flow(edges, tops[START["query"]], inputs[1])
    size = len(inputs)
    carried = np.zeros((4 * size, 4 * size))
    for above, below, amount in workspace.page.evaluate(EDGES):
        carried[above, below] = amount
        assert amount <= edges[above, below] + 1e-5
    # Edges too faint to be drawn are missing from the sum.
    assert carried[:, inputs[1]].sum() == pytest.approx(total, abs=0.02)
    assert carried[tops[START["query"]]].sum() == pytest.approx(total, abs=0.02)


@pytest.mark.parametrize("block", ["encoder", "decoder"])
def test_stream_is_the_vectors_lengths_and_directions(workspace: Workspace, block: str) -> None:
    begin(workspace, block=block, layer=1)
    side = "source" if block == "encoder" else "target"
    parts = ["self", "ffn"] if block == "encoder" else ["self", "cross", "ffn"]
    places = [f"{block}.{layer}.{part}" for layer in (0, 1) for part in parts]
    vectors = [f"{place}.{name}" for place in places for name in ("residual", "norm")]
    tensors = ask(workspace.url, [f"{side}.embedding", f"{side}.input", *vectors])
    embedding = tensors[f"{side}.embedding"]
    first = tensors[f"{side}.input"]

    def cosine(x: Array) -> Array:
        product: Array = (x * embedding).sum(axis=1)
        alike: Array = product / np.linalg.norm(x, axis=1) / np.linalg.norm(embedding, axis=1)
        return alike

    lengths = [first, *(tensors[f"{place}.residual"] for place in places)]
    directions = [first, *(tensors[f"{place}.norm"] for place in places)]
    drawn = workspace.page.evaluate(STRIP)
    expected = np.concatenate([np.linalg.norm(x, axis=1) for x in lengths])
    np.testing.assert_allclose(drawn[0], expected, rtol=1e-4)
    np.testing.assert_allclose(drawn[1], np.concatenate([*map(cosine, directions)]), atol=1e-4)


def test_the_longer_a_vector_the_darker_its_cell(workspace: Workspace) -> None:
    begin(workspace, block="encoder")
    lengths = workspace.page.evaluate(
        "() => document.querySelector('.stream canvas').picture.length"
    )
    frame = workspace.find(".stream [data-strip] rect").first
    frame.scroll_into_view_if_needed()
    workspace.settled()
    box = workspace.boxes(".stream [data-strip] rect")[0]
    wide = box["width"] / len(lengths)
    middle = box["y"] + box["height"] / 2

    def place(station: int, token: int) -> tuple[float, float]:
        down = (token - START["query"]) * (box["height"] - 1)
        return box["x"] + (station + 0.5) * wide, middle + down

    cells = list(np.ndindex(len(lengths), len(lengths[0])))
    colours = workspace.pixels([place(*cell) for cell in cells])
    order = sorted(range(len(cells)), key=lambda i: lengths[cells[i][0]][cells[i][1]])
    light = [sum(colours[i]) for i in order]
    # A much longer vector has its length printed in its cell, which covers the colour.
    most = sorted(lengths[a][b] for a, b in cells)[len(cells) * 9 // 10]
    shaded = [
        one for i, one in zip(order, light, strict=True) if lengths[cells[i][0]][cells[i][1]] < most
    ]
    assert shaded[0] - shaded[-1] > 60
    assert sum(b > a + 3 for a, b in itertools.pairwise(shaded)) <= len(shaded) // 10


def test_keys_choose_the_token_and_the_input(workspace: Workspace) -> None:
    begin(workspace, block="encoder")
    workspace.find(".river").focus()
    workspace.page.keyboard.press("ArrowDown")
    assert workspace.link["query"] == str(START["query"] + 1)
    workspace.page.keyboard.press("ArrowRight")
    assert workspace.link["key"] == "0"
    expect(workspace.find("#announce")).to_have_text(workspace.find(".finding").inner_text())
    workspace.page.keyboard.press("Escape")
    assert "query" not in workspace.link
    workspace.find(".river [data-top='2'] text").click()
    assert workspace.link["query"] == "2"


def test_layer_that_is_picked_is_the_top(workspace: Workspace) -> None:
    begin(workspace, block="encoder", layer=0)
    [layers] = means(workspace.url, "encoder")
    bars = np.array(workspace.page.evaluate(BARS), dtype=float)
    # One layer up, each input is reached by only one edge.
    weights = half(layers[0])[START["query"]]
    np.testing.assert_allclose(bars[:, 0], weights, atol=0.0051)
    np.testing.assert_allclose(bars[:, 1], weights, atol=0.0051)


@pytest.mark.parametrize("block", ["encoder", "cross"])
def test_rows_are_pointed_at_between_the_letters(workspace: Workspace, block: str) -> None:
    begin(workspace, block=block)
    for rows, far in (("leaf", 0.45), ("top", 0.95)):
        ground = workspace.boxes(f".river [data-rows={rows}]")[0]
        count = workspace.find(f".river [data-{rows}]").count()
        high = ground["height"] / count
        for index in (0, 2, 4):
            for edge in (0.1, 0.9):  # of the row
                at = ground["x"] + far * ground["width"], ground["y"] + (index + edge) * high
                workspace.page.mouse.move(*at)
                lit = workspace.find(f".river [data-{rows}='{index}'] [font-weight='600']")
                expect(lit).to_have_count(1)
        workspace.page.mouse.click(*at)
        assert workspace.link["key" if rows == "leaf" else "query"] == str(index)


def test_strip_fills_the_room_that_was_kept_for_it(workspace: Workspace) -> None:
    begin(workspace, block="encoder")
    kept, drawn = workspace.boxes(".stream")[0], workspace.boxes(".stream svg")[0]
    assert kept == drawn
    assert workspace.boxes(".stream canvas")[0]["height"] == drawn["height"]
