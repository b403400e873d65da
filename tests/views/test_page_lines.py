"""Lines between tokens: each compared with its weight from the API, and how heads differ."""

import re
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import expect

from tests.browsing import api
from tests.browsing.legible import overflow
from tests.browsing.printed import two
from tests.browsing.workspace import Workspace

SENTENCE = "My mother bought a new book yesterday."
TARGET = "我妈妈昨天买了一本新书。"
START: dict[str, Any] = {
    "view": "lines", "source": SENTENCE, "target": TARGET, "block": "cross", "layer": 1, "head": 2
}  # fmt: skip
ALL = "0,1,2,3,4,5,6,7"
# [head, query, key, opacity, colour, dash] of each line of a group.
LINES = """(group) => {
    const lines = document.querySelectorAll(`.weave ${group} [data-strand]`);
    return [...lines].map((line) => [
        ...line.dataset.strand.split(" ").map(Number),
        Number(line.getAttribute("stroke-opacity")),
        line.getAttribute("stroke"),
        line.getAttribute("stroke-dasharray"),
    ]);
}"""
NUMBERS = """(side) => [...document.querySelectorAll(`[data-end^="${side} "]`)]
    .map((end) => end.querySelector(".weight")?.textContent ?? null)"""

Cell = tuple[int, int, int]


def heads(url: str, place: str = "decoder.1.cross") -> NDArray[Any]:
    """Return weights (head, query, key), 0 where masked."""
    name = f"{place}.weights"
    return api.tensors(url, name, source=SENTENCE, target=TARGET)[name]


def opened(workspace: Workspace, **link: str | int) -> None:
    workspace.go(**{**START, **link})
    workspace.find(".weave svg").wait_for()
    workspace.settled()


def drawn(workspace: Workspace, group: str = ".fibres") -> dict[Cell, list[Any]]:
    """Return the lines by head, query and key."""
    return {
        (head, query, key): rest
        for head, query, key, *rest in workspace.page.evaluate(LINES, group)
    }


def above(found: NDArray[Any], least: float) -> set[Cell]:
    return {(int(h), int(q), int(k)) for h, q, k in np.argwhere(found >= least)}


def test_each_line_is_a_weight(workspace: Workspace) -> None:
    opened(workspace, block="decoder", heads=ALL)
    found = heads(workspace.url, "decoder.1.self")
    lines = drawn(workspace)
    # A weight at the threshold may fall on either side.
    assert above(found, 0.1001) <= set(lines) <= above(found, 0.0999)
    for cell, (opacity, *_) in lines.items():
        assert opacity == pytest.approx(0.15 + 0.8 * found[cell], abs=0.006)
    expect(workspace.find('[data-end="query 0"]')).to_have_text("<bos> → 我")
    expect(workspace.find('[data-end="key 1"]')).to_have_text("我")


def test_a_head_has_one_colour_and_one_stroke_and_goes_on_and_off(workspace: Workspace) -> None:
    """Up to four heads also differ by their strokes; more dash patterns look alike."""
    for chosen in ("0,1,2,3", ALL):
        opened(workspace, heads=chosen, least=0)
        looks: dict[int, set[tuple[str, str | None]]] = {}
        for (head, _, _), (_, colour, dash) in drawn(workspace).items():
            looks.setdefault(head, set()).add((colour, dash))
        shown = [int(head) for head in chosen.split(",")]
        assert sorted(looks) == shown
        assert all(len(look) == 1 for look in looks.values())
        colours, strokes = zip(*(next(iter(looks[head])) for head in shown), strict=True)
        assert len({*colours}) == len(shown)
        assert len({*strokes}) == (len(shown) if len(shown) <= 4 else 1)
    threads = workspace.find(".thread")
    expect(threads).to_have_count(8)
    threads.nth(5).click()
    assert workspace.link["heads"] == "0,1,2,3,4,6,7"
    assert {head for head, *_ in drawn(workspace)} == {0, 1, 2, 3, 4, 6, 7}
    expect(threads.nth(5)).to_have_attribute("aria-pressed", "false")
    threads.nth(4).dblclick()
    assert "heads" not in workspace.link
    assert workspace.link["head"] == "4"
    assert {head for head, *_ in drawn(workspace)} == {4}, "without a choice, the present head"
    expect(workspace.find("#caption")).to_contain_text("head 5")
    buttons = workspace.find(".sets button")
    expect(buttons).to_have_text(["all", "none", "only 5"])
    buttons.nth(1).click()
    assert not drawn(workspace)
    expect(workspace.find(".weaving .note")).to_have_text("Select at least one head. ")
    buttons.nth(0).click()
    assert workspace.link["heads"] == ALL
    buttons.nth(2).click()
    assert "heads" not in workspace.link
    assert {head for head, *_ in drawn(workspace)} == {4}


