"""The map of parts taken from another sentence, compared with single runs through the API."""

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browsing import api
from tests.browsing.workspace import Workspace
from tests.views.changes_by_api import said

FATHER, MOTHER = "My father is a teacher.", "My mother is a teacher."
LINK: dict[str, Any] = {
    "source": FATHER, "view": "whatif", "block": "cross", "layer": 2, "head": 0, "ablation": "patch"
}  # fmt: skip
CELLS = """() => Object.fromEntries(
    [...document.querySelectorAll(".head-map [data-at]")].map((cell) =>
        [cell.dataset.name, Number(cell.querySelector("text").textContent.replace("−", "-"))]))"""
ROWS = """() => [...document.querySelectorAll(".aligned-tokens tr")].map((row) =>
    [...row.querySelectorAll("td")].map((cell) => cell.innerText.trim()))"""


def trace(url: str, **request: object) -> dict[str, Any]:
    return api.trace(url, "decoder.logits", **{"source": FATHER} | request)


def recovered(url: str, made: object) -> float:
    """Return the share of the second row's contrast that a change recovers, from single runs."""
    before = trace(url)
    ids = [token["id"] for token in before["output"]["tokens"]]
    forced = {"prefix": ids, "max_tokens": len(ids)}
    runs = [
        trace(url, decode=forced),
        trace(url, decode=forced, interventions=[made]),
        trace(url, decode=forced, source=MOTHER),
    ]
    rival = max(range(8000), key=runs[2]["tensors"]["decoder.logits"]["data"][1].__getitem__)
    logits = [run["tensors"]["decoder.logits"]["data"][1] for run in runs]
    plain, patched, other = (one[ids[1]] - one[rival] for one in logits)
    share: float = (patched - plain) / (other - plain)
    return share


def tried(workspace: Workspace, count: int) -> dict[str, float]:
    expect(workspace.find(".head-map")).to_have_attribute("data-drawn", str(count))
    found: dict[str, float] = workspace.page.evaluate(CELLS)
    return found


def test_the_map_shows_where_the_word_comes_from(workspace: Workspace) -> None:
    workspace.open(**LINK)
    cells = tried(workspace, 81)
    assert workspace.page.evaluate(ROWS) == [
        ["<2zh>", "My", "·mother", "·is", "·a", "·teacher", ".", "<eos>"],
        ["<2zh>", "My", "·father", "·is", "·a", "·teacher", ".", "<eos>"],
    ]
    expect(workspace.find(".aligned-tokens .differs")).to_have_count(2)
    expect(workspace.find(".sweep-question [aria-pressed=true]")).to_have_text("父")
    expect(workspace.find(".sweep-question select option:checked")).to_have_text("母")
    here = {name: value for name, value in cells.items() if name.startswith("decoder.2.cross ")}
    others = [cells[name] for name in cells if " " in name and name not in here]
    assert len(here) == 8
    assert all(0.05 <= value <= 0.17 for value in here.values())
    assert max(others) <= 0.07
    assert cells["decoder.2.cross"] == pytest.approx(0.97, abs=0.011)
    expect(workspace.find("#caption")).to_contain_text("Cross-attention, layer 3 accounts for 97 %")
    expect(workspace.find("#caption")).to_contain_text("its heads 5 to 17 % each")
    # A click makes just the change that was tried.
    shown = cells["decoder.2.cross 4"]
    cell = workspace.find('.head-map [data-name="decoder.2.cross 4"]')
    cell.click()
    expect(cell).to_have_attribute("aria-pressed", "true")
    [made] = said(workspace)
    assert (made["at"], made["head"]) == ("decoder.2.cross.mix", 4)
    assert (workspace.link["layer"], workspace.link["head"]) == ("2", "4")
    assert shown == pytest.approx(recovered(workspace.url, made), abs=0.0051)
    expect(workspace.find(".change-chip")).to_contain_text(f"mix taken from “{MOTHER}”")
    expect(workspace.find("#heads label.changed")).to_have_count(1)
    workspace.page.go_back()
    expect(workspace.find("#changes")).to_be_hidden()
    workspace.page.go_forward()
    expect(workspace.find(".change-chip")).to_have_count(1)
    workspace.drawn()
    workspace.find('.head-map [data-name="decoder.2.cross 4"]').press("Enter")
    expect(workspace.find("#changes")).to_be_hidden()
    # Equal sentences have no difference.
    workspace.open(**LINK | {"b": FATHER, "lang": "zh"})
    expect(workspace.find("#caption")).to_contain_text("没有差异")


