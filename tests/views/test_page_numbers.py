"""Drawn numbers are the model's: compared with numbers recomputed from q and k."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import expect

from tests.browsing import api
from tests.browsing.printed import numbers, read
from tests.browsing.workspace import Workspace

SENTENCE = "The dog is tired, so it sleeps."
TARGET = "这只狗很累，所以它睡觉。"
PLACES = {"encoder": "encoder.1.self", "decoder": "decoder.1.self", "cross": "decoder.1.cross"}
HEAD = 2

# The ends of the colour scale: paper, and the violet of a weight of 1.
PAPER, VIOLET = (251, 250, 247), (76, 29, 149)


def trace(url: str, place: str) -> dict[str, NDArray[Any]]:
    """Return q, k and mask of a place from the API."""
    names = [f"{place}.{name}" for name in ("q", "k", "mask")]
    found = api.tensors(url, *names, source=SENTENCE, target=TARGET)
    return {name.rpartition(".")[2]: tensor for name, tensor in found.items()}


def weights(q: NDArray[Any], k: NDArray[Any], mask: NDArray[Any]) -> NDArray[Any]:
    """Return softmax(q · k / √d) over the unmasked keys; NaN where masked."""
    scores = np.where(mask, q @ k.T / np.sqrt(q.shape[-1]), -np.inf)
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    softmax: NDArray[Any] = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return np.where(mask, softmax, np.nan)


@pytest.mark.parametrize("block", ["encoder", "decoder"])
def test_plotted_numbers_and_pixels_are_softmax_of_q_and_k(
    workspace: Workspace, block: str
) -> None:
    workspace.open(source=SENTENCE, target=TARGET, block=block, layer=1, head=HEAD)
    plotted, axes = workspace.figure()
    parts = trace(workspace.url, PLACES[block])
    expected = weights(parts["q"][HEAD], parts["k"][HEAD], parts["mask"])
    np.testing.assert_allclose(plotted, expected, atol=1e-5)
    assert [name for name, _ in axes] == ["query (looks)", "key (looked at)"]
    assert [len(labels) for _, labels in axes] == list(expected.shape)
    # The highlighted row and the pointer's marks cover cells; the corners of cells have no numbers.
    cells = np.argwhere(~np.isnan(expected))
    sampled = cells[:: max(1, len(cells) // 24)]
    points = [workspace.cell(row, col, 0.2, 0.2) for row, col in sampled.tolist()]
    for (row, col), colour in zip(sampled, workspace.pixels(points), strict=True):
        assert colour == pytest.approx(shade(float(expected[row, col])), abs=2), (row, col)
    if block == "encoder":
        return
    line = [workspace.cell(0, 5, across / 40) for across in range(3, 37)]
    tones = set(workspace.pixels(line))
    assert PAPER in tones, "hatching leaves paper between its lines"
    assert len(tones) > 1, "hatching has lines"
    workspace.page.mouse.move(*workspace.cell(0, 5))
    assert workspace.find(".tip").inner_text().endswith("masked")


# The texts on the canvas of a chart, by position.
WRITTEN = """(() => {
    window.written = {};
    const { fillText } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
        if (this.canvas.closest(".chart")) window.written[`${x} ${y}`] = text;
        fillText.call(this, text, x, y);
    };
})()"""


def test_tooltip_has_four_decimals_and_cells_have_two(workspace: Workspace) -> None:
    workspace.page.add_init_script(WRITTEN)
    workspace.load(source=SENTENCE, target=TARGET, block="cross", layer=1, head=HEAD)
    plotted, _ = workspace.figure()
    workspace.page.mouse.move(*workspace.cell(3, 2))
    assert workspace.find(".tip b").inner_text() == f"{plotted[3, 2]:.4f}"
    written = workspace.page.evaluate("written")
    at = [[*map(float, point.split())][::-1] for point in written]
    in_order = [text for _, text in sorted(zip(at, written.values(), strict=True))]
    # A cell that would show 0.00 is empty.
    assert in_order == [f"{value:.2f}" for value in plotted.flat if value >= 0.005]


def test_the_inspector_works_the_weight_out_step_by_step(workspace: Workspace) -> None:
    """The calculation is stepped with the slider, and plays by itself."""
    workspace.open(
        source=SENTENCE, target=TARGET, block="cross", layer=1, head=HEAD, query=3, key=2
    )
    parts = trace(workspace.url, PLACES["cross"])
    q, k = parts["q"][HEAD], parts["k"][HEAD]
    scores = q[3] @ k.T / np.sqrt(q.shape[-1])
    order = np.argsort(-scores)[:5]
    powers = np.exp(scores - scores.max())
    workspace.find("#working sup").first.wait_for(state="attached")
    text = workspace.find("#working").inner_text().replace("−", "-")
    for number in (q[3] @ k[2], scores[2], (powers / powers.sum())[2]):
        near = [f"{number + by:.4f}" in text for by in (-1e-4, 0, 1e-4)]
        assert any(near), (number, text)  # its last digit may be rounded differently
    slider = workspace.find(".calculation input")
    says = workspace.find(".calculation .says")
    wanted = [scores, scores - scores.max(), powers, powers / powers.sum()]
    for step, values in enumerate(wanted):
        slider.fill(str(step))
        expect(says).to_contain_text(f"{step + 1}. ")
        printed = [text.split("\n")[-1] for text in workspace.find("#row li").all_inner_texts()]
        close = 6e-3 if step == 3 else 2e-4
        for text, key in zip(printed, order, strict=False):
            assert read(text) == pytest.approx(values[key], rel=0.06, abs=close), (step, key)
    slider.fill("0")
    workspace.find(".calculation button").click()
    expect(workspace.find("#row")).to_have_attribute("data-step", "weight")
    expect(workspace.find(".calculation button")).to_contain_text("Calculate")
    slider.fill("1")
    workspace.page.keyboard.press("Escape")
    workspace.page.mouse.click(*workspace.cell(5, 1))
    expect(workspace.find("#row")).to_have_attribute("data-step", "weight")


def test_softmax_is_shown_as_computed_in_every_row_of_the_opening(workspace: Workspace) -> None:
    """The row's maximum is subtracted first, so that no exponential is too large to print."""
    workspace.load()
    workspace.find("#working sup").first.wait_for(state="attached")
    rows = workspace.figure()[0].shape[0]
    workspace.find("#view .matrix").focus()
    for _ in range(rows):
        workspace.page.keyboard.press("ArrowUp")
    for row in range(rows):
        lines = workspace.find("#working > div").all_inner_texts()
        said = dict(line.split("\n", 1) for line in lines)
        score, largest, shifted = numbers(said["score − max"])
        assert score - largest == pytest.approx(shifted, abs=2e-4), row
        power, total = numbers(said["softmax"])
        assert power == pytest.approx(np.exp(shifted), rel=0.05, abs=1e-4), row
        assert largest >= score, row
        assert total >= 1, row
        assert read(said["weight"]) == pytest.approx(power / total, rel=0.05, abs=1e-4), row
        every = [abs(number) for line in said.values() for number in numbers(line)]
        assert max(every) < 1000, "moderate numbers"
        workspace.page.keyboard.press("ArrowDown")


