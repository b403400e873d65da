"""Rollout, flow and residual stream as drawn; flow.test.js holds how they are computed."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import expect

from tests.browsing import api
from tests.browsing.workspace import Workspace

START: dict[str, Any] = {
    "source": "The dog is tired.", "target": "这只狗累了。", "view": "flow", "layer": 2, "query": 4
}  # fmt: skip
BARS = """() => [...document.querySelectorAll(".river [data-leaf]")].map((leaf) =>
    [...leaf.querySelectorAll("text")].slice(0, 2).map((text) => text.textContent))"""
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


def half(url: str, place: str) -> list[Array]:
    """Return ½A + ½I of the mean over the heads of every layer, from the API."""
    weights = [f"{place.format(layer)}.weights" for layer in range(3)]
    found = api.tensors(url, *weights, source=START["source"], target=START["target"])
    means = [found[name].mean(axis=0) for name in weights]
    return [(mean + np.eye(*mean.shape)) / 2 for mean in means]


@pytest.mark.parametrize("block", ["encoder", "cross"])
def test_shares_are_the_rollout(workspace: Workspace, block: str) -> None:
    begin(workspace, block=block)
    encoder = half(workspace.url, "encoder.{}.self")
    rollout = encoder[2] @ encoder[1] @ encoder[0]
    if block == "cross":
        own, cross = (half(workspace.url, f"decoder.{{}}.{kind}") for kind in ("self", "cross"))
        target, source = np.eye(len(own[0])), np.zeros((len(own[0]), len(rollout)))
        for mine, other in zip(own, cross, strict=True):
            weights = 2 * other - np.eye(*other.shape)
            target, source = mine @ target / 2, (mine @ source + weights @ rollout) / 2
        rollout = np.hstack([source, target])
    expected = rollout[START["query"]]
    bars = np.array(workspace.page.evaluate(BARS), dtype=float)
    np.testing.assert_allclose(bars[:, 0], expected, atol=0.0051)
    for leaf in (0, 2):  # both numbers of an input, as in the sentence
        workspace.find(f".river [data-leaf='{leaf}'] text").last.hover()
        said = workspace.find(".finding").inner_text()
        percent = round(100 * expected[leaf])
        assert said.startswith(f"About {percent} % of " if percent else "Less than 1 % of ")
        found = [float(part.strip(" .,)")) for part in said.split("rollout ")[1].split(", flow ")]
        assert found[0] == pytest.approx(expected[leaf], abs=6e-5)
        assert found[1] == pytest.approx(bars[leaf, 1], abs=0.0051)


def test_the_stream_is_the_vectors_lengths_and_longer_ones_are_darker(workspace: Workspace) -> None:
    begin(workspace, block="decoder", layer=1)
    parts = ("self", "cross", "ffn")
    names = ["target.input"]
    names += [f"decoder.{layer}.{part}.residual" for layer in (0, 1) for part in parts]
    tensors = api.tensors(workspace.url, *names, source=START["source"], target=START["target"])
    lengths = np.array([np.linalg.norm(tensors[name], axis=1) for name in names])
    np.testing.assert_allclose(workspace.page.evaluate(STRIP)[0], lengths.ravel(), rtol=1e-4)
    kept, drawn = workspace.boxes(".stream")[0], workspace.boxes(".stream svg")[0]
    assert kept == drawn, "it fills the room that was kept for it"
    assert workspace.boxes(".stream canvas")[0]["height"] == drawn["height"]
    workspace.find(".stream [data-strip] rect").first.scroll_into_view_if_needed()
    workspace.settled()
    box = workspace.boxes(".stream [data-strip] rect")[0]

    def place(station: int, token: int) -> tuple[float, float]:
        down = box["height"] / 2 + (token - START["query"]) * (box["height"] - 1)
        return box["x"] + (station + 0.5) * box["width"] / len(lengths), box["y"] + down

    # A much longer vector has its length printed in its cell, which covers the colour.
    cells = sorted(np.ndindex(lengths.shape), key=lambda cell: lengths[cell])
    ends = [cells[len(cells) * part // 10] for part in (0, 5, 8)]
    light = [sum(colour) for colour in workspace.pixels([place(*cell) for cell in ends])]
    assert light[0] > light[1] > light[2]


def test_keys_and_the_pointer_choose_the_token_and_the_input(workspace: Workspace) -> None:
    begin(workspace, block="encoder", layer=0)
    bars = np.array(workspace.page.evaluate(BARS), dtype=float)
    # One layer up, each input is reached by only one edge.
    weights = half(workspace.url, "encoder.{}.self")[0][START["query"]]
    np.testing.assert_allclose(bars, np.stack([weights, weights], axis=1), atol=0.0051)
    workspace.find(".river").focus()
    workspace.page.keyboard.press("ArrowDown")
    assert workspace.link["query"] == str(START["query"] + 1)
    workspace.page.keyboard.press("ArrowRight")
    assert workspace.link["key"] == "0"
    expect(workspace.find("#announce")).to_have_text(workspace.find(".finding").inner_text())
    workspace.page.keyboard.press("Escape")
    assert "query" not in workspace.link
    begin(workspace, block="cross")
    for rows, far in (("leaf", 0.45), ("top", 0.95)):
        ground = workspace.boxes(f".river [data-rows={rows}]")[0]
        high = ground["height"] / workspace.find(f".river [data-{rows}]").count()
        for index, edge in ((0, 0.1), (2, 0.9), (4, 0.1), (4, 0.9)):  # of the row
            spot = ground["x"] + far * ground["width"], ground["y"] + (index + edge) * high
            workspace.page.mouse.move(*spot)
            lit = workspace.find(f".river [data-{rows}='{index}'] [font-weight='600']")
            expect(lit).to_have_count(1)
        workspace.page.mouse.click(*spot)
        assert workspace.link["key" if rows == "leaf" else "query"] == "4"
