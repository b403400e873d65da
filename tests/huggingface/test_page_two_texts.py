"""Two texts of an encoder: the second field, the filter between them, and links."""

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browsing.api import client
from tests.browsing.workspace import Workspace

FIRST, SECOND = "the cat sat", "a dog ran"


def test_a_second_text_is_typed_and_is_in_the_link(workspace: Workspace) -> None:
    page = workspace.page
    workspace.open(model="bert", source=FIRST)
    before = page.locator("#source-tokens .chip").count()
    page.locator("#pair").fill(SECOND)
    expect(page.locator("#source-tokens .chip.second")).to_have_count(
        sum(bool(token["pair"]) for token in tokens(workspace))
    )
    assert page.locator("#source-tokens .chip").count() > before
    workspace.settled()
    assert "pair=a+dog+ran" in page.url
    page.reload()
    expect(page.locator("#pair")).to_have_value(SECOND)
    page.locator("#pair").fill("")
    expect(page.locator("#source-tokens .chip")).to_have_count(before)
    expect(page.locator("#source-tokens .chip.second")).to_have_count(0)


@pytest.mark.parametrize("model", ["llama", "t5"])
def test_a_model_without_pairs_has_no_second_field(workspace: Workspace, model: str) -> None:
    workspace.open(model=model, source=FIRST, pair=SECOND)
    expect(workspace.page.locator("#source-tokens .chip").first).to_be_visible()
    expect(workspace.page.locator("#pair")).to_be_hidden()
    expect(workspace.page.locator("#source-tokens .chip.second")).to_have_count(0)


@pytest.mark.parametrize("view", ["attention", "lines", "heads"])
def test_what_is_shown_can_be_limited_to_one_direction(workspace: Workspace, view: str) -> None:
    page = workspace.page
    workspace.open(
        model="bert", source=FIRST, pair=SECOND, view=view, between="ab", layer="0", head="0"
    )
    read = tokens(workspace)
    first = [token for token in read if not token["pair"]]
    second = [token for token in read if token["pair"]]
    expect(page.locator("#view")).to_contain_text("A → B")
    if view == "lines":
        expect(page.locator("[data-end^=query]")).to_have_count(len(first))
        expect(page.locator("[data-end^=key]")).to_have_count(len(second))
    if view == "attention":
        reply = client.post(f"{workspace.url}/api/trace", json=asked()).json()
        weights = np.array(reply["tensors"]["encoder.0.self.weights"]["data"])[0]
        share = weights[: len(first), len(first) :].sum(1).mean()
        expect(page.locator(".notes")).to_contain_text(f"It is {share:.2f} of a row")
    workspace.open(model="bert", source=FIRST, view=view)
    expect(page.locator("#view")).not_to_contain_text("A → B")


def test_a_mask_in_the_second_text_is_filled_there(workspace: Workspace) -> None:
    page = workspace.page
    workspace.open(model="bert", source=FIRST, pair="a [MASK] ran")
    page.locator("#predicted button:enabled").first.click()
    expect(page.locator("#source")).to_have_value(FIRST)
    expect(page.locator("#pair")).not_to_have_value("a [MASK] ran")


def asked() -> dict[str, object]:
    return {"text": FIRST, "pair": SECOND, "model": "bert", "select": ["encoder.0.self.weights"]}


def tokens(workspace: Workspace) -> list[dict[str, object]]:
    reply = client.post(f"{workspace.url}/api/trace", json=asked()).json()
    read: list[dict[str, object]] = reply["tokens"]["text"]
    return read
