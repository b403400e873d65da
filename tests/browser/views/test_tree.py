"""The tree of a beam search, compared with /api/trace and the equation of the score."""

import json
import re

import numpy as np
from playwright.sync_api import Page, expect

from tests.browser import api
from tests.browser.views.theatre import (
    BEAM,
    DRAWN,
    NODES,
    SOURCE,
    begin,
    ids,
    number,
    trace,
    written,
)
from tests.browser.workspace import Workspace


def test_the_best_path_of_the_tree_is_the_beam_search(workspace: Workspace, page: Page) -> None:
    # The best path of the tree is the beam search.
    begin(workspace, decode=BEAM, query=1)
    expected = trace(workspace, decode=BEAM)
    nodes = workspace.page.evaluate(NODES)
    best = sorted((node for node in nodes if node["best"]), key=lambda node: len(node["ids"]))
    assert best[-1]["ids"] == ids(expected)
    assert [node["ids"] for node in best] == [ids(expected)[: n + 1] for n in range(len(best))]
    assert best[-1]["state"] == "finished"
    sums = np.cumsum(expected["output"]["logprobs"])
    lengths = np.arange(1, len(sums) + 1)
    scores = sums / ((5 + lengths) / 6) ** BEAM["length_penalty"]
    np.testing.assert_allclose([node["score"] for node in best], scores, atol=1e-5)
    np.testing.assert_allclose([number(node["text"][1]) for node in best], scores, atol=0.0051)
    keys = {tuple(node["ids"]) for node in nodes} | {()}
    assert all(tuple(node["ids"][:-1]) in keys for node in nodes)
    for length in range(1, len(sums)):
        column = [node for node in nodes if len(node["ids"]) == length]
        assert sum(node["state"] == "live" for node in column) == BEAM["beam"]
    assert any(node["state"] == "pruned" for node in nodes)
    # The tree is taken away as a picture.
    page.locator("#export").click()
    with page.expect_download() as download:
        page.locator(".export-kind", has_text=re.compile("SVG")).click()
    picture = download.value.path().read_text()
    assert picture.count("stroke-dasharray") > 3
    assert "class=" not in picture


def test_a_beam_can_be_looked_at_and_another_token_taken_in_it(
    workspace: Workspace, page: Page
) -> None:
    begin(workspace, decode=BEAM, query=2)
    workspace.find(".hypotheses label").nth(1).click()
    nodes = workspace.page.evaluate(NODES)
    live = [node for node in nodes if len(node["ids"]) == 2 and node["state"] == "live"]
    second = sorted(live, key=lambda node: -node["score"])[1]
    fifth = workspace.find(".candidates button").nth(4)
    taken = int(fifth.get_attribute("data-id") or 0)
    fifth.click()
    workspace.find(f"{DRAWN} .versus").wait_for()
    decode = json.loads(workspace.link["decode"])
    assert decode == {**BEAM, "prefix": [*second["ids"], taken]}
    assert written(workspace) == trace(workspace, decode=decode)["output"]["text"]
    # A share of a model that is served searches again.
    state = {"source": SOURCE, "view": "decoding", "decode": BEAM, "query": 2, "lang": "en"}
    made = api.shared(workspace.url, state)
    page.goto(f"{workspace.url}/s/{made['id']}")
    workspace.find(DRAWN).wait_for()
    best = max((node["ids"] for node in page.evaluate(NODES) if node["best"]), key=len)
    assert best == ids(trace(workspace, decode=BEAM))
    expect(workspace.find(".candidates button").first).to_be_enabled()  # a share can be changed
