"""What a model predicts: the next token, the word at a mask, an answer in a chat."""

import json

import httpx
from playwright.sync_api import expect

from tests.browsing.api import client
from tests.browsing.workspace import Workspace
from tests.huggingface.answers import TEXT, candidates, run


def test_a_decoder_shows_what_comes_next_and_writes_on(workspace: Workspace) -> None:
    page = workspace.page
    workspace.open(model="llama", source=TEXT, lang="zh")
    expected = candidates(workspace, "llama", TEXT, -1)
    expect(page.locator("#predicted button")).to_have_count(6)
    first = page.locator("#predicted button .token").first
    assert first.inner_text().replace("·", " ") == expected[0]
    page.locator("#source-tokens button").nth(1).click()
    expect(page.locator("#predicted-where")).to_contain_text("cat")
    expect(page.locator("#write-on")).to_have_text("续写")
    workspace.open(model="llama", source=TEXT)
    button = page.locator("#predicted button:enabled").first
    word = button.locator(".token").inner_text().replace("·", " ")
    button.click()
    expect(page.locator("#source")).to_have_value(TEXT + word)
    workspace.open(model="llama", source=TEXT)
    asked = {"text": TEXT, "model": "llama"}
    *_, end = client.post(f"{workspace.url}/api/decode", json=asked).text.splitlines()
    page.locator("#write-on").click()
    page.locator("#take-over").click()
    expect(page.locator("#take-over")).to_be_hidden()
    text = httpx.Response(200, text=end).json()["end"]["output"]["text"]
    assert page.locator("#source").input_value() == TEXT + text


def test_an_encoder_fills_in_the_mask_and_a_model_of_two_texts_shows_what_it_writes(
    workspace: Workspace,
) -> None:
    page = workspace.page
    workspace.open(model="bert", source=TEXT)
    expect(page.locator("#continuation")).to_contain_text("[MASK]")
    page.locator("#source-tokens button").nth(2).click()
    page.locator("#write-on").click()
    hidden = TEXT.replace("cat", "[MASK]")
    expect(page.locator("#source")).to_have_value(hidden)
    expect(page.locator("#predicted-where")).to_contain_text("[MASK]")
    expected = candidates(workspace, "bert", hidden, 2)
    first = page.locator("#predicted button .token").first
    expect(first).to_have_text(expected[0].strip().join(["·" if expected[0][0] == " " else "", ""]))
    button = page.locator("#predicted button:enabled").first
    word = button.locator(".token").inner_text().lstrip("·")
    button.click()
    expect(page.locator("#source")).to_have_value(TEXT.replace("cat", word))
    workspace.open(model="t5", source=TEXT)
    expect(workspace.page.locator("#predictions")).to_be_hidden()
    expect(workspace.page.locator("#target-tokens button").first).to_be_visible()


def test_a_text_is_a_turn_of_a_chat(workspace: Workspace) -> None:
    page = workspace.page
    workspace.open(model="llama", source=TEXT)
    expect(page.locator("#as-chat")).to_be_hidden()
    workspace.open(model="chat", source=TEXT)
    plain = page.locator("#source-tokens button").count()
    page.locator("#as-chat").click()
    expect(page.locator("#write-on")).to_have_text("Let it answer")
    assert workspace.link["chat"] == "1"
    chat = {"model": "chat", "chat": True}
    body = {"text": TEXT, "select": [], **chat}
    read_ = client.post(f"{workspace.url}/api/trace", json=body).json()["tokens"]["text"]
    expect(page.locator("#source-tokens button")).to_have_count(len(read_))
    assert len(read_) > plain
    expect(page.locator("#source-tokens .around").first).to_be_visible()
    # A candidate begins the answer, and stays out of the text.
    for count in (1, 2):
        page.locator("#predicted button:enabled").first.click()
        expect(page.locator("#source-tokens .continued")).to_have_count(count)
    expect(page.locator("#source-tokens button")).to_have_count(len(read_) + 2)
    assert page.locator("#source").input_value() == TEXT
    assert len(json.loads(workspace.link["decode"])["prefix"]) == 2
    page.locator("#write-on").click()
    page.locator("#take-over").click()
    answer = run(workspace, **chat, decode={"max_tokens": 20})
    count = len(answer["tokens"]) - answer["continues"] - answer["finished"]
    expect(page.locator("#source-tokens .continued")).to_have_count(count)
    page.reload()
    workspace.drawn()
    expect(page.locator("#as-chat input")).to_be_checked()
    expect(page.locator("#source-tokens .continued")).to_have_count(count)
