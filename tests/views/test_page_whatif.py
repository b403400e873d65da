"""The model modified from the page, compared with the API with and without the change."""

import json
import re

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browsing.watch import Watch
from tests.browsing.workspace import Workspace
from tests.shipped_head_counts import IN_ALL
from tests.views.changes_by_api import (
    OFF,
    PLACE,
    START,
    chips,
    effects,
    figures,
    probabilities,
    said,
    trace,
    weights,
)


def test_a_head_is_switched_off_and_on_again(workspace: Workspace) -> None:
    workspace.open(**START)
    before, expected = effects(workspace.url, OFF)
    plain = probabilities(workspace.page, len(expected))
    np.testing.assert_allclose(plain[:, 0], expected[:, 0], atol=0.00501)
    assert (plain[:, 2] == 0).all(), "nothing is changed yet"
    workspace.find(".change-panel").get_by_text("off", exact=True).click()
    expect(workspace.find(".change-chip")).to_have_text(
        re.compile("Cross-attention, layer 2, head 3: off")
    )
    assert said(workspace) == [OFF]
    np.testing.assert_allclose(probabilities(workspace.page, len(expected)), expected, atol=0.00501)
    changed = trace(workspace.url, interventions=[OFF])
    expect(workspace.find("#output")).to_have_text(changed["output"]["text"])
    expect(workspace.find(".outcome dd").first).to_have_text(before["output"]["text"])
    expect(workspace.find(".outcome dd").last).to_have_text(changed["output"]["text"])
    lead = workspace.find("#caption").inner_text().replace("−", "-")
    assert f"{sum(before['output']['logprobs']):.2f}" in lead
    workspace.find(".change-panel").get_by_text("on", exact=True).click()
    expect(workspace.find("#changes")).to_be_hidden()
    assert "interventions" not in workspace.link
    workspace.page.go_back()
    expect(workspace.find(".change-chip")).to_have_count(1)


def test_the_same_tokens_are_scored(workspace: Workspace) -> None:
    """What was sampled here is cut into other tokens when it is read back."""
    source, decode = "然后用慢火煮约三十分钟即成。", {"method": "sample", "seed": 38}
    mean = {"at": "decoder.0.self", "head": 2, "do": "mean"}
    before = trace(workspace.url, source=source, decode=decode)["output"]
    ids = [token["id"] for token in before["tokens"]]
    forced = {"prefix": ids, "max_tokens": len(ids)}
    after = trace(workspace.url, source=source, decode=forced, interventions=[mean])["output"]
    sums = [sum(before["logprobs"]), sum(after["logprobs"])]
    link = START | {"source": source, "decode": json.dumps(decode), "effect": "heads"}
    link |= {"block": "decoder", "layer": 0, "ablation": "mean"}
    workspace.open(**link, interventions=json.dumps([mean]))
    expect(workspace.find(".whatif .bad:visible")).to_have_count(0)
    expect(workspace.find(".head-map")).to_have_attribute("data-drawn", str(IN_ALL))
    said = workspace.find("#caption").inner_text().replace("−", "-")
    # The ratio before the parenthesis has two decimals as well.
    in_nats = said.rpartition("(")[2]
    change, *numbers = [float(number) for number in re.findall(r"[-+]?\d+\.\d\d", in_nats)]
    assert numbers == pytest.approx(sums, abs=0.00501)
    assert change == pytest.approx(sums[1] - sums[0], abs=0.00501)
    cell = workspace.find('.head-map [data-name="decoder.0.self 2"] text')
    change = float((cell.text_content() or "").replace("−", "-"))
    assert change == pytest.approx(sums[1] - sums[0], abs=0.0051)


def test_the_difference_in_attention_is_that_of_the_two_runs(workspace: Workspace) -> None:
    mask = {"at": "source", "do": {"mask": 2}}
    workspace.open(**START | {"effect": "attention"}, interventions=json.dumps([mask]))
    before = trace(workspace.url)
    after = trace(workspace.url, target=before["output"]["text"], interventions=[mask])
    a, b, delta = figures(workspace)
    np.testing.assert_allclose(a, weights(before), atol=1e-5)
    assert np.isnan(b[:, 2]).all(), "masked has no number"
    kept = [key for key in range(b.shape[1]) if key != 2]
    np.testing.assert_allclose(b[:, kept], weights(after)[:, kept], atol=1e-5)
    difference = (weights(after) - weights(before))[:, kept]
    np.testing.assert_allclose(delta[:, kept], difference, atol=1e-5)
    # A cell is dragged up and that is one step.
    workspace.open(**START | {"effect": "attention"})
    _, drawn, _ = figures(workspace)
    low = int(np.argmin(drawn[1]))
    workspace.find(".trio-b .chart").scroll_into_view_if_needed()
    x, y = workspace.cell(1, low, of=".trio-b")
    mouse = workspace.page.mouse
    mouse.move(x, y)
    mouse.down()
    mouse.move(x, y - 40, steps=4)
    mouse.move(x, y - 80, steps=4)
    mouse.up()
    (made,) = said(workspace)
    assert made["do"]["set"][:2] == [1, low]
    assert made["do"]["set"][2] == pytest.approx(drawn[1, low] + 0.5, abs=0.02)
    _, dragged, _ = figures(workspace)
    assert dragged[1, low] == pytest.approx(made["do"]["set"][2], abs=1e-6)
    workspace.page.go_back()
    workspace.page.wait_for_function("() => !location.search.includes('interventions')")


