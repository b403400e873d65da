"""The decoding view, compared with the API's traces and with NumPy on its logits."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import Page, Route, expect

from tests.browsing import api
from tests.browsing.watch import Watch
from tests.browsing.workspace import Workspace
from tests.workspace.test_page_export import save

SOURCE = "The dog is tired, so it sleeps."
BEAM: dict[str, Any] = {"method": "beam", "beam": 3, "length_penalty": 1.0}
SAMPLE: dict[str, Any] = {"method": "sample", "temperature": 1.5, "top_k": 4, "seed": 5}
DRAWN = ".theatre[data-drawn=all]"
NODES = """() => [...document.querySelectorAll(".tree [data-node]")].map((node) => ({
    ids: node.dataset.node.split(",").map(Number), state: node.dataset.state,
    best: node.hasAttribute("data-best"), score: Number(node.dataset.score),
    text: [...node.querySelectorAll("text")].map((it) => it.textContent) }))"""
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


def begin(workspace: Workspace, **link: object) -> None:
    """Open the view and wait until all of it is there."""
    start = {"source": SOURCE, "view": "decoding", "layer": 1, "head": 2, "lang": "en"}
    workspace.go(**{**start, **link})
    workspace.find(DRAWN).wait_for()


def trace(workspace: Workspace, *select: str, **request: object) -> dict[str, Any]:
    return api.trace(workspace.url, *select, **{"source": SOURCE} | request)


def logprobs(workspace: Workspace, **request: object) -> NDArray[np.float64]:
    """Return the log-softmax of the logits, row by row, in float64."""
    reply = trace(workspace, "decoder.logits", **request)
    logits = np.array(reply["tensors"]["decoder.logits"]["data"], dtype=float)
    shifted = logits - logits.max(axis=-1, keepdims=True)
    found: NDArray[np.float64] = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return found


def ids(reply: dict[str, Any]) -> list[int]:
    return [token["id"] for token in reply["output"]["tokens"]]


def number(text: str) -> float:
    return float(text.replace("−", "-"))


def written(workspace: Workspace) -> str:
    return workspace.find("#output").inner_text()


def step(workspace: Workspace) -> list[str]:
    seen: list[str] = workspace.page.evaluate(STEP)
    return seen


def shows_candidates(workspace: Workspace, expected: NDArray[np.float64]) -> None:
    """Check the ids, probabilities and log-probabilities of a row's ten best tokens."""
    best = np.argsort(-expected)[:10]
    rows = workspace.page.evaluate(CANDIDATES)
    assert [int(row[0]) for row in rows] == best.tolist()
    np.testing.assert_allclose([number(row[1]) for row in rows], np.exp(expected[best]), atol=6e-5)
    np.testing.assert_allclose([number(row[2]) for row in rows], expected[best], atol=6e-3)


def test_each_step_shows_its_candidates_and_what_it_looks_at(workspace: Workspace) -> None:
    expected, reply = logprobs(workspace), trace(workspace)
    begin(workspace, query=5)
    shows_candidates(workspace, expected[5])
    rest = number(workspace.find(".candidates .rest .p").inner_text())
    assert rest == pytest.approx(1 - np.exp(np.sort(expected[5])[-10:]).sum(), abs=6e-5)
    # A special token with the most weight is a sink: mentioned, but its row explains nothing.
    sinks = set()
    for query in (0, len(reply["output"]["tokens"]) - 1):
        begin(workspace, query=query)
        looked = workspace.find(".look[data-block=cross] li.strongest .token").inner_text()
        read = workspace.find(".look[data-block=encoder] h4 .token")
        expect(read).to_have_count(1)
        assert not read.inner_text().startswith("<")
        notes = workspace.find(".strips > .note").all_inner_texts()
        assert len(notes) == looked.startswith("<")
        assert all(looked in note for note in notes)
        sinks.add(looked.startswith("<"))
    assert sinks == {True, False}, "the end looks at the end"

    begin(workspace, query=3, heads_of="head", lang="zh")
    expect(workspace.find(".where")).to_contain_text("第 4 步")
    assert workspace.find(".theatre").evaluate(WORDS) == []
    places = ("decoder.1.cross", "decoder.1.self", "encoder.1.self")
    names = [f"{place}.weights" for place in places]
    found = trace(workspace, *names)["tensors"]
    cross, own, encoder = (np.array(found[name]["data"], dtype=float)[2] for name in names)
    # The word with the most weight: special tokens stand at the two ends.
    looked_at = encoder[1 + cross[3][1:-1].argmax()]
    shown = {"cross": cross[3], "decoder": own[3][:4], "encoder": looked_at}
    seen = workspace.page.evaluate(STRIPS)
    assert seen.keys() == shown.keys()
    for block, row in shown.items():
        np.testing.assert_allclose(seen[block], row, atol=0.0051)


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
        output, row = reply["output"], workspace.find(f".versus .{kind}")
        seen = [number(row.locator(f"[data-of={of}]").inner_text()) for of in ("logprob", "score")]
        np.testing.assert_allclose(seen, [sum(output["logprobs"]), output["score"]], atol=0.0051)
        assert row.locator(".piece").count() == len(output["tokens"])
        assert row.locator(".piece.common").count() == 2
    expect(workspace.find(".finding")).to_contain_text("ranks it 2")
    workspace.find(".versus .button").click()
    expect(workspace.find(".versus")).to_be_hidden()
    expect(workspace.find("#output")).to_have_text(own["output"]["text"])
    assert "decode" not in workspace.link
    workspace.page.go_back()
    expect(workspace.find("#output")).to_have_text(expected["output"]["text"])
    # Another sentence starts without what was forced.
    text = workspace.find("#examples button").nth(1).locator("span").text_content() or ""
    workspace.example(1)
    workspace.says(text)
    workspace.find(DRAWN).wait_for()
    assert "prefix" not in workspace.link.get("decode", "")


