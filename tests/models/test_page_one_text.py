"""Models of one text: the page uses only their table of attentions."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from model.adapters.requests.request import Request
from tests.browsing import api
from tests.browsing.fixtures import PATIENCE_MS
from tests.browsing.watch import Watch
from tests.browsing.workspace import Workspace
from tests.model.decoder_only import Kind, OneText
from tests.servers import AppServer, running_app

KINDS = ["decoder", "encoder"]
SENTENCE = "The cat sat on the mat"
VIEWS = ["lines", "attention", "qkv", "space", "positions", "heads", "flow", "compare"]
DRAWN = {
    "heads": "#view canvas",
    "lines": "#view .weave [data-strand]",
    "qkv": "#view .panel.k canvas",
    "positions": "#view canvas",
    "flow": "#view .river [data-edge]",
    "space": "#view .qk-plane svg",
    "compare": "#view .trio-b canvas",
}


@pytest.fixture(scope="module", params=KINDS)
def one_text(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, server_cache: Path
) -> Iterator[AppServer]:
    folder, module = tmp_path_factory.mktemp(request.param), ("tests.one_text", request.param)
    with running_app(folder, module=module, warm=True, cache=server_cache) as server:
        yield server


@pytest.fixture
def kind(one_text: AppServer) -> str:
    return next(kind for kind in KINDS if kind in one_text.data_dir.name)


@pytest.fixture
def page_of_it(page: Page, watch: Watch, one_text: AppServer) -> Workspace:
    page.set_default_timeout(PATIENCE_MS)
    return Workspace(page, one_text.url)


def test_the_page_opens_on_it(page_of_it: Workspace, kind: Kind) -> None:
    page = page_of_it.page
    page_of_it.open(source=SENTENCE, layer=1, head=2, query=4)
    expect(page.locator("#map .tower .name")).to_have_text([kind.capitalize()])
    expect(page.locator("#heads label")).to_have_count(4)
    expect(page.locator("#map label")).to_have_count(2)
    expect(page.locator("#target-tokens")).to_be_hidden()
    expect(page.locator("#direction")).to_be_hidden()
    expect(page.locator("#check-cell")).to_be_hidden()
    assert page_of_it.link["block"] == kind
    adapter = OneText(kind)
    (trace,) = adapter.run([Request(source=SENTENCE, select=(f"{kind}.1.self.weights",))])
    weights = trace.tensors[f"{kind}.1.self.weights"].value[2].numpy()
    drawn = page_of_it.figure()[0]
    masked = np.triu(np.ones_like(drawn, dtype=bool), 1) & (kind == "decoder")
    np.testing.assert_array_equal(np.isnan(drawn), masked)
    np.testing.assert_allclose(np.where(masked, 0, drawn), weights, atol=1e-6)
    top = int(np.argmax(weights[4]))
    words = [token.text.strip() for token in trace.texts["text"]]
    caption = page.locator("#caption")
    expect(caption).to_contain_text("Layer 2, head 3")
    expect(caption).to_contain_text(f"{weights[4, top]:.2f}")
    expect(caption.locator(".as-query")).to_contain_text(words[4])
    expect(caption.locator(".as-key").first).to_contain_text(words[top])
    expect(caption).not_to_contain_text("while writing")


def test_every_view_that_it_can_fill_is_drawn(page_of_it: Workspace) -> None:
    page = page_of_it.page
    page_of_it.open(source=SENTENCE)
    offered = page.locator("#views label:visible input")
    assert [one.get_attribute("value") for one in offered.all()] == VIEWS
    for view in VIEWS:
        page_of_it.open(source=SENTENCE, view=view)
        if view in DRAWN:
            expect(page.locator(DRAWN[view]).first).to_be_visible()
        assert page_of_it.link["view"] == view
        expect(page.locator("#problem")).to_be_hidden()


def test_links_to_what_it_has_not_come_to_the_nearest_and_a_share_opens(
    page_of_it: Workspace, kind: Kind
) -> None:
    page_of_it.open(source=SENTENCE, view="alignment", block="cross", layer=9, head=9)
    page_of_it.settled()
    address = page_of_it.link
    assert (address["view"], address["block"]) == ("lines", kind)
    expect(page_of_it.page.locator(".not-offered")).to_contain_text("Alignment")
    assert (address["layer"], address["head"]) == ("1", "3")
    page_of_it.open(source=SENTENCE, view="compare", other="direction")
    choices = page_of_it.page.locator("#view input[name$=option-other]")
    expect(choices).to_have_count(3)
    assert [one.get_attribute("value") for one in choices.all()] == ["sentence", "head", "layer"]
    expect(page_of_it.page.locator("#view input[value=sentence]")).to_be_checked()
    assert page_of_it.link.get("other", "sentence") == "sentence"
    expect(page_of_it.page.locator("#view .trio-b canvas").first).to_be_visible()
    page_of_it.open(source=SENTENCE, layer=1, head=2)
    shown, _ = page_of_it.figure()
    state = {"text": SENTENCE, "block": kind, "layer": 1, "head": 2}
    page_of_it.page.goto(api.shared(page_of_it.url, state)["url"])
    page_of_it.drawn()
    expect(page_of_it.page.locator("#source")).to_have_value(SENTENCE)
    np.testing.assert_array_equal(page_of_it.figure()[0], shown)
