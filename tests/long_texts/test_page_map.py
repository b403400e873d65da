"""The map of a long text: pooled weights that become sharp, moved and zoomed."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browsing.workspace import Workspace
from tests.long_texts.reading import (
    CELL,
    LIMIT,
    SHARP,
    TEXT,
    Run,
    about,
    hover,
    number,
    opened,
    sharp,
    window,
)


def test_all_of_it_is_shown_pooled_and_says_so(there: Workspace, run: Run) -> None:
    assert 300 < run.tokens < LIMIT
    page = opened(there, query=100)
    assert window(page) == [[0, run.tokens], [0, run.tokens]]
    expect(page.locator("#source-tokens")).to_have_text(f"{run.tokens} tokens")
    side = 2 ** int(page.locator(".long-map").get_attribute("data-level") or 0)
    assert side > 1
    expect(page.locator(".long .notes")).to_contain_text(f"largest of {side} × {side} weights")
    for row, col in [(200, 100), (402, 16), (300, 292)]:
        rows, cols = row // side * side, col // side * side
        expected = run.weights[rows : rows + side, cols : cols + side].max()
        said = hover(page, row, col)
        assert f"largest of {side} × {side}" in said
        assert number(said) == about(expected)
    assert "masked" in hover(page, 50, 400)


def test_a_window_of_the_link_is_sharp_and_keys_move_the_cell_and_zoom(
    there: Workspace, run: Run
) -> None:
    page = opened(there, queries="200-220", keys="180-200", query=210, key=190)
    page.locator(".long-map").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    assert (there.link["query"], there.link["key"]) == ("211", "191")
    expect(page.locator("#announce")).to_contain_text("query")
    expect(page.locator("#announce")).to_contain_text("212")
    page.keyboard.press("Home")
    assert there.link["key"] == "0"
    page.keyboard.press("End")
    assert there.link["key"] == str(run.tokens - 1)
    expect(page.locator("#announce")).to_contain_text("masked")
    page.keyboard.press("0")
    page.wait_for_function("() => !location.search.includes('queries=')")
    page.keyboard.press("+")
    page.wait_for_function("() => location.search.includes('queries=')")
    page.keyboard.press("Escape")
    assert "query" not in there.link
    page = opened(there, queries="200-220", keys="180-210", query=210, key=190)
    (top, bottom), (left, right) = window(page)
    assert max(top - 200, 220 - bottom, left - 180, 210 - right) <= 0
    assert bottom - top < 60
    for row, col in [(205, 185), (215, 200), (210, 190)]:
        said = hover(page, row, col)
        assert number(said) == about(run.weights[row, col])
        assert {f"{row + 1}", f"{col + 1}"} <= {*re.findall(r"\d+", said)}
    expect(page.locator(".long .notes")).to_have_text("Each cell is one weight.")
    page.locator(".zooms button", has_text="All").click()
    page.wait_for_function("() => !location.search.includes('queries=')")
    assert window(page) == [[0, run.tokens], [0, run.tokens]]
    page.locator(".zooms button").first.click()
    page.wait_for_function("() => location.search.includes('queries=')")
    sharp(page)
    zoomed = window(page)
    page.reload()
    sharp(page)
    # The link counts whole tokens, and the window then keeps the shape of the map.
    assert np.abs(np.array(window(page)) - zoomed).max() <= 4


def test_two_fingers_zoom_and_one_moves(there: Workspace) -> None:
    page = opened(there)
    fingers = page.context.new_cdp_session(page)
    fingers.send("Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 2})
    x, y = page.evaluate(CELL, [400, 400])

    def touch(kind: str, *places: tuple[float, float]) -> None:
        points = [{"x": x + dx, "y": y + dy, "id": i} for i, (dx, dy) in enumerate(places)]
        fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    scale = page.evaluate("document.querySelector('.long-map').picture.wide")
    touch("touchStart", (-20, 0), (20, 0))
    for apart in (30, 40, 60, 80):
        touch("touchMove", (-apart, 0), (apart, 0))
    touch("touchEnd")
    page.wait_for_selector(SHARP)
    now = page.evaluate("document.querySelector('.long-map').picture.wide")
    # The small map that comes beside it takes some of its width.
    assert now == pytest.approx(4 * scale, rel=0.15)
    before = window(page)
    touch("touchStart", (0, 0))
    for way in (10, 40, 80):
        touch("touchMove", (-way, -way))
    touch("touchEnd")
    page.wait_for_selector(SHARP)
    assert np.all(np.array(window(page)) > np.array(before))
    fingers.send("Emulation.setTouchEmulationEnabled", {"enabled": False})
    assert "query" not in there.link


def test_a_cell_can_be_a_sentence(there: Workspace, run: Run) -> None:
    page = opened(there, level="sentences")
    starts = [match.start() for match in re.finditer(r"(?<=[.!?])\s+(?=[A-Z])", TEXT)]
    middles = [(start + max(start, end - 1)) / 2 for start, end in run.spans]
    # White space belongs to the sentence before it.
    begins = [0, *[start + len(re.match(r"\s+", TEXT[start:])[0]) for start in starts]]  # type: ignore[index]
    of = np.searchsorted(begins, middles, side="right") - 1
    edges = [*np.searchsorted(of, range(len(begins))), run.tokens]
    assert window(page) == [[0, 48], [0, 48]]
    for row, col in [(10, 3), (20, 20), (23, 0)]:
        rows, cols = slice(edges[row], edges[row + 1]), slice(edges[col], edges[col + 1])
        expected = run.weights[rows, cols].sum(1).mean()
        assert number(hover(page, row, col)) == about(expected)
    expect(page.locator(".long .notes")).to_contain_text("summed over the column's tokens")
    page.locator(".ranges label", has_text="a paragraph").click()
    page.wait_for_selector(SHARP)
    assert window(page) == [[0, 12], [0, 12]]
