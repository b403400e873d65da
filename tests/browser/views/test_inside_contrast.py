"""The contrast in the view inside: the numbers of the page, and what they cost to show."""

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.axe import violations
from tests.browser.legible import SMALL_LABELS, overflow
from tests.browser.test_access import SMALL_TARGETS
from tests.browser.test_export import save
from tests.browser.test_requests import posts
from tests.browser.views.test_inside import (
    BUTTONS,
    HEADS,
    LAYERS,
    LEDGER,
    START,
    Array,
    ask,
    drawn,
    number,
    of_head,
    parameters,
    places,
    stream,
)
from tests.browser.workspace import Workspace

ROW = START["query"]
CONTRAST: dict[str, Any] = {**START, "contrast": "runner-up"}
ODDS = """() => [...document.querySelectorAll(".lens tbody .odds")].map((one) => one.textContent)"""
BOX = ".contrast-choice input"
MENU = ".contrast-choice select"


def begin(workspace: Workspace, **link: object) -> None:
    workspace.open(**{**CONTRAST, **link})
    drawn(workspace)


def tokens(url: str, row: int, rank: int = 0) -> tuple[int, int]:
    """Return the ids that a row writes, and of another one by its rank among all others."""
    tensors, written = stream(url)
    order = [int(id_) for id_ in np.argsort(-tensors["decoder.logits"][row])]
    return written[row], [id_ for id_ in order if id_ != written[row]][rank]


def odds(tensors: dict[str, Array], row: int, one: int, other: int) -> float:
    logits = tensors["decoder.logits"][row]
    return float(logits[one] - logits[other])


@pytest.mark.parametrize("rank", [0, 3])
def test_heads_and_parts_add_up_to_the_difference_of_the_logits(
    workspace: Workspace, rank: int
) -> None:
    """Computed forwards, from mixes, norms and parameters, once for each of the two tokens."""
    mine, other = tokens(workspace.url, ROW, rank)
    begin(workspace, contrast="runner-up" if rank == 0 else other)
    lines = workspace.page.evaluate(BUTTONS)
    attentions = [i for i, place in enumerate(places()) if not place.endswith("ffn")]
    for line, index in zip(lines, attentions, strict=True):
        for head, (value, text) in enumerate(line):
            each = [of_head(workspace.url, index, head, ROW, id_) for id_ in (mine, other)]
            assert value == pytest.approx(each[0] - each[1], abs=2e-5)
            assert number(text) == pytest.approx(each[0] - each[1], abs=0.0051)
    tensors, _ = stream(workspace.url)
    expected = odds(tensors, ROW, mine, other)
    shown = workspace.page.evaluate(LEDGER)
    together = sum(number(cells[-1]) or 0 for cells in shown.values())
    assert together == pytest.approx(expected, abs=0.005 * len(shown))
    assert number(workspace.find(".ledger-sums .all").inner_text()) == pytest.approx(
        expected, abs=0.0051
    )
    logits = tensors["decoder.logits"][ROW]
    said = workspace.find(".balance").inner_text().replace("−", "-")
    for value in (logits[mine], logits[other], expected):
        assert f"{value:.4f}" in said


def test_the_lens_has_the_log_odds_of_each_layer(workspace: Workspace) -> None:
    begin(workspace)
    mine, other = tokens(workspace.url, ROW)
    tensors, _ = stream(workspace.url)
    matrix = parameters(workspace.url)["embedding"]
    shown = workspace.page.evaluate(ODDS)
    assert len(shown) == LAYERS
    for layer, text in enumerate(shown):
        expected = tensors[f"decoder.{layer}.ffn.norm"][ROW] @ (matrix[mine] - matrix[other])
        assert number(text) == pytest.approx(expected, abs=0.0051)


def test_the_gradient_is_the_slope_of_the_pinned_row(workspace: Workspace) -> None:
    """Compare with finite differences: change a weight slightly up and down."""
    begin(workspace, block="decoder", layer=1, head=3)
    mine, other = tokens(workspace.url, ROW)
    place = "decoder.1.self"
    weights, drawn_ = (chart.values for chart in workspace.charts(".of-slopes"))
    assert np.nanmax(np.abs(drawn_[ROW + 1 :])) == 0, "later rows are not read"

    def slope(query: int, key: int, step: float) -> float:
        ends: list[float] = []
        for by in (step, -step):
            cell = {"set": [query, key, float(weights[query, key] + by)]}
            change = {"at": place, "head": 3, "do": cell}
            reply = ask(workspace.url, ["decoder.logits"], interventions=[change])
            logits = np.array(reply["tensors"]["decoder.logits"]["data"])
            ends.append(float(logits[ROW, mine] - logits[ROW, other]))
        return (ends[0] - ends[1]) / (2 * step)

    middle = np.where((weights > 0.1) & (weights < 0.9), np.abs(drawn_), 0)
    for query, key in zip(
        *np.unravel_index(np.argsort(-middle, None)[:3], middle.shape), strict=True
    ):
        near, far = (slope(int(query), int(key), step) for step in (0.02, 0.04))
        limit = (4 * near - far) / 3  # Richardson extrapolation, with an error of fourth order
        assert drawn_[query, key] == pytest.approx(limit * weights[query, key], abs=2e-3)
    title = workspace.find(".of-slopes h4").nth(1).inner_text()
    assert "rather than" in title


