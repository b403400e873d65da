"""Models of `transformers` on the page: tiny and random, made for the test."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.browser.watch import Watch
from tests.browser.workspace import Workspace
from tests.model.tiny_huggingface import make
from tests.servers import AppServer, running_app

pytest.importorskip("transformers")

MODELS = ["llama", "bert", "t5", "gpt-oss"]
TEXT = "The cat sat on the mat"


@pytest.fixture(scope="module")
def huggingface(
    tmp_path_factory: pytest.TempPathFactory, server_cache: Path
) -> Iterator[AppServer]:
    root = tmp_path_factory.mktemp("models")
    served = ",".join(f"{name}=hf:{make(name, root / name)}" for name in MODELS)
    settings = {"models": served, "zoo": "false"}
    data = tmp_path_factory.mktemp("huggingface")
    with running_app(data, settings, warm=True, cache=server_cache) as server:
        yield server


@pytest.fixture
def workspace(page: Page, watch: Watch, huggingface: AppServer) -> Workspace:
    page.set_default_timeout(20_000)
    return Workspace(page, huggingface.url)


def candidates(workspace: Workspace, model: str, text: str, row: int) -> list[str]:
    """The tokens that the server predicts at a row, best first."""
    asked = {"text": text, "model": model, "select": ["*.candidates"]}
    found = httpx.post(f"{workspace.url}/api/trace", json=asked).json()
    [tensor] = found["tensors"].values()
    return [found["pieces"][str(id_)]["text"] for id_ in tensor["data"][row]]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_decoder_shows_what_comes_next(workspace: Workspace, lang: str) -> None:
    page = workspace.page
    workspace.open(model="llama", source=TEXT, lang=lang)
    expected = candidates(workspace, "llama", TEXT, -1)
    expect(page.locator("#predicted button")).to_have_count(6)
    first = page.locator("#predicted button .token").first
    assert first.inner_text().replace("·", " ") == expected[0]
    page.locator("#source-tokens button").nth(1).click()
    expect(page.locator("#predicted-where")).to_contain_text("cat")
    expect(page.locator("#write-on")).to_have_text("Continue the text" if lang == "en" else "续写")


def test_a_candidate_goes_into_the_text(workspace: Workspace) -> None:
    page = workspace.page
    workspace.open(model="llama", source=TEXT)
    button = page.locator("#predicted button:enabled").first
    word = button.locator(".token").inner_text().replace("·", " ")
    button.click()
    expect(page.locator("#source")).to_have_value(TEXT + word)


def test_a_decoder_writes_on(workspace: Workspace) -> None:
    page = workspace.page
    workspace.open(model="llama", source=TEXT)
    asked = {"text": TEXT, "model": "llama"}
    *_, end = httpx.post(f"{workspace.url}/api/decode", json=asked).text.splitlines()
    page.locator("#write-on").click()
    page.locator("#take-over").click()
    expect(page.locator("#take-over")).to_be_hidden()
    text = httpx.Response(200, text=end).json()["end"]["output"]["text"]
    assert page.locator("#source").input_value() == TEXT + text


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_an_encoder_fills_in_the_mask(workspace: Workspace, lang: str) -> None:
    page = workspace.page
    workspace.open(model="bert", source=TEXT, lang=lang)
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


def test_a_model_of_two_texts_shows_what_it_writes(workspace: Workspace) -> None:
    workspace.open(model="t5", source=TEXT)
    expect(workspace.page.locator("#predictions")).to_be_hidden()
    expect(workspace.page.locator("#target-tokens button").first).to_be_visible()


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_inside_takes_a_prediction_apart(workspace: Workspace, lang: str) -> None:
    page = workspace.page
    workspace.open(model="llama", source=TEXT, view="inside", query=1, lang=lang)
    expect(page.locator("#view .lens tbody tr")).to_have_count(2)
    asked = {"text": TEXT, "model": "llama", "select": ["inside.logit.total"]}
    found = httpx.post(f"{workspace.url}/api/trace", json=asked).json()
    logit = found["tensors"]["inside.logit.total"]["data"][1]
    shown = f"{logit:.4f}".replace("-", "−")
    expect(page.locator("#view .balance")).to_contain_text(shown)
    expect(page.locator("#view .lens .own .token").first).to_contain_text("sat")  # the next one


def test_a_lens_without_a_sum_says_so(workspace: Workspace) -> None:
    page = workspace.page
    workspace.open(model="bert", source=TEXT.replace("cat", "[MASK]"), view="inside", query=2)
    expect(page.locator("#view .lens tbody tr")).to_have_count(2)
    expect(page.locator("#view")).to_contain_text("not a sum of contributions")
    expect(page.locator("#view .of-heads")).to_have_count(0)


def test_sinks_and_shared_heads_are_named(workspace: Workspace) -> None:
    page = workspace.page
    workspace.open(model="gpt-oss", source=TEXT, view="attention", layer=1, head=2)
    expect(page.locator("#view .notes")).to_contain_text("Query heads 3–4 share key head 2.")
    expect(page.locator("#view .notes")).to_contain_text("attention sink, which is not a token")
    asked = {"text": TEXT, "model": "gpt-oss", "select": ["decoder.1.self.sink"]}
    found = httpx.post(f"{workspace.url}/api/trace", json=asked).json()
    sink = found["tensors"]["decoder.1.self.sink"]["data"][2]
    mean = sum(sink) / len(sink)
    expect(page.locator("#view .notes")).to_contain_text(f"{mean:.2f} on average")
