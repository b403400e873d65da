"""What-if and decoding: probabilities after a change, and every step of a continuation."""

import json
import math

import pytest
from playwright.sync_api import expect

from tests.browsing.api import client
from tests.browsing.printed import read
from tests.browsing.workspace import Workspace
from tests.huggingface.answers import TEXT, run, steps_of

OFF = {"at": "decoder.0.self", "head": 1, "do": "zero"}
ROWS = """() => [...document.querySelectorAll(".token-changes tbody tr")].map((row) =>
    [...row.querySelectorAll("td.number")].map((cell) => cell.textContent.replace("−", "-")))"""


def test_a_change_moves_the_probabilities_of_a_text(workspace: Workspace) -> None:
    page = workspace.page
    link = {"model": "llama", "source": TEXT, "view": "whatif", "effect": "tokens", "lang": "zh"}
    workspace.open(**link, interventions=[OFF])
    page.locator(".whatif select").first.select_option("5")
    before = run(workspace, decode={"max_tokens": 5})
    ids = [token["id"] for token in before["tokens"]]
    forced = {"prefix": ids[before["continues"] :], "max_tokens": 5}
    after = run(workspace, decode=forced, interventions=[OFF])
    assert [token["id"] for token in after["tokens"]] == ids
    expect(page.locator(".token-changes tbody tr")).to_have_count(len(ids))
    expect(page.locator("#source-tokens .continued")).to_have_count(4)
    expect(page.locator(".outcome dd").first).to_contain_text(before["tokens"][-1]["text"].strip())
    page.wait_for_function("() => document.querySelector('.whatif-main[aria-busy=false]')")
    for shown, was, now in zip(
        page.evaluate(ROWS), before["logprobs"], after["logprobs"], strict=True
    ):
        numbers = [read(cell) for cell in shown[:3]]
        expected = [math.exp(was), math.exp(now), math.exp(now) - math.exp(was)]
        assert numbers == pytest.approx(expected, abs=0.00501)
    assert workspace.link["decode"] == '{"method":"greedy","max_tokens":5}'
    sums = sum(before["logprobs"]), sum(after["logprobs"])
    said = page.locator("#caption").inner_text().replace("−", "-")
    for number in sums:
        assert f"{number:.2f}" in said


def test_every_head_of_a_decoder_is_tried(workspace: Workspace) -> None:
    page = workspace.page
    workspace.open(model="llama", source=TEXT, view="whatif")
    expect(page.locator(".head-map")).to_have_attribute("data-drawn", "8")
    expect(page.locator(".sweep-rows .continued")).to_have_count(1)
    before = run(workspace)
    ids = [token["id"] for token in before["tokens"]]
    forced = {"prefix": ids[before["continues"] :], "max_tokens": 1}
    after = run(workspace, decode=forced, interventions=[OFF])
    delta = sum(after["logprobs"]) - sum(before["logprobs"])
    cell = page.locator('.head-map [data-name="decoder.0.self 1"] text')
    assert read(cell.text_content() or "") == pytest.approx(delta, abs=0.00501)
    page.locator(".sweep-rows .continued").click()
    last = after["logprobs"][-1] - before["logprobs"][-1]
    expect(cell).to_have_text(f"{last:.2f}".replace("-", "−"))


def test_the_word_at_a_mask_is_scored(workspace: Workspace) -> None:
    page = workspace.page
    workspace.open(model="bert", source=TEXT, view="whatif", effect="tokens")
    expect(page.locator(".whatif-main")).to_contain_text("Put [MASK] in place of a word")
    masked = TEXT.replace("cat", "[MASK]")
    workspace.open(model="bert", source=masked, view="whatif", effect="tokens")
    output = run(workspace, model="bert", text=masked)
    expect(page.locator(".token-changes tbody tr")).to_have_count(1)
    shown = page.evaluate(ROWS)[0][0]
    assert read(shown) == pytest.approx(math.exp(output["logprobs"][0]), abs=0.00501)
    page.get_by_text("which heads matter").click()
    expect(page.locator(".head-map")).to_have_attribute("data-drawn", "8")


def test_a_continuation_is_gone_through_and_can_be_taken_elsewhere(workspace: Workspace) -> None:
    page = workspace.page
    decode = {"method": "greedy", "max_tokens": 4}
    workspace.open(model="llama", source=TEXT, view="decoding", decode=decode, layer=1)
    steps = steps_of(workspace, decode=decode)
    expect(page.locator(".theatre")).to_have_attribute("data-drawn", "all")
    expect(page.locator(".written button")).to_have_count(len(steps))
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert workspace.link["nth"] == "2"
    shown = page.locator(".candidates li:not(.heads):not(.rest) .p").all_inner_texts()
    wanted = [one["probability"] for one in steps[2]["hypotheses"][0]["candidates"]]
    assert [read(one) for one in shown] == pytest.approx(wanted, abs=0.00005)
    # The attention of the row that writes this token, over the text and what was written.
    asked = {"select": ["decoder.1.self.weights"], "decode": decode}
    body = {"model": "llama", "text": TEXT, **asked}
    trace = client.post(f"{workspace.url}/api/trace", json=body).json()
    row = trace["output"]["continues"] + 2
    heads = [head[row] for head in trace["tensors"]["decoder.1.self.weights"]["data"]]
    mean = [sum(column) / len(heads) for column in zip(*heads, strict=True)][: row + 1]
    weights = [read(one) for one in page.locator(".look .weight").all_inner_texts()]
    assert weights == pytest.approx(mean, abs=0.00501)
    ranks = page.locator(".ledger tbody tr")
    expect(ranks).to_have_count(len(steps))
    page.keyboard.press("Home")
    other = page.locator(".candidates button:not(.written-one)").first
    id_ = int(other.get_attribute("data-id") or "")
    other.click()
    expect(page.locator(".versus")).to_be_visible()
    forced = {**decode, "prefix": [id_]}
    assert json.loads(workspace.link["decode"]) == forced
    count = len(steps_of(workspace, decode=forced))
    expect(page.locator(".written button")).to_have_count(count)
    page.locator(".versus button").click()
    expect(page.locator(".versus")).to_be_hidden()


def test_the_template_of_a_chat_is_not_counted(workspace: Workspace) -> None:
    own = run(workspace, model="chat", chat=True)
    both = zip(own["tokens"][:-1], own["logprobs"][:-1], strict=True)
    mine = [logprob for token, logprob in both if token["end"] > token["start"]]
    assert 0 < len(mine) < len(own["tokens"]) - 1
    link = {"chat": "1", "view": "whatif", "interventions": json.dumps([OFF])}
    workspace.open(model="chat", source=TEXT, **link)
    before = f"{sum(mine) + own['logprobs'][-1]:.2f} →".replace("-", "−")
    expect(workspace.page.locator("#caption")).to_contain_text(f"log-probability {before}")
