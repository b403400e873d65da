"""The contrast in the view inside: the numbers of the page, and what they cost to show."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browsing.axe import violations
from tests.browsing.legible import SMALL_LABELS, overflow
from tests.browsing.workspace import Workspace
from tests.pages.test_page_access import SMALL_TARGETS
from tests.views.test_page_inside import LAYERS, ROW, START, drawn, number, shows_parts, told
from tests.workspace.test_page_requests import posts

CONTRAST: dict[str, Any] = {**START, "contrast": "runner-up"}
ODDS = """() => [...document.querySelectorAll(".lens tbody .odds")].map((one) => one.textContent)"""
BOX = ".contrast-choice input"
MENU = ".contrast-choice select"


def begin(workspace: Workspace, **link: object) -> None:
    workspace.open(**{**CONTRAST, **link})
    drawn(workspace)


def test_heads_parts_and_the_lens_are_of_the_difference_of_the_logits(workspace: Workspace) -> None:
    prefix = "inside.contrast.runner-up"
    begin(workspace)
    difference = shows_parts(workspace, prefix)
    tensors, written = told(workspace.url, f"{prefix}.*")
    logits = tensors["decoder.logits"][ROW]
    mine, other = logits[written[ROW]], np.delete(logits, written[ROW]).max()
    assert difference == pytest.approx(mine - other, abs=1e-4)
    said = workspace.find(".balance").inner_text().replace("−", "-")
    for value in (mine, other, difference):
        assert f"{value:.4f}" in said
    odds = [number(text) for text in workspace.page.evaluate(ODDS)]
    assert len(odds) == LAYERS
    assert odds == pytest.approx(tensors[f"{prefix}.lens"][:, ROW], abs=0.0051)
    gradient = f"{prefix}.{ROW}.decoder.1.cross"
    slopes = told(workspace.url, gradient)[0][gradient][START["head"]]
    np.testing.assert_allclose(workspace.charts(".of-slopes")[1].values, slopes, atol=1e-5)
    assert "rather than" in workspace.find(".of-slopes h4").nth(1).inner_text()


def test_it_is_off_until_asked_for_and_pins_its_row(workspace: Workspace) -> None:
    workspace.open(**{key: value for key, value in START.items() if key != "query"})
    drawn(workspace)
    title, options = workspace.find(".of-heads h3"), workspace.find(f"{MENU} option")
    assert not workspace.find(BOX).is_checked()
    expect(title).to_have_text("What each head adds to the logit")
    second = options.nth(1).get_attribute("value")
    workspace.find(BOX).check()
    expect(title).to_have_text("What each head adds to the log-odds")
    assert workspace.link["contrast"] == "runner-up"
    pinned = workspace.link["query"]
    workspace.find(MENU).select_option(second)
    name = workspace.find(".lens thead .odds .token").nth(1)
    expect(name).to_have_text(options.nth(1).inner_text())
    assert (workspace.link["contrast"], workspace.link["query"]) == (second, pinned)
    workspace.find(BOX).uncheck()
    expect(title).to_have_text("What each head adds to the logit")
    assert "contrast" not in workspace.link
    expect(workspace.find(".lens .odds")).to_have_count(0)
    # A token is not contrasted with itself.
    mine = told(workspace.url)[1][ROW]
    begin(workspace, contrast=mine)
    expect(workspace.find(".contrast-choice .note")).to_contain_text("writes the same token")
    expect(title).to_have_text("What each head adds to the logit")
    assert workspace.find(MENU).input_value() == str(mine)


def test_it_asks_once_and_only_for_what_is_missing(workspace: Workspace) -> None:
    workspace.load(**START)
    workspace.settled()
    asked = posts(workspace)
    workspace.find(BOX).check()
    expect(workspace.find(".of-heads h3")).to_have_text("What each head adds to the log-odds")
    workspace.settled()
    assert len(asked) == 1
    assert "inside.logit.self" not in asked[0], "it is there already"
    free: list[Callable[[], object]] = [
        lambda: workspace.find("#heads label").nth(5).click(),  # another head of the layer
        lambda: workspace.find("#target-tokens .token").nth(1).hover(),  # another row
        lambda: workspace.find(BOX).uncheck(),
        lambda: workspace.find(BOX).check(),
    ]
    for there in free:
        asked.clear()
        there()
        workspace.settled()
        assert asked == []
    workspace.place("cross", 2)
    workspace.settled()
    assert len(asked) == 1, "another layer"
    asked.clear()
    workspace.find("#source").fill("A dog sleeps.")
    workspace.find("#source").press("Enter")
    workspace.says("A dog sleeps.")
    drawn(workspace)
    workspace.settled()
    assert len(asked) == 1, "another sentence"
    expect(workspace.find(".of-heads h3")).to_have_text("What each head adds to the log-odds")
    expect(workspace.find(".of-slopes > .note")).to_contain_text("speaks for")
    asked.clear()
    workspace.page.keyboard.press("Escape")
    expect(workspace.find(".of-slopes > .note")).to_contain_text("Pin a row")
    workspace.settled()
    assert len(asked) == 1, "the gradient of the whole output"


def test_a_link_is_one_request_and_its_share_has_the_gradient(workspace: Workspace) -> None:
    asked = posts(workspace)
    workspace.load(**CONTRAST)
    drawn(workspace)
    workspace.settled()
    assert len(asked) == 1
    shown = (".lens", ".head-sums", ".balance", ".of-slopes .says", ".contrast-choice")
    seen = [workspace.find(place).inner_text() for place in shown]
    slopes = workspace.charts(".of-slopes")[1].values
    link = workspace.share()
    traces: list[str] = []
    workspace.page.on("request", lambda request: traces.append(request.url))
    workspace.page.goto(f"{workspace.url}/s/{link.rpartition('/')[2]}")
    drawn(workspace)
    assert [workspace.find(place).inner_text() for place in shown] == seen
    np.testing.assert_array_equal(workspace.charts(".of-slopes")[1].values, slopes)
    assert not [url for url in traces if url.endswith("/api/trace")]


def test_it_can_be_read_at_every_width_in_chinese_and_on_paper(workspace: Workspace) -> None:
    begin(workspace, lang="zh")
    expect(workspace.find(".contrast-choice")).to_contain_text("而不是")
    expect(workspace.find(".of-heads h3")).to_have_text("每个头为对数几率贡献多少")
    for width in (1440, 320):
        workspace.page.set_viewport_size({"width": width, "height": 844})
        workspace.settled()
        assert violations(workspace.page) == []
        assert workspace.page.evaluate(SMALL_TARGETS) == []
        assert workspace.page.evaluate(SMALL_LABELS) == []
        assert not overflow(workspace.page, width)
    workspace.page.emulate_media(media="print")
    workspace.page.set_viewport_size({"width": 700, "height": 990})  # A4
    workspace.settled()
    cut = """() => [...document.querySelectorAll(".inside .scroller")]
        .filter((one) => one.scrollWidth > one.clientWidth + 1)
        .map((one) => one.ariaLabel ?? one.className)"""
    assert workspace.page.evaluate(cut) == []
    expect(workspace.find(MENU)).to_be_visible()
