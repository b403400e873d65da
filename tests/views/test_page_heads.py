"""All heads at once: pixels, numbers, order and names, against the API's weights."""

import re
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import expect

from tests.browsing import api
from tests.browsing.workspace import Workspace
from tests.views.test_page_numbers import PAPER, shade

SENTENCE = "My mother bought a new book yesterday."
TARGET = "我妈妈昨天买了一本新书。"
START: dict[str, Any] = {"view": "heads", "source": SENTENCE, "target": TARGET}
PLACES = {"decoder": "decoder.{}.self", "cross": "decoder.{}.cross"}
HATCH = (185, 183, 176)
# The colour at a cell's middle, in the tile of a label such as "L1 H2".
PIXELS = """([where, points, layer]) => {
    const tile = [...document.querySelectorAll(".tile")]
        .find(({ children: [label] }) => label.textContent.replace(/\\s/g, " ") === where);
    const [left, top, size] = ["left", "top", "width"].map((side) => parseFloat(tile.style[side]));
    const context = document.querySelector(layer).getContext("2d");
    return points.map(([across, down]) => Array.from(context.getImageData(
        Math.floor(left + across * size), Math.floor(top + down * size), 1, 1).data));
}"""
LABELS = """() => [...document.querySelectorAll(".tile")].map(({ children }) =>
    [...children].map(({ textContent }) => textContent.replace(/\\s/g, " ")))"""


def heads(url: str, block: str) -> NDArray[Any]:
    """Return weights (layer, head, query, key), NaN where masked."""
    places = [PLACES[block].format(layer) for layer in range(3)]
    names = [f"{place}.{name}" for place in places for name in ("weights", "mask")]
    found = api.tensors(url, *names, source=SENTENCE, target=TARGET)
    return np.array(
        [np.where(found[f"{it}.mask"], found[f"{it}.weights"], np.nan) for it in places]
    )


def opened(workspace: Workspace, **link: str | int) -> None:
    workspace.go(**{**START, **link})
    workspace.find(".tile .does:not(:empty)").first.wait_for()
    workspace.settled()


def test_thumbnails_have_the_colours_of_the_weights(workspace: Workspace) -> None:
    opened(workspace, block="decoder")
    found = heads(workspace.url, "decoder")
    rows, cols = found.shape[-2:]
    cells = list(zip(*np.tril_indices(rows), strict=True))
    points = [((col + 0.5) / cols, (row + 0.5) / rows) for row, col in cells]
    for layer, head in ((0, 0), (1, 5), (2, 7)):
        pixels = workspace.page.evaluate(PIXELS, [f"L{layer + 1} H{head + 1}", points, ".atlas"])
        for cell, colour in zip(cells, pixels, strict=True):
            coarse = round(float(found[layer, head][cell]) * 255) / 255
            assert colour[:3] == pytest.approx(shade(coarse), abs=5), (layer, head, cell)
    line = [(0.5 + i / 200, 0.02) for i in range(60)]
    tones = {tuple(tone[:3]) for tone in workspace.page.evaluate(PIXELS, ["L2 H3", line, ".atlas"])}
    assert tones == {PAPER, HATCH}, "masked cells are hatched, and not the colour of zero"


def test_entropy_sorts_and_a_pattern_leaves_the_heads_of_its_rule(workspace: Workspace) -> None:
    opened(workspace, block="cross", sort="entropy")
    found = heads(workspace.url, "cross")
    expected = -(found * np.log(np.where(found > 0, found, 1))).sum(-1).mean(-1)
    labels = workspace.page.evaluate(LABELS)
    values = [float(value) for _, value, _ in labels]
    assert values == sorted(values)
    for where, value, _ in labels:
        layer, head = (int(number) - 1 for number in re.findall(r"\d+", where))
        assert float(value) == pytest.approx(expected[layer, head], abs=0.0051)
    opened(workspace, block="decoder", pattern="first-token")
    first = heads(workspace.url, "decoder")[..., 1:, 0].mean(-1)  # of rows that can choose keys
    named = {f"L{n + 1} H{h + 1}" for n, h in np.ndindex(first.shape) if first[n, h] >= 0.5}
    assert 0 < len(named) < first.size
    assert {where for where, _, _ in workspace.page.evaluate(LABELS)} == named
    assert workspace.find("#option-pattern").input_value() == "first-token"
    workspace.find("#option-pattern").select_option("all")
    expect(workspace.find(".tile")).to_have_count(first.size)
    assert "pattern" not in workspace.link


