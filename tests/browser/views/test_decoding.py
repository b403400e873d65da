"""The decoding view, compared with NumPy on the logits and with /api/trace."""

import json
from typing import Any
from urllib.parse import urlencode

import numpy as np
from playwright.sync_api import Page, Route, expect

from tests.browser import api
from tests.browser.views.theatre import (
    BEAM,
    DRAWN,
    NODES,
    SOURCE,
    begin,
    ids,
    logprobs,
    number,
    trace,
    written,
)
from tests.browser.watch import Watch
from tests.browser.workspace import Workspace

SAMPLE: dict[str, Any] = {"method": "sample", "temperature": 1.5, "top_k": 4, "seed": 5}
# Ids, probabilities and log-probabilities of the candidates, as displayed.
CANDIDATES = """() => [...document.querySelectorAll(".candidates button")].map((row) =>
    [row.dataset.id, row.querySelector(".p").textContent, row.querySelector(".log").textContent])"""
STRIPS = """() => Object.fromEntries([...document.querySelectorAll(".look")].map((look) =>
    [look.dataset.block, [...look.querySelectorAll(".weight")].map(
        (it) => it.textContent === "<0.01" ? 0.0025 : Number(it.textContent))]))"""
STEP = """() => ["#caption", ".candidates", ".strips", ".where"].map((place) =>
    document.querySelector(place).textContent)"""
LEDGER = """(n) => [...[...document.querySelectorAll(".ledger table")][n].tBodies[0].rows].map(
    (row) => [...row.cells].map((cell) => cell.textContent))"""
WORDS = """(theatre) => [...theatre.querySelectorAll("p, h3, h4, th, legend, button")]
    .filter((it) => it.checkVisibility() && !it.querySelector(".token, p"))
    .map((it) => it.textContent.trim()).filter((text) => /[a-z]{3}/i.test(text))"""


def step(workspace: Workspace) -> list[str]:
    seen: list[str] = workspace.page.evaluate(STEP)
    return seen


def test_candidates_are_the_softmax_of_the_logits(workspace: Workspace) -> None:
    for at in [0, 5]:
        begin(workspace, query=at)
        expected = logprobs(workspace)[at]
        best = np.argsort(-expected)[:10]
        rows = workspace.page.evaluate(CANDIDATES)
        assert [int(row[0]) for row in rows] == best.tolist()
        np.testing.assert_allclose(
            [number(row[1]) for row in rows], np.exp(expected[best]), atol=6e-5
        )
        np.testing.assert_allclose([number(row[2]) for row in rows], expected[best], atol=6e-3)
        rest = number(workspace.find(".candidates .rest .p").inner_text())
        np.testing.assert_allclose(rest, 1 - np.exp(expected[best]).sum(), atol=6e-5)


def test_columns_are_the_rows_of_the_three_attentions(workspace: Workspace) -> None:
    begin(workspace, query=3, heads_of="head")
    names = [
        f"{place}.weights" for place in ("decoder.1.cross", "decoder.1.self", "encoder.1.self")
    ]
    found = trace(workspace, *names)["tensors"]
    cross, own, encoder = (np.array(found[name]["data"], dtype=float)[2] for name in names)
    # The word with the most weight: special tokens stand at the two ends.
    looked = 1 + cross[3][1:-1].argmax()
    shown = {"cross": cross[3], "decoder": own[3][:4], "encoder": encoder[looked]}
    seen = workspace.page.evaluate(STRIPS)
    assert seen.keys() == shown.keys()
    for block, row in shown.items():
        np.testing.assert_allclose(seen[block], row, atol=0.0051)