def test_forward_and_back_are_exact_and_it_plays_to_the_end(workspace: Workspace) -> None:
    begin(workspace)
    expect(workspace.find("#caption")).to_contain_text("Step 1:")
    expect(workspace.find("#target-tokens .as-query")).to_have_count(1)
    page, play = workspace.page, workspace.find(".play")
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
    page.keyboard.press("Space")
    expect(play).to_contain_text("Pause")
    expect(workspace.find(".where")).to_contain_text("Step 2 of")
    page.keyboard.press("Space")
    expect(play).to_contain_text("Play")
    workspace.find(".written button").nth(len(there) - 2).click()
    play.click()
    expect(workspace.find(".where")).to_contain_text(f"Step {len(there)} of {len(there)}")
    expect(play).to_contain_text("Play")
    page.wait_for_function(f"() => location.search.includes('query={len(there) - 1}')")


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
        rows, chosen = logprobs(workspace, **request), ids(trace(workspace, **request))
        expected = rows[np.arange(len(rows)), chosen]
        ranks = [1 + int((row > row[id_]).sum()) for row, id_ in zip(rows, chosen, strict=True)]
        table = workspace.page.evaluate(LEDGER, nth)
        np.testing.assert_allclose([number(row[1]) for row in table], np.exp(expected), atol=6e-5)
        np.testing.assert_allclose([number(row[2]) for row in table], expected, atol=6e-3)
        assert [int(row[3]) for row in table] == ranks
        ledger, mean = workspace.find(".ledger").nth(nth), -expected.mean()
        for name, value in (("entropy", mean), ("perplexity", np.exp(mean))):
            said = ledger.locator(f"[data-of={name}]").inner_text()
            np.testing.assert_allclose(float(said.split()[0]), value, atol=0.0051)
    workspace.find(".versus .button").click()
    expect(workspace.find("#output")).to_have_text(trace(workspace)["output"]["text"])


