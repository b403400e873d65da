"""The map of heads, compared with single runs through the API."""

import json

import pytest
from playwright.sync_api import expect

from tests.browsing.workspace import Workspace
from tests.shipped_head_counts import IN_ALL
from tests.views.changes_by_api import OFF, PLACE, START, said, trace
from tests.views.test_page_as_trained import share, without_model

CELLS = """() => Object.fromEntries(
    [...document.querySelectorAll(".head-map [data-at]")].map((cell) =>
        [cell.dataset.name, cell.querySelector("text").textContent.replace("−", "-")]))"""


def test_the_map_is_what_single_runs_say(workspace: Workspace) -> None:
    workspace.open(**START | {"effect": "heads", "written": 1})
    cells = workspace.find(".head-map [data-at]")
    expect(cells).to_have_count(IN_ALL)
    expect(workspace.find(".head-map")).to_have_attribute("data-drawn", str(IN_ALL))
    shown = workspace.page.evaluate(CELLS)
    before = trace(workspace.url)["output"]
    for at, head in (("encoder.0.self", 0), ("decoder.2.self", 7), (PLACE, 2), (PLACE, 5)):
        made = [{"at": at, "head": head, "do": "zero"}]
        after = trace(workspace.url, target=before["text"], interventions=made)["output"]
        change = after["logprobs"][1] - before["logprobs"][1]
        assert float(shown[f"{at} {head}"]) == pytest.approx(change, abs=0.00501), (at, head)
    workspace.find(".sweep-rows").get_by_title("whole translation").click()
    after = trace(workspace.url, target=before["text"], interventions=[OFF])["output"]
    change = sum(after["logprobs"]) - sum(before["logprobs"])
    shown = workspace.page.evaluate(CELLS)
    assert float(shown[f"{PLACE} 2"]) == pytest.approx(change, abs=0.00501)


def test_the_map_on_top_of_the_changes(workspace: Workspace) -> None:
    link = START | {"effect": "heads", "over": 1, "ablation": "uniform"}
    workspace.open(**link, interventions=json.dumps([OFF]))
    expect(workspace.find(".head-map")).to_have_attribute("data-drawn", str(IN_ALL))
    shown = workspace.page.evaluate(CELLS)
    target = trace(workspace.url)["output"]["text"]
    more = {"at": "encoder.1.self", "head": 3, "do": "uniform"}
    once, twice = (
        sum(trace(workspace.url, target=target, interventions=made)["output"]["logprobs"])
        for made in ([OFF], [OFF, more])
    )
    assert float(shown["encoder.1.self 3"]) == pytest.approx(twice - once, abs=0.00501)
    workspace.find(".sweep").get_by_text("on top of the changes").click()
    assert "over" not in workspace.link
    expect(workspace.find(".sweep-progress")).to_be_hidden()
    expect(workspace.find(".head-map")).to_have_attribute("data-drawn", str(IN_ALL))
    plain = sum(trace(workspace.url)["output"]["logprobs"])
    alone = trace(workspace.url, target=target, interventions=[more])["output"]["logprobs"]
    shown = workspace.page.evaluate(CELLS)
    assert float(shown["encoder.1.self 3"]) == pytest.approx(sum(alone) - plain, abs=0.00501)


def test_a_head_of_the_map_is_kept_off_and_given_back(workspace: Workspace) -> None:
    workspace.open(**START | {"effect": "heads"})
    expect(workspace.find(".head-map")).to_have_attribute("data-drawn", str(IN_ALL))
    cell = workspace.find('.head-map [data-name="encoder.2.self 1"]')
    cell.click()
    expect(cell).to_have_attribute("aria-pressed", "true")
    assert said(workspace) == [{"at": "encoder.2.self", "head": 1, "do": "zero"}]
    assert (workspace.link["block"], workspace.link["layer"], workspace.link["head"]) == (
        "encoder", "2", "1",
    )  # fmt: skip
    workspace.drawn()
    cell.press("Enter")
    expect(workspace.find("#changes")).to_be_hidden()
    assert "interventions" not in workspace.link
    cell.press("ArrowRight")
    expect(workspace.find('.head-map [data-name="encoder.2.self 2"]')).to_be_focused()
    # A sweep is stopped and gone on with.
    workspace.load(**START | {"effect": "tokens"})
    workspace.page.route("**/api/sweep", lambda route: None)  # never answered
    workspace.find(".whatif .options").get_by_text("which heads matter").click()
    expect(workspace.find(".sweep-progress")).to_be_visible()
    workspace.find(".sweep-progress").get_by_text("Stop").click()
    expect(workspace.find(".sweep-progress")).to_be_hidden()
    workspace.page.unroute("**/api/sweep")
    workspace.find(".sweep").get_by_text("Try all heads").click()
    expect(workspace.find(".head-map")).to_have_attribute("data-drawn", str(IN_ALL))


PATCHED = {"ablation": "patch", "b": "The dog is tired, so it sleeps.", "parts": "sublayers"}


@pytest.mark.parametrize(
    ("chosen", "count"),
    [({"over": 1, "ablation": "uniform"}, IN_ALL), (PATCHED, 15)],
    ids=["on top", "patched"],
)
def test_a_share_keeps_the_map(workspace: Workspace, chosen: dict[str, object], count: int) -> None:
    changed = {"interventions": json.dumps([OFF])} if "over" in chosen else {}
    workspace.open(**START | {"effect": "heads"} | chosen | changed)
    whole = workspace.find(f'.head-map[data-drawn="{count}"]')
    expect(whole).to_be_visible()
    seen, says = workspace.page.evaluate(CELLS), workspace.find("#caption").inner_text()
    made = share(workspace)
    without_model(workspace)
    workspace.page.goto(f"{workspace.url}/s/{made}")
    expect(whole).to_be_visible()
    assert workspace.page.evaluate(CELLS) == seen
    expect(workspace.find("#caption")).to_have_text(says)
    expect(workspace.find(".sweep .problem:visible")).to_have_count(0)
    # Another map is not in the share.
    workspace.find(".sweep").get_by_text("mean", exact=True).first.click()
    expect(workspace.find(".sweep .problem")).to_be_visible()
