"""The plane of queries and keys, against numpy's principal components and dot products."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import expect

from tests.browser import api
from tests.browser.workspace import Workspace

START: dict[str, Any] = {
    "source": "The dog is tired, so it sleeps.",
    "target": "这只狗很累，所以它睡觉。",
    "view": "space",
    "layer": 1,
    "head": 2,
    "query": 3,
}
PLACES = {"encoder": "encoder.1.self", "decoder": "decoder.1.self", "cross": "decoder.1.cross"}
Array = NDArray[np.float64]
# The middle of every mark, by number: queries (circles) first, then keys (squares).
MARKS = """() => [...document.querySelectorAll(".qk-plane [data-point]")]
    .map((mark) => [Number(mark.dataset.point), mark.tagName, mark.getBBox()])
    .sort(([a], [b]) => a - b)
    .map(([, tag, { x, y, width, height }]) => [tag, x + width / 2, y + height / 2])"""
LINES = """() => [...document.querySelectorAll(".qk-plane [data-key]")]
    .map((line) => [Number(line.dataset.key), Number(line.getAttribute("stroke-width"))])"""
LABELS = """() => [...document.querySelectorAll(".qk-plane text:not([font-weight='700'])")]
    .map((label) => label.getBBox()).map(({ x, y, width, height }) => [x, y, width, height])"""


def ask(url: str, block: str) -> tuple[Array, Array, Array]:
    """Return q and k of the head, and the mask, from the API."""
    names = [f"{PLACES[block]}.{name}" for name in ("q", "k", "mask")]
    found = api.tensors(url, *names, source=START["source"], target=START["target"])
    q, k, mask = (found[name].astype(float) for name in names)
    return q[START["head"]], k[START["head"]], mask


def principal(q: Array, k: Array) -> tuple[Array, Array]:
    """Return the first two principal components of the normalised q and k, and their shares."""
    moved = [one - one.mean(axis=0) for one in (q, k)]
    centred = np.concatenate([one / np.sqrt((one**2).sum(axis=1).mean()) for one in moved])
    _, singular, directions = np.linalg.svd(centred, full_matrices=False)
    return centred @ directions[:2].T, (singular**2 / (singular**2).sum())[:2]


@pytest.mark.parametrize("block", PLACES)
def test_points_lie_where_numpy_puts_them(workspace: Workspace, block: str) -> None:
    workspace.open(**START, block=block)
    q, k, _ = ask(workspace.url, block)
    points, shares = principal(q, k)
    marks = workspace.page.evaluate(MARKS)
    assert [tag for tag, *_ in marks] == ["circle"] * len(q) + ["rect"] * len(k)
    drawn = np.array([place for _, *place in marks])
    drawn -= drawn.mean(axis=0)
    # Both axes have the same scale; the sign of each direction is arbitrary.
    scale = [
        float(drawn[:, axis] @ points[:, axis] / (points[:, axis] ** 2).sum()) for axis in (0, 1)
    ]
    np.testing.assert_allclose(drawn, points * scale, atol=0.3)
    assert abs(scale[0]) == pytest.approx(abs(scale[1]), rel=2e-3)
    said = workspace.find(".qk-space > .note").inner_text()
    assert f"keeps {shares.sum():.2f} of the variance" in said
    assert f"({shares[0]:.2f} across, {shares[1]:.2f} up)" in said


@pytest.mark.parametrize("block", PLACES)
def test_keys_are_ranked_by_their_dot_product(workspace: Workspace, block: str) -> None:
    workspace.open(**START, block=block)
    q, k, mask = ask(workspace.url, block)
    row = START["query"]
    dots, may = k @ q[row], mask[row].astype(bool)
    powers = np.where(may, np.exp(dots / np.sqrt(q.shape[1])), 0)
    weights = powers / powers.sum()
    order = sorted(range(len(k)), key=lambda key: (not may[key], -dots[key]))
    cells = workspace.find(".qk-found tbody tr").evaluate_all(
        "(rows) => rows.map((row) => [...row.cells].slice(1).map((cell) => cell.textContent))"
    )
    for key, (dot, weight) in zip(order[:10], cells, strict=False):
        assert float(dot.replace("−", "-")) == pytest.approx(dots[key], abs=2e-4)
        assert (
            weight == "masked"
            if not may[key]
            else float(weight) == pytest.approx(weights[key], abs=2e-4)
        )
    lines = workspace.page.evaluate(LINES)
    assert [key for key, _ in lines] == order[: min(3, int(may.sum()))]
    for key, width in lines:
        assert width == pytest.approx(1 + 6 * weights[key], abs=0.06)


def test_pointing_at_a_query_shows_what_it_finds(workspace: Workspace) -> None:
    workspace.open(**START, block="encoder")
    workspace.find(".qk-plane circle[data-point='5']").hover()
    expect(workspace.find("#source-tokens .as-query")).to_have_count(1)
    near = int(workspace.find(".qk-plane").get_attribute("data-drawn") or -1)
    assert near != START["query"]
    workspace.page.mouse.down()
    workspace.page.mouse.up()
    assert int(workspace.link["query"]) == near
    workspace.find(".qk-plane").focus()
    workspace.page.keyboard.press("ArrowDown")
    assert int(workspace.link["query"]) == near + 1
    workspace.find(".cell-picker select").select_option("2")
    assert workspace.link["query"] == "2"
    workspace.page.keyboard.press("Escape")


def test_labels_lie_on_no_other_label(workspace: Workspace) -> None:
    workspace.page.set_viewport_size({"width": 390, "height": 844})
    workspace.open(**START, block="cross")
    boxes = workspace.page.evaluate(LABELS)
    assert len(boxes) > 5
    for i, (x, y, width, height) in enumerate(boxes):
        for left, top, wide, high in boxes[:i]:
            apart = x >= left + wide or left >= x + width or y >= top + high or top >= y + height
            # A text's box is slightly higher than its letters.
            assert apart or abs(y - top) > 10, (i, boxes)


def test_three_dimensions_are_a_switch_away_and_back(workspace: Workspace) -> None:
    workspace.open(**START, block="encoder")
    workspace.find(".qk-space label:has([value='3d'])").click()
    workspace.find(".qk-solid .gl-container canvas").first.wait_for()
    assert workspace.link["axes"] == "3d"
    expect(workspace.find(".qk-plane")).to_be_hidden()
    points = workspace.page.evaluate("""() => document.querySelector(".qk-solid .plot").data
        .slice(0, 2).map(({ x, y, z }) => [x.length, new Set(z).size > 1])""")
    tokens = workspace.find("#source-tokens .chip").count()
    assert points == [[tokens, True]] * 2, "all queries, all keys, with depth"
    workspace.find(".qk-space label:has([value='2d'])").click()
    expect(workspace.find(".qk-plane svg")).to_be_visible()
    expect(workspace.find(".qk-solid")).to_be_hidden()
