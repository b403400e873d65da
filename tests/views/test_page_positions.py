"""Positions as drawn, against the paper's formulas; shuffled sentences against the API."""

import re
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import expect

from tests.browsing import api
from tests.browsing.workspace import Workspace

START: dict[str, Any] = {
    "source": "The dog is tired, so it sleeps.", "target": "这只狗很累。",
    "view": "positions", "block": "encoder", "layer": 1, "head": 2,
}  # fmt: skip
DOTS = """(curve) => [...curve.querySelectorAll("circle")].map((dot) =>
    Number(dot.getAttribute("cy")))"""
# Room above and below the curves of line-chart.js.
TOP, BOTTOM = 12, 44


def encoding(length: int, width: int) -> NDArray[Any]:
    """Return the encoding of section 3.5: even features are sines, odd ones cosines."""
    angle = np.arange(length)[:, None] / 10000 ** (2 * (np.arange(width) // 2) / width)
    return np.where(np.arange(width) % 2, np.cos(angle), np.sin(angle))


def heights(workspace: Workspace, low: float, high: float) -> list[NDArray[Any]]:
    """Return the values of every curve, from the positions of its dots."""
    svg = workspace.find(".curves svg")
    height = float(svg.get_attribute("height") or 0)
    curves = workspace.find(".curves [data-curve]")
    return [
        high
        - (np.array(curves.nth(i).evaluate(DOTS)) - TOP) / (height - TOP - BOTTOM) * (high - low)
        for i in range(curves.count())
    ]


def rotation(workspace: Workspace, **link: object) -> None:
    """Open the rotation, which has no chart to wait for."""
    workspace.go(**{**START, **link, "part": "turn"})
    workspace.find(".clock svg").wait_for()


def settle(workspace: Workspace, count: int) -> list[NDArray[Any]]:
    """Return all matrices, once `count` are drawn."""
    expect(workspace.find("#view .chart[data-drawn]")).to_have_count(count)
    return [chart.values for chart in workspace.charts()]


def test_tables_of_any_size_and_how_alike_their_rows_are(workspace: Workspace) -> None:
    length, width, dims = 7, 9, [0, 3, 7]
    workspace.open(**START, length=length, width=width, dims=",".join(map(str, dims)))
    [drawn] = settle(workspace, 1)
    table = encoding(length, width)
    np.testing.assert_allclose(drawn, np.hstack([table[:, ::2], table[:, 1::2]]), atol=1e-5)
    for dim, values in zip(dims, heights(workspace, -1, 1), strict=True):
        np.testing.assert_allclose(values, table[:, dim], atol=0.002)
        wave = 2 * np.pi * 10000 ** (2 * (dim // 2) / width)
        name = f"{wave:.1f}" if wave < 100 else f"{round(wave):,}"
        expect(workspace.find(".curves")).to_contain_text(f"{dim}: λ {name}")
    width = 128
    workspace.open(**START, part="likeness", measure="dot", length=24, width=width)
    [drawn] = settle(workspace, 1)
    table = encoding(24, width)
    expected = table @ table.T
    np.testing.assert_allclose(drawn, expected, atol=1e-5 * width)
    decay = np.array([np.diagonal(expected, distance).mean() for distance in range(24)])
    [curve] = heights(workspace, min(0, float(decay.min())), width / 2)
    np.testing.assert_allclose(curve, decay, atol=0.001 * width)
    expect(workspace.find("#caption")).to_contain_text("depends only on the distance")


def test_a_shift_of_positions_is_a_rotation(workspace: Workspace) -> None:
    at, by, pair, width = 3, 5, 2, 32
    rotation(workspace, length=20, width=width, at=at, by=by, pair=pair)
    verdict = workspace.find("#caption")
    expect(verdict).to_contain_text(f"PE(pos + {by}) is a rotation of PE(pos)")
    expect(verdict).to_contain_text(f"over {(20 - by) * width} numbers")
    assert re.search(r"difference [\d.]+ · 10⁻([⁷⁸⁹]|¹.)", verdict.inner_text())
    omega = 10000 ** (-2 * pair / width)
    cos, sin = np.cos(by * omega), np.sin(by * omega)
    before, after = encoding(20, width)[[at, at + by], 2 * pair : 2 * pair + 2]
    text = workspace.find(".equation").inner_text().replace("−", "-")
    printed = [float(number) for number in re.findall(r"-?\d\.\d{4}", text)]
    wanted = [cos, sin, -sin, cos, *before, *after, *after]
    np.testing.assert_allclose(printed, wanted, atol=1e-4)
    # Sliders move the hand and the link.
    slider = workspace.find(".turn input[type=range]").nth(1)
    slider.fill("4")
    assert workspace.link["by"] == "4"
    expect(workspace.find("#caption")).to_contain_text("PE(pos + 4)")
    workspace.find(".clocks [data-pair]").nth(3).click()
    assert int(workspace.link["pair"]) > 0


def test_a_size_that_cannot_be_says_its_limit(workspace: Workspace, watch: Any) -> None:
    watch.expect("422")
    workspace.open(**START)
    length = workspace.find(".positions input[type=number]").first
    for wrong in ("5000", "0"):
        length.fill(wrong)
        length.press("Enter")
        expect(workspace.find(".positions .bad").first).to_have_text(
            "The length must be from 1 to 1024."
        )
    length.fill("6")
    length.press("Enter")
    expect(workspace.find(".positions > .bad")).to_be_hidden()
    expect(workspace.find(".matrix .rows .label")).to_have_count(6)
    workspace.page.locator(".positions button", has_text="reset").first.click()
    assert "length" not in workspace.link
    features = workspace.find(".positions input[type=text]")
    features.fill("0, 999")
    features.press("Enter")
    expect(workspace.find("[role=status].bad")).to_have_text(
        "Features must be whole numbers from 0 to 255."
    )


def weights(url: str, source: str, *, positions: bool) -> tuple[list[str], NDArray[Any]]:
    """Return a sentence's tokens, and the head's weights."""
    name = "encoder.1.self.weights"
    drop = [] if positions else [{"at": "source.position", "do": "drop"}]
    reply = api.trace(url, name, source=source, target="一", interventions=drop)
    tokens = [token["text"].strip() for token in reply["tokens"]["source"]]
    return tokens, api.arrays(reply)[name][START["head"]]


def test_shuffled_words_are_noticed_with_positions_only(workspace: Workspace) -> None:
    workspace.open(**START, part="shuffle", seed=3)
    drawn = settle(workspace, 6)
    shuffled = workspace.find(".shuffled span").inner_text()
    assert sorted(shuffled) == sorted(START["source"])
    assert shuffled != START["source"]
    printed = workspace.find(".shuffle .result b").all_inner_texts()
    for row, positions in enumerate((True, False)):
        tokens, before = weights(workspace.url, START["source"], positions=positions)
        others, after = weights(workspace.url, shuffled, positions=positions)
        order = [others.index(token) for token in tokens]  # no word occurs twice
        back = after[np.ix_(order, order)]
        for panel, expected in enumerate((before, back, before - back)):
            np.testing.assert_allclose(drawn[3 * row + panel], expected, atol=2e-5)
        largest = np.abs(before - back).max()
        assert positions == (largest > 0.01)
        said = printed[row]
        assert float(said) == pytest.approx(largest, abs=1e-4) if positions else "10⁻" in said


def test_another_order_is_another_link(workspace: Workspace) -> None:
    workspace.open(**START, part="shuffle")
    settle(workspace, 6)
    first = workspace.find(".shuffled span").inner_text()
    workspace.page.locator(".shuffle button", has_text="Shuffle again").click()
    second = workspace.find(".shuffled span").inner_text()
    assert (workspace.link["seed"], first == second) == ("2", False)
    workspace.page.reload()
    settle(workspace, 6)
    assert workspace.find(".shuffled span").inner_text() == second
    workspace.page.go_back()
    expect(workspace.find(".shuffled span")).to_have_text(first)
    # One word cannot be shuffled.
    workspace.page.goto(f"{workspace.url}/?view=positions&part=shuffle&source=Hello!&target=好")
    expect(workspace.find(".shuffle .note")).to_contain_text("no two words")
    expect(workspace.page.locator(".shuffle button", has_text="Shuffle again")).to_be_disabled()


def test_tokens_with_their_nearest_rows_and_the_sum_with_the_position(workspace: Workspace) -> None:
    sentence = "I drink tea, not coffee."
    workspace.open(source=sentence, view="positions", part="tokens", block="encoder", query=3)
    [drawn] = settle(workspace, 1)
    names = [f"source.{part}" for part in ("embedding", "position", "input")]
    trace = api.trace(workspace.url, "inside.nearest.*", *names, source=sentence)
    tensors = api.arrays(trace)
    parts = [tensors[name][3] for name in names]
    np.testing.assert_allclose(drawn, parts, atol=1e-5)
    np.testing.assert_allclose(parts[0] + parts[1], parts[2], atol=1e-5)
    # The token is there once.
    expect(workspace.find(".written-out tbody tr")).to_have_count(3)
    tokens = trace["tokens"]["source"]
    rows = workspace.find(".nearest tbody tr")
    expect(rows).to_have_count(len(tokens))
    for i, token in enumerate(tokens):
        near = trace["pieces"][str(int(tensors["inside.nearest.candidates"][i, 0]))]["text"]
        cosine = f"{tensors['inside.nearest.cosines'][i, 0]:.2f}"
        expect(rows.nth(i)).to_contain_text(str(token["id"]))
        expect(rows.nth(i).locator("td").nth(1)).to_contain_text(near.strip())
        expect(rows.nth(i).locator(".cosine").first).to_have_text(cosine)
    expect(workspace.find(".finding")).to_contain_text("tea is row")
    expect(workspace.find(".finding")).to_contain_text("coffee")
    rows.nth(2).get_by_role("button").click()
    expect(rows.nth(2)).to_have_attribute("data-selected", "")
    expect(workspace.find(".finding")).to_contain_text("drink is row")
    assert "query=2" in workspace.page.url


def test_a_token_at_two_places_has_one_row_and_two_sums(workspace: Workspace) -> None:
    sentence = "The old dog and the young dog are tired."
    workspace.open(source=sentence, view="positions", part="tokens", block="encoder", query=3)
    settle(workspace, 1)
    names = [f"source.{part}" for part in ("embedding", "position", "input")]
    trace = api.trace(workspace.url, *names, source=sentence)
    row, place, total = (api.arrays(trace)[name] for name in names)
    lines = [row[3], place[3], total[3], place[7], total[7]]
    written = workspace.find(".written-out tbody tr")
    assert [one.locator("td").all_text_contents() for one in written.all()] == [
        [f"{value:.2f}".replace("-", "−") for value in line[:6]] for line in lines
    ]
    selected = [one.get_attribute("data-selected") for one in written.all()]
    assert selected == [None, "", "", None, None]