def test_what_the_threshold_hides_is_said(workspace: Workspace) -> None:
    opened(workspace, heads=ALL, least=30)
    found = heads(workspace.url)
    hidden = found[found < 0.3]
    expect(workspace.find(".weaving .note")).to_have_text(
        f"{hidden.size} pairs below 0.30 have no line; "
        f"they have {hidden.sum() / found.sum():.2f} of the weight."
    )
    workspace.find(".slider input").fill("0")
    assert workspace.link["least"] == "0"
    assert len(drawn(workspace)) == len(above(found, 1e-30))


def test_a_token_of_either_side_has_its_lines_alone_and_pins_them(workspace: Workspace) -> None:
    opened(workspace, heads=ALL)
    all_lines = set(drawn(workspace))
    for side, index, axis in (("query", 3, 1), ("key", 5, 2)):
        workspace.find(f'[data-end="{side} {index}"]').hover()
        alone = set(drawn(workspace, ".fibres:not(.faint)"))
        assert alone == {cell for cell in all_lines if cell[axis] == index}
        assert set(drawn(workspace, ".faint")) == all_lines
        expect(workspace.find(".end.lit")).to_have_count(1)
    workspace.page.mouse.move(5, 5)
    expect(workspace.find(".faint")).to_have_count(0)
    workspace.find('[data-end="query 3"]').click()
    workspace.page.mouse.move(5, 5)
    assert workspace.link["query"] == "3"
    assert {query for _, query, _ in drawn(workspace, ".fibres:not(.faint)")} == {3}
    workspace.find(".weave").focus()
    workspace.page.keyboard.press("ArrowDown")
    assert workspace.link["query"] == "4"
    expect(workspace.find("#announce")).to_have_text(re.compile(r"→ .+: most to .+, 0\.\d{4}"))
    workspace.page.keyboard.press("ArrowRight")
    assert workspace.link["query"] == "4"
    assert "key" in workspace.link
    workspace.page.keyboard.press("Escape")
    assert "query" not in workspace.link
    expect(workspace.find(".faint")).to_have_count(0)


def test_numbers_are_the_mean_of_the_heads_that_are_on(workspace: Workspace) -> None:
    opened(workspace, heads="1,6", head=1, numbers=1)
    mean = heads(workspace.url)[[1, 6]].mean(0)
    assert workspace.page.evaluate(NUMBERS, "query") == [two(value) for value in mean.max(-1)]
    assert set(workspace.page.evaluate(NUMBERS, "key")) == {None}
    workspace.find('[data-end="query 2"]').hover()
    assert workspace.page.evaluate(NUMBERS, "key") == [two(value) for value in mean[2]]
    workspace.find('[data-end="key 4"]').hover()
    assert workspace.page.evaluate(NUMBERS, "query") == [two(value) for value in mean[:, 4]]
    expect(workspace.find(".weaving .note")).to_contain_text("mean of 2 heads")
    workspace.page.set_viewport_size({"width": 320, "height": 844})
    workspace.settled()
    assert not overflow(workspace.page, 320), "a phone has room for it"
    (box,) = workspace.boxes(".weave svg")
    assert box["x"] + box["width"] <= 320


def test_a_long_sentence_is_drawn_with_its_strongest_lines(workspace: Workspace) -> None:
    words = "The old man and his dog walk to the small river near the house every morning and "
    opened(workspace, source=words * 7 + "sleep.", block="encoder", least=0)
    assert len(workspace.find('[data-end^="query"]').all()) > 110
    assert len(drawn(workspace)) == 1200
    expect(workspace.find(".weaving .note")).to_contain_text("The 1200 strongest lines are shown")