def test_the_tree_of_a_beam_search(workspace: Workspace, tmp_path: Path) -> None:
    begin(workspace, decode=BEAM, query=2)
    expected = trace(workspace, decode=BEAM)
    nodes = workspace.page.evaluate(NODES)
    best = sorted((node for node in nodes if node["best"]), key=lambda node: len(node["ids"]))
    assert [node["ids"] for node in best] == [ids(expected)[: n + 1] for n in range(len(best))]
    assert best[-1]["ids"] == ids(expected)
    assert best[-1]["state"] == "finished"
    sums = np.cumsum(expected["output"]["logprobs"])
    scores = sums / ((5 + np.arange(1, len(sums) + 1)) / 6) ** BEAM["length_penalty"]
    np.testing.assert_allclose([node["score"] for node in best], scores, atol=1e-5)
    np.testing.assert_allclose([number(node["text"][1]) for node in best], scores, atol=0.0051)
    keys = {tuple(node["ids"]) for node in nodes} | {()}
    assert all(tuple(node["ids"][:-1]) in keys for node in nodes)
    for length in range(1, len(sums)):
        states = [node["state"] for node in nodes if len(node["ids"]) == length]
        assert states.count("live") == BEAM["beam"]
    assert any(node["state"] == "pruned" for node in nodes)
    picture = save(workspace, "SVG", tmp_path).read_text()
    assert picture.count("stroke-dasharray") > 3
    assert "class=" not in picture
    # A permalink shows the same numbers.
    before = step(workspace), nodes, written(workspace)
    assert before[2] == expected["output"]["text"]
    workspace.page.reload()
    workspace.find(DRAWN).wait_for()
    assert before == (step(workspace), workspace.page.evaluate(NODES), written(workspace))
    # A beam can be looked at, and another token be taken in it.
    workspace.find(".hypotheses label").nth(1).click()
    live = [node for node in nodes if len(node["ids"]) == 2 and node["state"] == "live"]
    second = sorted(live, key=lambda node: -node["score"])[1]
    fifth = workspace.find(".candidates button").nth(4)
    taken = int(fifth.get_attribute("data-id") or 0)
    fifth.click()
    workspace.find(f"{DRAWN} .versus").wait_for()
    decode = json.loads(workspace.link["decode"])
    assert decode == {**BEAM, "prefix": [*second["ids"], taken]}
    assert written(workspace) == trace(workspace, decode=decode)["output"]["text"]


def test_it_says_what_it_waits_for_and_what_goes_wrong(workspace: Workspace, watch: Watch) -> None:
    page, address = workspace.page, urlencode({"source": SOURCE, "view": "decoding"})
    held: list[Route] = []
    problem = {"type": "urn:headlight:internal", "title": "x", "status": 500, "detail": "x"}
    lines: list[dict[str, Any]] = [{"start": {}}, {"error": problem}]
    body = "".join(f"{json.dumps(line)}\n" for line in lines)

    def answer(route: Route) -> None:
        route.fulfill(status=200, content_type="application/x-ndjson", body=body)

    page.route("**/api/decode", answer)
    page.goto(f"{workspace.url}/?{address}")
    expect(workspace.find(".theatre .problem")).to_contain_text("Something went wrong")
    page.unroute("**/api/decode")
    page.route("**/api/decode", lambda route: held.append(route), times=1)
    page.goto(f"{workspace.url}/?{address}")
    page.wait_for_function("() => document.documentElement.dataset.status === 'ready'")
    expect(workspace.find(".theatre .waiting")).to_have_text("Writing the first tokens …")
    # A newer search ends the older.
    with page.expect_event("requestfailed", lambda it: it.url.endswith("/api/decode")):
        workspace.find(".methods label").nth(1).click()
    workspace.find(f"{DRAWN}[data-method=beam]").wait_for()
    assert len(held) == 1
    best = [node["ids"] for node in page.evaluate(NODES) if node["best"]]
    assert max(best, key=len) == ids(trace(workspace, decode={"method": "beam"}))
    expect(workspace.find(".theatre .problem")).to_be_hidden()
    expect(workspace.find(".theatre .waiting")).to_be_hidden()


def test_a_share_searches_again_or_shows_what_was_frozen(page: Page, workspace: Workspace) -> None:
    place = {"view": "decoding", "layer": 1, "head": 2, "query": 2, "lang": "en"}
    state = {"source": SOURCE, "decode": BEAM, **place}
    made = api.shared(workspace.url, state, select=["decoder.1.self.*", "encoder.1.self.*"])
    searched = ids(trace(workspace, decode=BEAM))
    for served in (True, False):
        if not served:
            page.route("**/api/models", lambda route: route.fulfill(json=[]))
        page.goto(f"{workspace.url}/s/{made['id']}")
        workspace.find(DRAWN).wait_for()
        best = [node["ids"] for node in page.evaluate(NODES) if node["best"]]
        assert max(best, key=len) == searched
        shows_candidates(workspace, logprobs(workspace, decode=BEAM)[2])
        change = workspace.find(".candidates button").first
        (expect(change).to_be_enabled if served else expect(change).to_be_disabled)()
    assert workspace.find(".candidates .unknown").count() == 0
    expect(workspace.find(".next .note")).to_have_text("A share keeps the path, not the search.")
    expect(workspace.find("#open-live")).to_be_hidden()
    expect(workspace.find(".look")).to_have_count(3)
