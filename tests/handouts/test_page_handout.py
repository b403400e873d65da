"""A handout on a disk: it works and prints correct numbers without a server or network."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from app.engine.model_catalog import Catalog
from headlight import show
from tests.browsing.api import client
from tests.browsing.legible import SMALL_LABELS, overflow
from tests.browsing.watch import Watch
from tests.browsing.workspace import Workspace
from tests.servers import AppServer
from tests.views.test_page_numbers import PLACES, SENTENCE, TARGET, trace, weights

LAYER, HEAD = 1, 2
Opening = Callable[..., Workspace]


@pytest.fixture
def opened(
    page: Page, watch: Watch, workspace: Workspace, live_server: AppServer, tmp_path: Path
) -> Opening:
    """Write the handout of a state to a file and open it."""

    def go(theme: str | None = None, **state: Any) -> Workspace:
        whole = {"source": SENTENCE, "target": TARGET, "layer": LAYER, "head": HEAD, **state}
        reply = client.post(
            f"{live_server.url}/api/handout",
            params={"theme": theme} if theme else {},
            json={"state": whole},
        ).raise_for_status()
        file = tmp_path / "handout.html"
        file.write_bytes(reply.content)
        watch.expect(f"request to elsewhere: {file.as_uri()}")
        page.goto(file.as_uri())
        workspace.drawn()
        return workspace

    return go


def test_it_draws_what_q_and_k_say_and_answers_to_mouse_keys_and_pickers(
    opened: Opening, watch: Watch
) -> None:
    handout = opened(block="cross")
    asked = [address for address in watch.requests if not address.startswith(("data:", "blob:"))]
    assert len(asked) == 1, "nothing is loaded but the file"
    parts = trace(handout.url, PLACES["cross"])
    expected = weights(parts["q"][HEAD], parts["k"][HEAD], parts["mask"])
    np.testing.assert_allclose(handout.figure()[0], expected, atol=1e-5)
    handout.page.mouse.click(*handout.cell(3, 2))
    handout.page.mouse.move(0, 0)
    expect(handout.find("#pair-title")).to_have_text("Pinned pair")
    dot = parts["q"][HEAD][3] @ parts["k"][HEAD][2]
    said = handout.find("#working").inner_text().replace("−", "-")
    assert any(f"{dot + step:.4f}" in said for step in (-1e-4, 0, 1e-4))
    handout.find(".matrix").first.focus()
    handout.page.keyboard.press("ArrowDown")
    expect(handout.find("#announce")).to_have_text(re.compile(r"\d\.\d{4}"))
    handout.page.keyboard.press("Escape")
    expect(handout.find("#pair-title")).to_have_text("Pair")

    handout.place("encoder", 2)
    handout.find("#heads label").nth(5).click()
    parts = trace(handout.url, "encoder.2.self")
    expected = weights(parts["q"][5], parts["k"][5], parts["mask"])
    np.testing.assert_allclose(handout.figure()[0], expected, atol=1e-5)
    expect(handout.find("#caption")).to_contain_text("Layer 3, head 6")
    live = handout.find("#open-live").get_attribute("href") or ""
    assert live.startswith(f"{handout.url}/?")
    assert "layer=2&head=5" in live
    handout.page.goto(live)
    handout.drawn()
    np.testing.assert_allclose(handout.figure()[0], expected, atol=1e-5)


def test_every_view_it_offers_draws(opened: Opening, watch: Watch) -> None:
    handout = opened(block="cross")
    names = handout.find("#views label").all_inner_texts()
    # A title of two runs side by side, which there is not.
    expect(handout.page.get_by_role("heading", name="Changed", exact=True)).to_be_hidden()
    assert {"Attention", "Q K V"} <= set(names)
    for index, name in enumerate(names):
        handout.find("#views label").nth(index).click()
        handout.settled()
        drawn = handout.find("#view").locator("canvas, svg").first
        expect(drawn, f"{name} draws").to_be_attached()
        watch.check()


def test_it_fits_and_can_be_read_in_chinese_dark_and_on_paper(
    workspace: Workspace, opened: Opening
) -> None:
    workspace.page.set_viewport_size({"width": 320, "height": 800})
    handout = opened(block="decoder", lang="zh", theme="dark")
    expect(handout.find("html")).to_have_attribute("lang", "zh-Hans")
    assert re.match(r"第 2 层第 3 个头", handout.find("#caption").inner_text())
    assert handout.pixels([(3, 400)])[0] == (15, 18, 24)
    assert not overflow(handout.page, 320)
    assert handout.page.evaluate(SMALL_LABELS) == []
    handout.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    handout.page.emulate_media(media="print")
    assert handout.pixels([(3, 400)])[0] == (255, 255, 255)
    for gone in ("#theme", "#print", ".thumbbar"):
        expect(handout.find(gone)).to_be_hidden()
    handout.page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    handout.page.emulate_media(media="screen")
    expect(handout.find("#theme")).to_have_attribute("aria-pressed", "true")
    handout.find("#theme").click()
    assert handout.pixels([(3, 400)])[0] == (251, 250, 247)


def test_a_token_from_right_to_left_is_isolated_in_a_sentence(
    page: Page, watch: Watch, workspace: Workspace, tmp_path: Path
) -> None:
    weights = np.eye(3, dtype=np.float32)[None, [1, 2, 0]]
    file = show([weights], ["كتاب", "cat", "كتاب"]).save(tmp_path / "arabic.html")
    watch.expect(f"request to elsewhere: {file.as_uri()}")
    page.goto(file.as_uri())
    workspace.drawn()
    caption = workspace.find("#caption")
    expect(caption.locator("bdi.token").first).to_be_visible()
    assert "\u2068" not in workspace.find("main").inner_text()
    page.mouse.click(*workspace.cell(0, 1))
    assert "\u2068" not in workspace.find("main").inner_text()
    expect(workspace.find("#announce")).to_have_text(re.compile("\u2068كتاب"))


# Colab and VS Code put outputs into a frame without an origin of its own.
def test_a_notebook_draws_it(page: Page, watch: Watch, tmp_path: Path) -> None:
    watch.expect("request to elsewhere: (file:|about:)")
    model = Catalog.load({"en-zh": "en-zh"}, "cpu")["en-zh"]
    seen = model.trace(SENTENCE, target=TARGET)
    file = tmp_path / "notebook.html"
    shown = show(model, seen.request, block="cross", layer=1, head=2)
    output = shown._repr_html_().replace("<iframe ", '<iframe sandbox="allow-scripts" ')
    file.write_text(f"<!doctype html><meta charset=utf-8>{output}")
    page.goto(file.as_uri())
    inside = page.frame_locator("iframe")
    expect(inside.locator("#caption")).to_contain_text("Layer 2, head 3")
    chart = inside.locator("#view .chart[data-drawn]")
    expect(chart).to_be_visible()
    expect(inside.locator("#open-live")).to_be_hidden()
    drawn = chart.evaluate("({ picture: { matrix } }) => [...matrix.values]")
    own = np.asarray(seen["decoder.1.cross.weights"])[2]
    np.testing.assert_allclose(np.array(drawn).reshape(own.shape), own, atol=1e-6)