def test_forward_and_back_are_exact(workspace: Workspace) -> None:
    # It opens at its beginning.
    begin(workspace)
    expect(workspace.find("#caption")).to_contain_text("Step 1:")
    expect(workspace.find("#target-tokens .as-query")).to_have_count(1)
    # Forward and back are exact.
    page = workspace.page
    there = [step(workspace)]
    while workspace.find(".transport button").nth(2).is_enabled():
        workspace.find(".transport button").nth(2).click()
        there.append(step(workspace))
    assert len(there) == len(trace(workspace)["output"]["tokens"])
    assert len({seen[3] for seen in there}) == len(there)
    back = [step(workspace)]
    workspace.find(".theatre h3").first.click()  # Space and arrows work without focus
    for _ in there[1:]:
        page.keyboard.press("ArrowLeft")
        back.append(step(workspace))
    assert back[::-1] == there
    page.keyboard.press("End")
    assert step(workspace) == there[-1]
    page.wait_for_function(f"() => location.search.includes('query={len(there) - 1}')")
    # It plays to the end and can be stopped.
    workspace.page.keyboard.press("Home")
    play = workspace.find(".play")
    workspace.find(".theatre h3").first.click()
    workspace.page.keyboard.press("Space")
    expect(play).to_contain_text("Pause")
    expect(workspace.find(".where")).to_contain_text("Step 2 of")
    workspace.page.keyboard.press("Space")
    expect(play).to_contain_text("Play")
    last = len(trace(workspace)["output"]["tokens"])
    workspace.find(".written button").nth(last - 2).click()
    play.click()
    expect(workspace.find(".where")).to_contain_text(f"Step {last} of {last}")
    expect(play).to_contain_text("Play")


def test_how_a_token_was_read_is_shown_of_words_only(workspace: Workspace) -> None:
    """A special token with the most weight is a sink: mentioned, but its row explains nothing."""
    last = len(trace(workspace)["output"]["tokens"]) - 1
    sinks = set()
    for step in range(last + 1):
        begin(workspace, query=step)
        looked = workspace.find(".look[data-block=cross] li.strongest .token").inner_text()
        read = workspace.find(".look[data-block=encoder] h4 .token")
        expect(read).to_have_count(1)
        assert not read.inner_text().startswith("<")
        notes = workspace.find(".strips > .note").all_inner_texts()
        assert len(notes) == looked.startswith("<")
        assert all(looked in note for note in notes)
        sinks.add(looked.startswith("<"))
    assert sinks == {True, False}, "the end looks at the end"


def test_another_token_is_taken_and_the_sentence_goes_on_from_there(workspace: Workspace) -> None:
    begin(workspace, query=2)
    own = trace(workspace)
    second = workspace.find(".candidates button:not(.written-one)").first
    taken = int(second.get_attribute("data-id") or 0)
    second.click()
    workspace.find(f"{DRAWN} .versus").wait_for()
    prefix = [*ids(own)[:2], taken]
    assert json.loads(workspace.link["decode"]) == {"method": "greedy", "prefix": prefix}
    expected = trace(workspace, decode={"method": "greedy", "prefix": prefix})
    assert ids(expected)[:3] == prefix
    assert written(workspace) == expected["output"]["text"] != own["output"]["text"]
    for kind, reply in (("yours", expected), ("theirs", own)):
        output = reply["output"]
        logprob = sum(output["logprobs"])
        row = workspace.find(f".versus .{kind}")
        seen = [number(row.locator(f"[data-of={of}]").inner_text()) for of in ("logprob", "score")]
        np.testing.assert_allclose(seen, [logprob, output["score"]], atol=0.0051)
        assert row.locator(".piece").count() == len(output["tokens"])
        assert row.locator(".piece.common").count() == 2
    expect(workspace.find(".finding")).to_contain_text("ranks it 2")
    workspace.find(".versus .button").click()
    expect(workspace.find(".versus")).to_be_hidden()
    expect(workspace.find("#output")).to_have_text(own["output"]["text"])
    assert "decode" not in workspace.link
    workspace.page.go_back()
    expect(workspace.find("#output")).to_have_text(expected["output"]["text"])