def test_a_link_and_a_share_say_the_same(workspace: Workspace) -> None:
    shuffled = {"at": "source.position", "do": {"shuffle": 3}}
    workspace.open(**START, interventions=json.dumps([OFF, shuffled]))
    count = len(trace(workspace.url)["output"]["tokens"])
    first = probabilities(workspace.page, count)
    link, words = workspace.link, chips(workspace)
    assert len(words) == 2
    workspace.page.reload()
    workspace.drawn()
    assert workspace.link == link
    assert chips(workspace) == words
    np.testing.assert_array_equal(probabilities(workspace.page, count), first)
    share = workspace.share().rpartition("/")[2]
    workspace.page.goto(f"{workspace.url}/s/{share}")
    workspace.drawn()
    np.testing.assert_array_equal(probabilities(workspace.page, count), first)
    off = workspace.find(".change-chip > span")
    expect(off.first).to_have_text("Cross-attention, layer 2, head 3: off")
    expect(workspace.find("#changes").get_by_text("Undo all")).to_be_visible()
    workspace.page.goto(f"{workspace.url}/embed/{share}")
    workspace.drawn()
    expect(off.first).to_have_text("Cross-attention, layer 2, head 3: off")


def test_each_change_is_a_step_back_and_all_go_at_once(workspace: Workspace) -> None:
    workspace.open(**START | {"view": "attention"}, query=2, key=3)
    for name in ("head off", "edge cut", "token masked"):
        workspace.find("#switches").get_by_text(name).click()
        workspace.settled()
    assert [one["do"] for one in said(workspace)] == ["zero", {"cut": [2, 3]}, {"mask": 3}]
    assert len(chips(workspace)) == 3
    workspace.page.go_back()
    expect(workspace.find(".change-chip")).to_have_count(2)
    assert len(said(workspace)) == 2
    workspace.find(".change-chip button").first.click()
    expect(workspace.find(".change-chip")).to_have_count(1)
    assert said(workspace)[0]["do"] == {"cut": [2, 3]}
    workspace.find("#changes").get_by_text("Undo all").click()
    expect(workspace.find("#changes")).to_be_hidden()
    assert "interventions" not in workspace.link
    workspace.drawn()
    expect(workspace.find("#output")).to_have_text(trace(workspace.url)["output"]["text"])


def test_a_token_is_masked_in_every_attention_to_the_sentence(workspace: Workspace) -> None:
    workspace.open(**START)
    workspace.find(".mask-tokens .chip").nth(2).click()
    expect(workspace.find(".change-chip")).to_have_text(re.compile("mother masked"))
    assert said(workspace) == [{"at": "source", "do": {"mask": 2}}]
    _, expected = effects(workspace.url, *said(workspace))
    np.testing.assert_allclose(probabilities(workspace.page, len(expected)), expected, atol=0.00501)
    expect(workspace.find(".mask-tokens .chip").nth(2)).to_have_attribute("aria-pressed", "true")


def test_a_cell_is_set_and_the_row_shares_or_does_not(workspace: Workspace) -> None:
    for renormalise in [True, False]:
        workspace.open(**START | {"effect": "attention"}, query=1, key=4)
        cell = workspace.find(".change-panel .of-cell")
        if not renormalise:
            cell.get_by_label("rescale the rest of the row").uncheck()
        number = cell.locator("input[type=number]")
        number.fill("0.75")
        number.press("Enter")
        expect(workspace.find(".change-chip")).to_have_text(re.compile("set to 0.75"))
        told = "the rest of the row is rescaled" in chips(workspace)[0]
        assert told is renormalise, "said either way"
        made = {"at": PLACE, "head": 2, "do": {"set": [1, 4, 0.75], "renormalise": renormalise}}
        assert said(workspace) == [made]
        _, after, _ = figures(workspace)
        assert after[1, 4] == pytest.approx(0.75, abs=1e-6)
        before = weights(trace(workspace.url))[1]
        rest = np.delete(before, 4)
        if renormalise:
            rest = rest * 0.25 / rest.sum()
        np.testing.assert_allclose(np.delete(after[1], 4), rest, atol=1e-5)


def test_a_change_that_cannot_be_is_named_and_undone(workspace: Workspace, watch: Watch) -> None:
    watch.expect("status of 422")
    bad = {"at": PLACE, "head": 99, "do": "zero"}
    link = {**START, "interventions": json.dumps([OFF, bad])}
    workspace.go(**link)
    expect(workspace.find(".change-chip.bad")).to_have_text(re.compile("head 100: off"))
    expect(workspace.find(".change-problem")).to_contain_text("interventions[1].head")
    expect(workspace.find("#problem")).to_be_visible()
    workspace.find(".change-chip.bad button").click()
    workspace.drawn()
    assert said(workspace) == [OFF]
    expect(workspace.find("#problem")).to_be_hidden()
    expect(workspace.find(".change-problem")).to_be_hidden()