def test_it_is_off_until_asked_for_and_pins_its_row(workspace: Workspace) -> None:
    workspace.open(**{key: value for key, value in START.items() if key != "query"})
    drawn(workspace)
    assert not workspace.find(BOX).is_checked()
    expect(workspace.find(".of-heads h3")).to_have_text("What each head adds to the logit")
    options = workspace.find(f"{MENU} option")
    second = options.nth(1).get_attribute("value")
    workspace.find(BOX).check()
    expect(workspace.find(".of-heads h3")).to_have_text("What each head adds to the log-odds")
    assert workspace.link["contrast"] == "runner-up"
    pinned = workspace.link["query"]
    workspace.find(MENU).select_option(second)
    expect(workspace.find(".lens thead .odds .token").nth(1)).to_have_text(
        options.nth(1).inner_text()
    )
    assert (workspace.link["contrast"], workspace.link["query"]) == (second, pinned)
    workspace.find(BOX).uncheck()
    expect(workspace.find(".of-heads h3")).to_have_text("What each head adds to the logit")
    assert "contrast" not in workspace.link
    expect(workspace.find(".lens .odds")).to_have_count(0)


def test_a_token_is_not_contrasted_with_itself(workspace: Workspace) -> None:
    mine, _ = tokens(workspace.url, ROW)
    begin(workspace, contrast=mine)
    expect(workspace.find(".contrast-choice .note")).to_contain_text("writes the same token")
    expect(workspace.find(".of-heads h3")).to_have_text("What each head adds to the logit")
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


def test_a_link_with_a_contrast_is_one_request(workspace: Workspace) -> None:
    asked = posts(workspace)
    workspace.load(**CONTRAST)
    drawn(workspace)
    workspace.settled()
    assert len([body for body in asked if "inside.lens" in body]) == 1
    assert len(asked) == 1


def test_a_share_has_the_contrast_and_its_gradient(workspace: Workspace) -> None:
    begin(workspace)
    shown = (".lens", ".head-sums", ".balance", ".of-slopes .says", ".contrast-choice")
    seen = [workspace.find(place).inner_text() for place in shown]
    slopes = workspace.charts(".of-slopes")[1].values
    link = workspace.share()
    asked: list[str] = []
    workspace.page.on("request", lambda request: asked.append(request.url))
    workspace.page.goto(f"{workspace.url}/s/{link.rpartition('/')[2]}")
    drawn(workspace)
    assert [workspace.find(place).inner_text() for place in shown] == seen
    np.testing.assert_array_equal(workspace.charts(".of-slopes")[1].values, slopes)
    assert not [url for url in asked if url.endswith("/api/trace")]


def test_its_csv_has_what_is_shown(workspace: Workspace, tmp_path: Path) -> None:
    begin(workspace)
    text = save(workspace, "CSV", tmp_path).read_text("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    own = [row for row in rows if row["tensor"] == "inside.contrast.runner-up.cross"]
    found = np.zeros((LAYERS, HEADS))
    for row in own:
        assert all(re.fullmatch(r"-?[\d.]+(e-?\d+)?|", row[key]) for key in ("layer", "value"))
        if int(row["query"]) == ROW:
            found[int(row["layer"]), int(row["head"])] = float(row["value"])
    shown = np.array([[value for value, _ in line] for line in workspace.page.evaluate(BUTTONS)])
    np.testing.assert_allclose(found, shown[1::2], atol=1e-5)
    gradient = [row for row in rows if row["tensor"].endswith(f"{ROW}.decoder.1.cross")]
    assert (
        sum(row["head"] == "2" for row in gradient) == workspace.charts(".of-slopes")[1].values.size
    )


def test_it_can_be_reached_and_read_at_every_width(workspace: Workspace) -> None:
    begin(workspace)
    for width in (1440, 390, 320):
        workspace.page.set_viewport_size({"width": width, "height": 844})
        workspace.settled()
        assert violations(workspace.page) == []
        assert workspace.page.evaluate(SMALL_TARGETS) == []
        assert workspace.page.evaluate(SMALL_LABELS) == []
        assert not overflow(workspace.page, width)


def test_nothing_of_it_is_cut_on_paper(workspace: Workspace) -> None:
    begin(workspace)
    workspace.page.emulate_media(media="print")
    workspace.page.set_viewport_size({"width": 700, "height": 990})  # A4
    workspace.settled()
    cut = workspace.page.evaluate("""() => [...document.querySelectorAll(".inside .scroller")]
        .filter((one) => one.scrollWidth > one.clientWidth + 1)
        .map((one) => one.ariaLabel ?? one.className)""")
    assert cut == []
    expect(workspace.find(MENU)).to_be_visible()


def test_it_is_in_chinese_too(workspace: Workspace) -> None:
    begin(workspace, lang="zh")
    expect(workspace.find(".contrast-choice")).to_contain_text("而不是")
    expect(workspace.find(".of-heads h3")).to_have_text("每个头为对数几率贡献多少")