def test_sublayers_and_tokens_of_the_stream(workspace: Workspace) -> None:
    workspace.open(**LINK | {"parts": "sublayers"})
    cells = tried(workspace, 15)
    assert cells["decoder.2.cross.output"] == pytest.approx(0.97, abs=0.011)
    workspace.find(".sweep").get_by_text("layers × tokens").click()
    cells = tried(workspace, 64)
    assert [cells[f"encoder.{layer}.ffn.norm 2"] for layer in range(3)] == pytest.approx(
        [1, 1, 1], abs=0.011
    )
    assert cells["decoder.1.ffn.norm 1"] < 0.1 < cells["decoder.2.ffn.norm 1"] == 1
    expect(workspace.find("#caption")).to_contain_text(
        "the difference is at ·father up to Encoder, layer 3, and at → 父 from Decoder, layer 3"
    )
    workspace.find('.head-map [data-name="source.input 2"]').focus()
    workspace.page.keyboard.press("ArrowDown")
    below = workspace.find('.head-map [data-name="encoder.0.ffn.norm 2"]')
    expect(below).to_be_focused()
    workspace.page.keyboard.press("Enter")
    expect(below).to_have_attribute("aria-pressed", "true")
    [made] = said(workspace)
    assert made["do"]["patch"]["rows"] == [[2, 2]]
    expect(workspace.find(".change-chip")).to_contain_text("norm at father taken")
    expect(workspace.find("#output")).to_have_text("我母亲是老师。")


def test_another_sentence_word_and_contrast_are_chosen_and_in_the_link(
    workspace: Workspace,
) -> None:
    workspace.open(**LINK)
    tried(workspace, 81)
    box = workspace.find(".patched-from input")
    expect(box).to_have_value(MOTHER)
    box.fill("My friend is not a teacher.")
    box.press("Enter")
    expect(workspace.find(".aligned-tokens .none")).to_have_count(1)
    assert workspace.link["b"] == "My friend is not a teacher."
    tried(workspace, 81)
    workspace.find(".sweep-question .sweep-rows").get_by_text("是", exact=True).click()
    chosen = workspace.find(".sweep-question select")
    expect(workspace.find(".sweep-question [aria-pressed=true]")).to_have_text("是")
    default = chosen.evaluate("({ value }) => value")
    wanted = chosen.locator("option").nth(2)
    value = wanted.get_attribute("value") or ""
    assert value != default
    chosen.select_option(value)
    assert (workspace.link["written"], workspace.link["against"]) == ("3", value)
    tried(workspace, 81)
    address = workspace.page.url
    workspace.page.goto(address)
    workspace.drawn()
    tried(workspace, 81)
    expect(workspace.find(".sweep-question select")).to_have_value(value)
    expect(box).to_have_value("My friend is not a teacher.")
    workspace.find(".sweep-question .sweep-rows").get_by_text("我", exact=True).click()
    expect(workspace.find(".sweep-question [aria-pressed=true]")).to_have_text("我")
    assert "against" not in workspace.link, "it was for another word"


def test_only_the_direct_path_to_a_head_or_to_the_logits(workspace: Workspace) -> None:
    """Which sublayers the values of a head get the word from, and what the logits read directly."""
    workspace.open(**LINK | {"head": 4, "parts": "sublayers"})
    tried(workspace, 15)
    workspace.find(".sweep").get_by_text("its v", exact=True).click()
    expect(workspace.find("#caption")).to_contain_text(
        "acts directly on v of Cross-attention, layer 3, head 5, Encoder, feed-forward, layer"
    )
    cells = tried(workspace, 15)
    assert workspace.link["through"] == "v"
    assert all(value == 0 for name, value in cells.items() if name.startswith("decoder"))
    part = workspace.find('.head-map [data-name="encoder.0.ffn.output"]')
    part.click()
    expect(part).to_have_attribute("aria-pressed", "true")
    [made] = said(workspace)
    assert made["do"]["patch"]["to"] == {"at": "decoder.2.cross.v", "head": 4}
    assert (workspace.link["layer"], workspace.link["head"]) == ("2", "4"), "still the receiver"
    share = recovered(workspace.url, made)
    assert cells["encoder.0.ffn.output"] == pytest.approx(share, abs=0.0051)
    assert share > 0.01
    expect(workspace.find(".change-chip")).to_contain_text("only directly for v of Cross-attention")
    part.press("Enter")
    expect(workspace.find("#changes")).to_be_hidden()
    workspace.find(".sweep").get_by_text("the logits, directly").click()
    expect(workspace.find("#caption")).to_contain_text(
        "acts directly on the logits, Cross-attention"
    )
    cells = tried(workspace, 15)
    assert cells["decoder.2.cross.output"] == pytest.approx(0.74, abs=0.011)
    assert cells["encoder.2.ffn.output"] == 0