def test_a_token_is_marked_in_all_heads_and_a_cell_pointed_at_is_lit(workspace: Workspace) -> None:
    opened(workspace, block="cross", layer=0, head=0)
    rows, cols = heads(workspace.url, "cross").shape[-2:]
    edge = [(0.5 / cols, 4 / rows + 0.004), (3 / cols + 0.004, 0.5 / rows)]
    assert not any(sum(p) for p in workspace.page.evaluate(PIXELS, ["L3 H8", edge, ".marks"]))
    size = workspace.boxes(".tile")[10]["width"]
    workspace.find(".tile").nth(10).hover(position={"x": 2.5 * size / cols, "y": 3.5 * size / rows})
    expect(workspace.find("#source-tokens .chip").nth(2)).to_have_class(re.compile("as-key"))
    expect(workspace.find("#target-tokens .chip").nth(3)).to_have_class(re.compile("as-query"))
    expect(workspace.find(".preview h3")).to_have_text("Layer 2, head 3")
    workspace.page.mouse.move(5, 5)
    expect(workspace.find(".preview h3")).to_have_text("Layer 1, head 1")
    opened(workspace, block="cross", query=4, key=3)
    for where in ("L1 H1", "L2 H5", "L3 H8"):
        row, col = workspace.page.evaluate(PIXELS, [where, edge, ".marks"])
        assert row[2] > row[0] > 0, "a query is blue"
        assert col[0] > col[2] > 0, "a key is orange"


def test_a_head_enlarges_by_click_and_by_enter_and_back_returns(workspace: Workspace) -> None:
    opened(workspace, block="encoder", layer=0, head=0)
    workspace.find(".tile").nth(9).click()
    workspace.drawn()
    link = workspace.link
    assert (link["view"], link["layer"], link["head"]) == ("attention", "1", "1")
    # The pickers were not drawn while they were not on the page.
    widths = "() => [...document.querySelectorAll('#heads canvas')].map(({ width }) => width)"
    assert set(workspace.page.evaluate(widths)) == {10}
    workspace.page.go_back()
    present = workspace.find(".tile[aria-current]")
    expect(present).to_have_count(1)
    present.focus()
    for key in ("ArrowDown", "ArrowRight", "ArrowRight", "ArrowLeft"):
        workspace.page.keyboard.press(key)
    expect(workspace.find(".tile:focus .where")).to_have_text(re.compile(r"L2\sH2"))
    expect(workspace.find(".preview h3")).to_have_text("Layer 2, head 2")
    workspace.page.keyboard.press("Enter")
    workspace.drawn()
    assert (workspace.link["layer"], workspace.link["head"]) == ("1", "1")


def test_a_share_shows_all_heads_as_they_were_and_inside_at_every_width(
    workspace: Workspace,
) -> None:
    made = api.shared(workspace.url, {**START, "block": "cross", "sort": "alignment"})
    workspace.page.goto(f"{workspace.url}/s/{made['id']}")
    workspace.find(".tile .does:not(:empty)").first.wait_for()
    frozen = workspace.page.evaluate(LABELS)
    opened(workspace, block="cross", sort="alignment")
    assert workspace.page.evaluate(LABELS) == frozen
    for width in (1024, 320):
        workspace.page.set_viewport_size({"width": width, "height": 844})
        workspace.settled()
        boxes = workspace.boxes(".tile")
        assert len(boxes) == 24
        assert all(box["width"] >= 72 and box["x"] + box["width"] <= width for box in boxes)
