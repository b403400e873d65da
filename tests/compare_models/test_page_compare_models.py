"""Two models on one sentence: alignment and differences are recomputed from the API's tokens."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, Request, expect

from tests.browsing import api
from tests.browsing.api import client
from tests.browsing.fixtures import PATIENCE_MS
from tests.browsing.legible import overflow
from tests.browsing.watch import Watch
from tests.browsing.workspace import Workspace
from tests.model.tiny_huggingface import make
from tests.servers import AppServer, running_app
from tests.workspace.test_page_export import save

pytest.importorskip("transformers")

TEXT = "The cat sat on the mat."
START: dict[str, Any] = {"source": TEXT, "view": "compare", "other": "model"}
LLAMA: dict[str, Any] = {"model_b": "llama", "block_b": "decoder", "layer_b": 1, "head_b": 0}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory, server_cache: Path) -> Iterator[AppServer]:
    root = tmp_path_factory.mktemp("models")
    made = [f"{name}=hf:{make(name, root / name)}" for name in ("llama", "bert", "t5")]
    settings = {"models": ",".join(["en-zh", *made]), "zoo": "true"}
    data = tmp_path_factory.mktemp("compared")
    with running_app(data, settings, warm=True, cache=server_cache) as server:
        yield server


@pytest.fixture
def workspace(page: Page, watch: Watch, models: AppServer) -> Workspace:
    page.set_default_timeout(PATIENCE_MS)
    return Workspace(page, models.url)


def run(workspace: Workspace, place: str, head: int, **asked: object) -> tuple[Any, Any, Any]:
    """Return the API's document, and one head's weights and mask."""
    select = [f"{place}.weights", f"{place}.mask"]
    reply = api.trace(workspace.url, *select, **asked)
    weights, mask = map(api.arrays(reply).__getitem__, select)
    return reply, weights[head], mask


def spans(tokens: list[dict[str, Any]]) -> list[Any]:
    """Return what a token covers, without spaces at its ends; a special one's name."""
    found: list[Any] = []
    for token in tokens:
        start, end = token["start"], token["end"]
        covered = TEXT[start:end]
        start += len(covered) - len(covered.lstrip())
        end -= len(covered) - len(covered.rstrip())
        found.append(token["text"] if token["special"] else (start, end))
    return found


def shared(a: list[Any], b: list[Any]) -> list[tuple[int, int]]:
    """Return the equal tokens; in this text none covers the same characters as another."""
    return [(i, b.index(one)) for i, one in enumerate(a) if one in b and one != ""]


def ready(workspace: Workspace) -> None:
    expect(workspace.find(".trio-b .chart[data-drawn]")).to_be_visible()
    workspace.settled()


def test_each_has_its_tokens_and_equal_ones_are_subtracted_and_lit(workspace: Workspace) -> None:
    workspace.open(**START, **LLAMA, block="encoder", layer=1, head=1)
    ready(workspace)
    one, first, _ = run(workspace, "encoder.1.self", 1, source=TEXT)
    two, second, mask = run(workspace, "decoder.1.self", 0, model="llama", text=TEXT)
    pictures = workspace.charts(".trio")
    np.testing.assert_allclose(pictures[0].values, first, atol=1e-5)
    np.testing.assert_allclose(pictures[1].values, np.where(mask, second, np.nan), atol=1e-5)
    own, others = spans(one["tokens"]["source"]), spans(two["tokens"]["text"])
    pairs = shared(own, others)
    assert len(pairs) > 1
    expected = np.array(
        [[second[j, m] - first[i, k] if mask[j, m] else np.nan for k, m in pairs] for i, j in pairs]
    )
    np.testing.assert_allclose(pictures[2].values, expected, atol=1e-5)
    row = next(i for i, token in enumerate(one["tokens"]["source"]) if token["text"] == " mat")
    start, end = own[row]
    touched = [j for j, it in enumerate(others) if it[0] < end and it[1] > start]
    workspace.page.mouse.move(*workspace.cell(row, 1, of=".trio-a"))
    lit = workspace.find(".trio-b .labels.rows .label.lit")
    expect(lit).to_have_count(len(touched))
    words = [two["tokens"]["text"][j]["text"].strip() for j in touched]
    assert [one.removeprefix("·") for one in lit.all_inner_texts()] == words
    workspace.page.mouse.click(*workspace.cell(touched[0], touched[0], of=".trio-b"))
    assert workspace.link["query"] == str(row), "pinned as the token of A"
    workspace.page.keyboard.press("Escape")
    assert "query" not in workspace.link
    workspace.page.set_viewport_size({"width": 320, "height": 800})
    workspace.settled()
    boxes = workspace.boxes(".trio-a, .trio-b, .trio-delta")
    assert len(boxes) == 3
    assert len({round(box["x"]) for box in boxes}) == 1, "below each other on a phone"
    assert not overflow(workspace.page, 320)


