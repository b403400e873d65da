"""The score breakdown of the Q K V view, compared with q, k and the terms of the API."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import expect

from tests.browsing import api
from tests.browsing.printed import read
from tests.browsing.watch import Watch
from tests.browsing.workspace import Workspace
from tests.views.test_page_as_trained import share, without_model
from tests.workspace.test_page_export import save
from tests.workspace.test_page_requests import listening, posts

RUN = {"source": "The dog is tired.", "target": "这只狗累了。"}
START: dict[str, Any] = {
    **RUN, "view": "qkv", "block": "cross", "layer": 1, "head": 2, "query": 3, "key": 2
}  # fmt: skip
TABLE = """() => [...document.querySelectorAll(".score-terms tbody tr")].map((row) =>
    [...row.querySelectorAll("td[data-value]")].map((one) =>
        [Number(one.dataset.value), one.textContent]))"""
PLACES = {"cross": "decoder.{}.cross", "encoder": "encoder.{}.self", "decoder": "decoder.{}.self"}


def ask(url: str, select: list[str], **more: object) -> dict[str, Any]:
    return api.trace(url, *select, **RUN | more)


def score(url: str, place: str, head: int, query: int, key: int, **more: object) -> float:
    """Return q · k / √d_k of recorded vectors."""
    found = ask(url, [f"{place}.q", f"{place}.k"], **more)["tensors"]
    q, k = (np.array(found[f"{place}.{letter}"]["data"])[head] for letter in "qk")
    return float(q[query] @ k[key] / np.sqrt(q.shape[1]))


def shown(workspace: Workspace) -> NDArray[np.float64]:
    """Return the terms of the table, checked against what it prints."""
    expect(workspace.find(".score-terms[aria-busy=false] table")).to_be_visible()
    lines = workspace.page.evaluate(TABLE)
    for value, text in (cell for line in lines for cell in line):
        assert (read(text.removeprefix("+")) if text else 0) == pytest.approx(value, abs=0.0051)
    return np.array([[value for value, _ in line] for line in lines])


def test_the_terms_sum_to_the_score(workspace: Workspace) -> None:
    for block, layer, head, query, key in [("encoder", 2, 3, 1, 3), ("cross", 2, 7, 0, 4)]:
        at = {"block": block, "layer": layer, "head": head, "query": query, "key": key}
        workspace.open(**START | at, terms=1)
        terms = shown(workspace)
        expected = score(workspace.url, PLACES[block].format(layer), head, query, key)
        assert terms.sum() == pytest.approx(expected, abs=1e-4)
        expect(workspace.find(".score-terms .all")).to_have_text(
            f"{expected:+.2f}".replace("-", "−")
        )
        said = workspace.find(".score-terms .balance").inner_text()
        assert f"{expected:.4f}".replace("-", "−") in said
        values = workspace.find(".score-terms .says b").all_inner_texts()
        assert read(values[0]) == pytest.approx(expected, abs=0.0051)
        for value in values[1:]:
            assert abs(terms - read(value.removeprefix("+"))).min() < 0.0051


def test_nothing_is_asked_until_it_is_opened_then_it_follows(workspace: Workspace) -> None:
    workspace.open(**START)
    workspace.settled()
    asked = listening(workspace.page)
    workspace.find("#heads label").nth(5).click()
    workspace.settled()
    assert asked == []
    workspace.find(".of-score > summary").click()
    shown(workspace)
    assert workspace.link["terms"] == "1"
    assert [body["select"] for body in asked] == [["inside.score.decoder.1.cross.5.3.2.parts"]]
    workspace.find("#heads label").nth(0).click()
    workspace.settled()
    expected = score(workspace.url, "decoder.1.cross", 0, 3, 2)
    assert shown(workspace).sum() == pytest.approx(expected, abs=1e-4)
    workspace.find("#source-tokens .chip").nth(1).click()
    workspace.settled()
    assert len(asked) == 3
    workspace.find(".of-score > summary").click()
    workspace.settled()
    assert "terms" not in workspace.link
    workspace.find("#heads label").nth(3).click()
    workspace.settled()
    assert len(asked) == 3, "closed again"


def test_a_masked_cell_says_so_in_chinese_too(workspace: Workspace) -> None:
    workspace.open(**START | {"block": "decoder", "query": 1, "key": 3}, terms=1)
    terms = shown(workspace)
    assert terms.sum() == pytest.approx(score(workspace.url, "decoder.1.self", 2, 1, 3), abs=1e-4)
    expect(workspace.find(".score-terms .says")).to_contain_text("but it is masked")
    # It is in chinese too.
    workspace.open(**START, terms=1, lang="zh")
    shown(workspace)
    expect(workspace.find(".score-terms .says")).to_contain_text("其中最大的几项")


def test_both_runs_of_a_changed_model(workspace: Workspace) -> None:
    workspace.page.set_viewport_size({"width": 1920, "height": 1080})
    change = {"at": "encoder.1.self", "head": 2, "do": "zero"}
    workspace.open(**START, terms=1, interventions=json.dumps([change]))
    expect(workspace.find(".score-terms[aria-busy=false] table")).to_have_count(2)
    for run, changes in (("trained", []), ("changed", [change])):
        said = workspace.find(f"[data-as={run}] .score-terms .balance")
        expected = score(workspace.url, "decoder.1.cross", 2, 3, 2, interventions=changes)
        expect(said).to_contain_text(f"{expected:.4f}".replace("-", "−"))


def test_a_share_and_a_handout_hold_what_was_open(
    workspace: Workspace, watch: Watch, tmp_path: Path
) -> None:
    workspace.open(**START, terms=1)
    terms = shown(workspace)
    file = save(workspace, "HTML", tmp_path)
    id_ = share(workspace)
    without_model(workspace)
    asked = posts(workspace)
    workspace.page.goto(f"{workspace.url}/s/{id_}")
    np.testing.assert_array_equal(shown(workspace), terms)
    workspace.find("#heads label").nth(5).click()
    expect(workspace.find(".score-terms")).to_contain_text("This was not saved with the share")
    assert asked == []
    workspace.find("#heads label").nth(2).click()
    np.testing.assert_array_equal(shown(workspace), terms)
    watch.expect(f"request to elsewhere: {file.as_uri()}")
    workspace.page.goto(file.as_uri())
    np.testing.assert_array_equal(shown(workspace), terms)
    buttons = workspace.find(".score-terms .part-name").all_inner_texts()
    assert any("feed-forward" in name for name in buttons)
    linked = workspace.find(".score-terms button.part-name").all_inner_texts()
    assert linked, "heads are in the file"
    assert not [name for name in linked if "head" not in name], "the worksheet is not"
    workspace.find("#heads label").nth(5).click()
    expect(workspace.find(".score-terms")).to_contain_text("This was not saved with the share")


def test_a_head_and_a_layer_are_a_click_away(workspace: Workspace) -> None:
    # The inspector leads to it.
    workspace.open(**START | {"view": "attention"})
    workspace.find("#split-score").click()
    terms = shown(workspace)
    assert terms.sum() == pytest.approx(score(workspace.url, "decoder.1.cross", 2, 3, 2), abs=1e-4)
    expect(workspace.find(".score-terms .says")).to_be_in_viewport()
    # A head and a layer are a click away.
    workspace.open(**START | {"block": "decoder", "layer": 2, "query": 4, "key": 1}, terms=1)
    shown(workspace)
    head = workspace.page.locator(".score-terms tbody button", has_text="cross, head").first
    layer, name = (part.inner_text() for part in head.locator("span").all())
    head.click()
    link = workspace.link
    assert (link["view"], link["block"], link["query"]) == ("qkv", "cross", "4")
    assert (layer, name) == (
        f"layer {int(link['layer']) + 1}",
        f"cross, head {int(link['head']) + 1}",
    )
    shown(workspace)  # and it goes on
    workspace.page.go_back()
    shown(workspace)
    workspace.page.locator(".score-terms thead button", has_text="feed-forward").first.click()
    link = workspace.link
    assert (link["view"], link["block"], link["step"]) == ("worksheet", "decoder", "ffn")
    assert link["query"] == "1", "the key's own stream"


def test_a_relative_position_is_named(workspace: Workspace) -> None:
    """Recorded scores have it; q · k alone does not."""
    place = {"source": "3 1 4 2", "block": "encoder", "layer": 0, "head": 0, "query": 1, "key": 2}
    workspace.open(**place, model="zoo-reverse-relative", view="qkv", terms=1)
    terms = shown(workspace)
    name = "encoder.0.self"
    request = {"model": "zoo-reverse-relative", "source": "3 1 4 2"}
    expected = api.tensors(workspace.url, f"{name}.scores", **request)[f"{name}.scores"][0, 1, 2]
    added = workspace.find(".score-terms .says b").last.inner_text()
    assert terms.sum() + read(added.removeprefix("+")) == pytest.approx(expected, abs=0.0052)
    assert abs(terms.sum() - expected) > 0.01, "it is not zero here"