def test_a_permalink_shows_the_same_numbers(workspace: Workspace) -> None:
    # A permalink shows the same numbers.
    begin(workspace, decode=BEAM, query=3)
    before = step(workspace), workspace.page.evaluate(NODES), written(workspace)
    assert before[2] == trace(workspace, decode=BEAM)["output"]["text"]
    workspace.page.goto(workspace.page.url)
    workspace.find(DRAWN).wait_for()
    assert before == (step(workspace), workspace.page.evaluate(NODES), written(workspace))
    # Another sentence starts without what was forced.
    first = ids(trace(workspace))[0]
    begin(workspace, decode={"method": "beam", "beam": 2, "prefix": [first]}, query=0)
    text = workspace.find("#examples button").nth(1).locator("span").text_content() or ""
    workspace.example(1)
    workspace.says(text)
    workspace.find(DRAWN).wait_for()
    assert json.loads(workspace.link["decode"]) == {"method": "beam", "beam": 2}


def test_the_draw_is_from_the_pool(workspace: Workspace) -> None:
    begin(workspace, decode=SAMPLE, query=1)
    own = trace(workspace, decode=SAMPLE)
    row = logprobs(workspace, decode=SAMPLE)[1]
    best = np.argsort(-row)[: SAMPLE["top_k"]]
    chances = np.exp(row[best] / SAMPLE["temperature"])
    shown = workspace.find(".candidates .p.chance").all_inner_texts()
    np.testing.assert_allclose([float(it) for it in shown[:4]], chances / chances.sum(), atol=6e-5)
    assert set(shown[4:10]) == {"out"}
    assert ids(own)[1] in best
    workspace.find(".roll").click()
    expect(workspace.find("#decoding-seed")).not_to_have_value("5")
    seed = int(workspace.find("#decoding-seed").input_value())
    assert json.loads(workspace.link["decode"]).get("seed", 0) == seed  # 0 goes without saying
    again = trace(workspace, decode={**SAMPLE, "seed": seed})
    expect(workspace.find("#output")).to_have_text(again["output"]["text"])


def test_a_typed_translation_is_scored(workspace: Workspace) -> None:
    begin(workspace, query=0)
    target = "这只狗很累。"
    workspace.find("#own-translation").fill(target)
    workspace.find("#own-translation").press("Enter")
    expect(workspace.find(".ledger")).to_have_count(2)
    workspace.find(f"{DRAWN}[data-method=target]").wait_for()
    assert workspace.link["target"] == target
    for nth, request in enumerate([{"target": target}, {}]):
        reply = trace(workspace, **request)
        rows = logprobs(workspace, **request)
        expected = rows[np.arange(len(rows)), ids(reply)]
        ranks = [1 + int((row > row[id_]).sum()) for row, id_ in zip(rows, ids(reply), strict=True)]
        table = workspace.page.evaluate(LEDGER, nth)
        np.testing.assert_allclose([number(row[1]) for row in table], np.exp(expected), atol=6e-5)
        np.testing.assert_allclose([number(row[2]) for row in table], expected, atol=6e-3)
        assert [int(row[3]) for row in table] == ranks
        ledger = workspace.find(".ledger").nth(nth)
        entropy = ledger.locator("[data-of=entropy]").inner_text()
        np.testing.assert_allclose(float(entropy.split()[0]), -expected.mean(), atol=0.0051)
        perplexity = float(ledger.locator("[data-of=perplexity]").inner_text())
        np.testing.assert_allclose(perplexity, np.exp(-expected.mean()), atol=0.0051)
    workspace.find(".versus .button").click()
    expect(workspace.find("#output")).to_have_text(trace(workspace)["output"]["text"])


def test_the_same_in_chinese(workspace: Workspace) -> None:
    source = "他的房子有一个大花园。"
    begin(workspace, source=source, lang="zh", query=2)
    count = len(trace(workspace, source=source)["output"]["tokens"])
    expect(workspace.find(".where")).to_have_text(f"第 3 步，共 {count} 步")
    assert workspace.find(".theatre").evaluate(WORDS) == []