def test_one_request_a_change_and_none_for_another_head(workspace: Workspace) -> None:
    asked: list[dict[str, Any]] = []

    def heard(request: Request) -> None:
        if request.url.endswith("/api/trace") and '"llama"' in (request.post_data or ""):
            asked.append(json.loads(request.post_data or ""))

    workspace.open(**START, block="encoder", layer=1, head=1, model_b="llama")
    ready(workspace)
    chosen = workspace.link
    assert {"model_b", "block_b", "layer_b", "head_b"} <= chosen.keys(), "it opens the same again"
    workspace.page.on("request", heard)
    other = (int(chosen["head_b"]) + 1) % 4
    workspace.find(".other label").nth(other).click()
    ready(workspace)
    assert workspace.link["head_b"] == str(other)
    assert asked == [], "nor for the head that opened, whose layer came with all others"
    workspace.find("#source").fill("The cat sat on a mat.")
    workspace.says("The cat sat on a mat.")
    ready(workspace)
    assert len(asked) == 1
    layer = chosen["layer_b"]
    names = [f"decoder.{layer}.self.weights", f"decoder.{layer}.self.mask"]
    assert asked[0] == {"text": "The cat sat on a mat.", "model": "llama", "select": names}
    workspace.page.remove_listener("request", heard)


def test_pickers_choose_the_model_and_its_place(workspace: Workspace) -> None:
    workspace.open(**{**START, "other": "sentence"}, block="encoder", layer=1, head=1)
    workspace.find(".options").get_by_text("the model", exact=True).click()
    ready(workspace)
    workspace.find(".options select").first.select_option("t5")
    ready(workspace)
    assert workspace.link["block_b"] == "encoder", "as A's, within the sentence"
    workspace.find(".options select").nth(1).select_option("cross")
    ready(workspace)
    workspace.find(".options select").nth(2).select_option("0")
    ready(workspace)
    link = workspace.link
    assert (link["model_b"], link["block_b"], link["layer_b"]) == ("t5", "cross", "0")
    expect(workspace.find("#view .hint")).to_contain_text("rows of A and B are different texts")
    expect(workspace.find(".trio-delta")).to_be_hidden()
    workspace.find(".options").get_by_text("the head", exact=True).click()
    expect(workspace.find(".options select")).to_have_count(0)
    expect(workspace.find(".trio .chart[data-drawn]")).to_have_count(3)


def test_another_task_has_another_b_and_one_that_cannot_read_it_says_why(
    workspace: Workspace, watch: Watch
) -> None:
    workspace.open(**START, **LLAMA, block="encoder", layer=1, head=1)
    ready(workspace)
    for model, b in (("zoo-reverse", "zoo-reverse-"), ("t5", "(en-zh|llama|bert)&")):
        workspace.find("#model").select_option(model)
        expect(workspace.page).to_have_url(re.compile(f"model={model}&.*model_b={b}"))
        ready(workspace)
        expect(workspace.find("#view .hint [role=alert]")).to_have_count(0)
    watch.expect("status of 422")
    place: dict[str, Any] = {"block": "encoder", "layer": 1, "head": 1}
    workspace.go(**{**START, "source": 4 * TEXT}, **place, model_b="zoo-copy")
    expect(workspace.find("#view .hint [role=alert]")).to_be_visible()
    expect(workspace.find(".trio")).to_be_hidden()


def test_a_share_and_a_handout_show_both_when_b_is_gone(
    workspace: Workspace, watch: Watch, tmp_path: Path
) -> None:
    page = workspace.page
    workspace.open(**START, **LLAMA, block="encoder", layer=1, head=1)
    ready(workspace)
    before = workspace.charts(".trio")
    file = save(workspace, "HTML", tmp_path)
    address = workspace.share()
    models = client.get(f"{workspace.url}/api/models").json()
    kept = [one for one in models if one["id"] in ("en-zh", "bert")]
    page.route("**/api/models", lambda route: route.fulfill(json=kept))
    page.goto(f"{workspace.url}/s/{address.rpartition('/')[2]}")
    workspace.drawn()
    ready(workspace)
    for one, other in zip(workspace.charts(".trio"), before, strict=True):
        np.testing.assert_array_equal(one.values, other.values)
    options = workspace.find(".options select").first.locator("option")
    expect(options).to_have_count(2)
    workspace.find(".other label").nth(1).click()
    ready(workspace)
    assert workspace.find(".trio-b h3").inner_text().startswith("B Decoder, layer 2, head 2")
    workspace.find(".options select").nth(2).select_option("0")
    expect(workspace.find(".trio-b h3")).to_contain_text("layer 1")
    ready(workspace)
    page.unroute("**/api/models")
    watch.expect(f"request to elsewhere: {file.as_uri()}")
    page.goto(file.as_uri())
    workspace.drawn()
    ready(workspace)
    for one, other in zip(workspace.charts(".trio"), before, strict=True):
        np.testing.assert_array_equal(one.values, other.values)
    offered = workspace.find(".options .choice").first.locator("span").all_inner_texts()
    assert offered == ["the head", "the layer", "the model"], "no other sentence was kept"
    workspace.find(".options select").nth(2).select_option("0")
    expect(workspace.find(".trio-b h3")).to_contain_text("layer 1")
    workspace.find(".other label").nth(1).click()
    ready(workspace)
    _, weights, mask = run(workspace, "decoder.0.self", 1, text=TEXT, model="llama")
    shown = workspace.charts(".trio")[1].values
    np.testing.assert_allclose(shown, np.where(mask, weights, np.nan), atol=1e-6)
