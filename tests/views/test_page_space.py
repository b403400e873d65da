"""The plane of queries and keys, against numpy's principal components and dot products."""

from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browsing import api
from tests.browsing.workspace import Workspace

START: dict[str, Any] = {
    "source": "The dog is tired, so it sleeps.", "target": "这只狗很累，所以它睡觉。",
    "view": "space", "block": "decoder", "layer": 1, "head": 2, "query": 3,
}  # fmt: skip
# The middle of every mark, by number: queries (circles) first, then keys (squares).
MARKS = """() => [...document.querySelectorAll(".qk-plane [data-point]")]
    .map((mark) => [Number(mark.dataset.point), mark.tagName, mark.getBBox()])
    .sort(([a], [b]) => a - b)
    .map(([, tag, { x, y, width, height }]) => [tag, x + width / 2, y + height / 2])"""
LINES = """() => [...document.querySelectorAll(".qk-plane [data-key]")]
    .map((line) => [Number(line.dataset.key), Number(line.getAttribute("stroke-width"))])"""


def test_points_are_principal_components_and_keys_are_ranked(workspace: Workspace) -> None:
    workspace.open(**START)
    names = [f"decoder.1.self.{name}" for name in ("q", "k", "mask")]
    found = api.tensors(workspace.url, *names, source=START["source"], target=START["target"])
    q, k, mask = (found[name].astype(float) for name in names)
    q, k, row = q[START["head"]], k[START["head"]], START["query"]
    moved = [one - one.mean(axis=0) for one in (q, k)]
    centred = np.concatenate([one / np.sqrt((one**2).sum(axis=1).mean()) for one in moved])
    _, singular, directions = np.linalg.svd(centred, full_matrices=False)
    points, shares = centred @ directions[:2].T, (singular**2 / (singular**2).sum())[:2]
    marks = workspace.page.evaluate(MARKS)
    assert [tag for tag, *_ in marks] == ["circle"] * len(q) + ["rect"] * len(k)
    drawn = np.array([place for _, *place in marks])
    drawn -= drawn.mean(axis=0)
    # Both axes have the same scale; the sign of each direction is arbitrary.
    scale = (drawn * points).sum(axis=0) / (points**2).sum(axis=0)
    np.testing.assert_allclose(drawn, points * scale, atol=0.3)
    assert abs(scale[0]) == pytest.approx(abs(scale[1]), rel=2e-3)
    said = workspace.find(".qk-space > .note").inner_text()
    assert f"keeps {shares.sum():.2f} of the variance" in said
    assert f"({shares[0]:.2f} across, {shares[1]:.2f} up)" in said
    dots, may = k @ q[row], mask[row].astype(bool)
    powers = np.where(may, np.exp(dots / np.sqrt(q.shape[1])), 0)
    weights = powers / powers.sum()
    order = sorted(range(len(k)), key=lambda key: (not may[key], -dots[key]))
    cells = workspace.find(".qk-found tbody tr").evaluate_all(
        "(rows) => rows.map((row) => [...row.cells].slice(1).map((cell) => cell.textContent))"
    )
    for key, (dot, weight) in zip(order[:10], cells, strict=False):
        assert float(dot.replace("−", "-")) == pytest.approx(dots[key], abs=2e-4)
        assert (weight == "masked") == (not may[key])
        assert not may[key] or float(weight) == pytest.approx(weights[key], abs=2e-4)
    lines = workspace.page.evaluate(LINES)
    assert [key for key, _ in lines] == order[: min(3, int(may.sum()))]
    for key, width in lines:
        assert width == pytest.approx(1 + 6 * weights[key], abs=0.06)


def test_a_query_is_pointed_at_and_a_third_dimension_is_a_switch_away(workspace: Workspace) -> None:
    workspace.open(**START | {"block": "encoder"})
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