def shade(value: float) -> tuple[float, ...]:
    """The colour of a weight: in OKLab from paper to violet, small ones lifted, with a bloom."""
    start, end = oklab(PAPER), oklab(VIOLET)
    step = value * 16
    low = min(int(step), 15)
    stops = [srgb(stop(start, end, (at / 16) ** 0.65)) for at in (low, low + 1)]
    return tuple(stops[0] + (stops[1] - stops[0]) * (step - low))


def stop(start: NDArray[Any], end: NDArray[Any], at: float) -> NDArray[Any]:
    hue = end[1:] / np.hypot(*end[1:])
    bloom = 0.045 * np.sin(np.pi * at) * np.array([0.0, *hue])
    mixed: NDArray[Any] = start + (end - start) * at + bloom
    return mixed


# Ottosson's matrices: linear sRGB to cone responses, and their cube roots to L, a, b.
CONES = np.array([
    [0.4122214708, 0.5363325363, 0.0514459929],
    [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
])  # fmt: skip
LAB = np.array([
    [0.2104542553, 0.7936177850, -0.0040720468],
    [1.9779984951, -2.4285922050, 0.4505937099],
    [0.0259040371, 0.7827717662, -0.8086757660],
])  # fmt: skip


def oklab(colour: tuple[int, int, int]) -> NDArray[Any]:
    coded = np.array(colour) / 255
    linear = np.where(coded <= 0.04045, coded / 12.92, ((coded + 0.055) / 1.055) ** 2.4)
    lab: NDArray[Any] = LAB @ np.cbrt(CONES @ linear)
    return lab


def srgb(lab: NDArray[Any]) -> NDArray[Any]:
    linear = np.linalg.inv(CONES) @ (np.linalg.inv(LAB) @ lab) ** 3
    coded = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    rounded: NDArray[Any] = np.round(np.clip(coded, 0, 1) * 255)
    return rounded