def test_what_goes_wrong_is_said(page: Page, workspace: Workspace, watch: Watch) -> None:
    problem = {"type": "urn:headlight:internal", "title": "x", "status": 500, "detail": "x"}
    lines = [{"start": {}}, {"error": problem}]
    body = "".join(f"{json.dumps(line)}\n" for line in lines)

    def answer(route: Route) -> None:
        route.fulfill(status=200, content_type="application/x-ndjson", body=body)

    page.route("**/api/decode", answer)
    page.goto(f"{workspace.url}/?{urlencode({'source': SOURCE, 'view': 'decoding'})}")
    expect(workspace.find(".theatre .problem")).to_contain_text("Something went wrong")
    page.unroute("**/api/decode")
    workspace.find(".methods label").nth(1).click()
    workspace.find(DRAWN).wait_for()
    expect(workspace.find(".theatre .problem")).to_be_hidden()


def test_it_waits_for_the_first_tokens_and_a_newer_search_ends_the_older(
    page: Page, workspace: Workspace
) -> None:
    # It says that it waits for the first tokens.
    held: list[Route] = []
    page.route("**/api/decode", lambda route: held.append(route), times=1)
    page.goto(f"{workspace.url}/?{urlencode({'source': SOURCE, 'view': 'decoding'})}")
    page.wait_for_function("() => document.documentElement.dataset.status === 'ready'")
    waiting = workspace.find(".theatre .waiting")
    expect(waiting).to_have_text("Writing the first tokens …")
    held.pop().continue_()
    workspace.find(DRAWN).wait_for()
    expect(waiting).to_be_hidden()
    # A newer search ends the older.
    page.route("**/api/decode", lambda route: held.append(route), times=1)
    workspace.find("#source").fill("The dog sleeps.")
    workspace.find("#source").press("Enter")
    workspace.says("The dog sleeps.")
    page.wait_for_function("() => document.documentElement.dataset.status === 'ready'")
    with page.expect_event("requestfailed", lambda it: it.url.endswith("/api/decode")):
        workspace.find(".methods label").nth(1).click()
    workspace.find(f"{DRAWN}[data-method=beam]").wait_for()
    assert len(held) == 1
    best = [node["ids"] for node in page.evaluate(NODES) if node["best"]]
    assert max(best, key=len) == ids(
        trace(workspace, source="The dog sleeps.", decode={"method": "beam"})
    )
    expect(workspace.find(".theatre .problem")).to_be_hidden()


def test_a_share_of_a_model_that_is_gone_shows_what_was_frozen(
    page: Page, workspace: Workspace
) -> None:
    place = {"view": "decoding", "layer": 1, "head": 2, "query": 2, "lang": "en"}
    state = {"source": SOURCE, "decode": BEAM, **place}
    names = ["decoder.1.self.*", "encoder.1.self.*"]
    made = api.shared(workspace.url, state, select=names)
    page.route("**/api/models", lambda route: route.fulfill(json=[]))
    page.goto(f"{workspace.url}/s/{made['id']}")
    workspace.find(DRAWN).wait_for()
    reply = trace(workspace, decode=BEAM)
    expected = logprobs(workspace, decode=BEAM)[2]
    best = np.argsort(-expected)[:10]
    rows = page.evaluate(CANDIDATES)
    assert [int(row[0]) for row in rows] == best.tolist()
    np.testing.assert_allclose([number(row[1]) for row in rows], np.exp(expected[best]), atol=6e-5)
    assert [node["ids"] for node in page.evaluate(NODES) if node["best"]][-1] == ids(reply)
    assert workspace.find(".candidates .unknown").count() == 0
    expect(workspace.find(".next .note")).to_contain_text("Open it live to see the other beams")
    expect(workspace.find("#open-live")).to_be_visible()
    expect(workspace.find(".candidates button").first).to_be_disabled()
    expect(workspace.find(".look")).to_have_count(3)
