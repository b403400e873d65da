"""The site in Chromium, from a plain static host under a path: what it shows is what Python has."""

import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Browser, expect

from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder, load
from model.trace.interventions import Intervention
from tests.site.opened_site import LOADED, Opened
from tests.site.static_host import static_host

SENTENCE = "The cat sat on the mat, and it didn't stop."
WHOLE = 25_000_000  # bytes of the folder
OPENING = "My mother bought a new book yesterday."
WEIGHTS = "**/weights.safetensors"
KEPT = """async (urls) =>
    (await Promise.all(urls.map((url) => caches.match(url)))).every(Boolean)"""


def test_what_is_typed_linked_and_changed_is_computed_in_the_page(
    opened: Opened, served: EncoderDecoder
) -> None:
    opened.open()
    page = opened.page
    page.click("#door-type")
    page.fill("#source", SENTENCE)
    page.press("#source", "Enter")
    trace = served.trace(SENTENCE)
    expect(page.locator("#output")).to_have_text(trace.output.text, timeout=LOADED)
    expect(page.locator("#source-tokens .chip")).to_have_count(len(trace.texts["source"]))
    assert "#source=The+cat" in page.url, "the address bar is a link"
    opened.has_model()

    opened.open(source=SENTENCE, view="attention", block="cross", layer=1, head=4)
    expected = np.asarray(trace["decoder.1.cross.weights"])[4]
    np.testing.assert_allclose(opened.weights(), expected, atol=1e-4)

    change = {"at": "encoder.1.self", "head": 3, "do": "zero"}
    place: dict[str, Any] = {"block": "cross", "layer": 2, "head": 0}
    opened.open(source=SENTENCE, view="attention", **place, interventions=[change])
    expect(page.locator("#changes .change-chip")).to_have_count(1)
    made = [Intervention("encoder.1.self", "zero", head=3)]
    expected = np.asarray(served.trace(SENTENCE, interventions=made)["decoder.2.cross.weights"])[0]
    assert np.abs(expected - np.asarray(trace["decoder.2.cross.weights"])[0]).max() > 1e-3
    np.testing.assert_allclose(opened.weights(), expected, atol=1e-4)
    page.locator("#view canvas").first.click()
    expect(page.locator("#switch-head")).to_be_visible()
    expect(page.locator("#switch-more")).to_be_visible()
    every_offered_view_draws(opened)
    opened.assert_quiet()

    page.fill("#source", "cat " * 130)
    page.press("#source", "Enter")
    expect(page.locator("#problem-text")).to_contain_text("128", timeout=LOADED)


def every_offered_view_draws(opened: Opened) -> None:
    page = opened.page
    names = page.locator("#views label").all_inner_texts()
    assert len(names) >= 9
    for name in names:
        page.locator("#views label", has_text=re.compile(f"^{re.escape(name)}$")).click()
        opened.ready()
        assert page.locator("#view").inner_text() or page.locator("#view canvas, #view svg").count()
        expect(page.locator("#view .problem:visible")).to_have_count(0)
        expect(page.locator("#problem")).to_be_hidden()
    assert page.locator("a[href^='/']").count() == 0, "a link to a server that is not there"


def test_the_opening_is_drawn_before_the_model_has_come(
    routed: Opened, served: EncoderDecoder
) -> None:
    opened, page = routed, routed.page
    held: list[Any] = []
    opened.context.route(WEIGHTS, lambda route: held.append(route))
    opened.open()
    expect(page.locator("#opening-says")).to_contain_text("Attention decides")
    expect(page.locator("#opening svg path").first).to_be_attached()
    assert page.locator("#opening .pairing").inner_text().replace("\n", "").startswith("Mymother")
    expect(page.locator("#runs-here")).to_contain_text("being loaded")
    page.click("#door-explore")
    opened.ready()
    trace = served.trace(OPENING)
    shown = dict(part.split("=") for part in page.url.partition("#")[2].split("&"))
    name, head = f"decoder.{shown['layer']}.cross.weights", int(shown["head"])
    np.testing.assert_allclose(opened.weights(), np.asarray(trace[name])[head], atol=1e-6)
    while not held:
        page.wait_for_timeout(100)
    held[0].continue_()
    page.fill("#source", SENTENCE)
    page.press("#source", "Enter")
    output = served.trace(SENTENCE).output.text
    expect(page.locator("#output")).to_have_text(output, timeout=LOADED)
    assert {*opened.printed} <= {"Service Worker registration blocked by Playwright"}


def assert_only_the_opening(opened: Opened, why: str) -> None:
    page = opened.page
    expect(page.locator("#runs-here")).to_contain_text(why, timeout=LOADED)
    expect(page.locator("#runs-here")).to_contain_text("computed beforehand")
    if page.locator("#door-explore").is_visible():
        page.click("#door-explore")
    opened.ready()
    expect(page.locator("#source")).to_have_value(OPENING)
    expect(page.locator("#source")).to_have_js_property("readOnly", True)
    names = page.locator("#views label").all_inner_texts()
    assert {"Alignment", "Lines", "Attention"} <= {*names}
    assert "Q K V" not in names
    for name in names:
        page.locator("#views label", has_text=re.compile(f"^{re.escape(name)}$")).click()
        opened.ready()
        assert page.locator("#view canvas, #view svg").count(), f"{name} is empty"
        expect(page.locator("#view .problem:visible")).to_have_count(0)


def test_a_browser_that_cannot_run_the_model_has_the_opening(opened: Opened) -> None:
    opened.page.add_init_script("WebAssembly.validate = () => false")
    opened.open(source="I am tired.")
    assert_only_the_opening(opened, "lacks WebAssembly SIMD")
    assert not [url for url in opened.requested if "weights" in url]
    opened.assert_quiet()


def test_a_model_that_does_not_come_leaves_the_opening(routed: Opened) -> None:
    routed.context.route(WEIGHTS, lambda route: route.fulfill(status=404))
    routed.open()
    assert_only_the_opening(routed, "weights.safetensors: 404")
    expect(routed.page.locator("#runs-here button")).to_have_text("Try again")


def test_a_link_opens_on_the_same_figure_and_is_not_sent(opened: Opened) -> None:
    opened.open(source=SENTENCE, view="attention", block="cross", layer=2, head=3, query=1)
    weights = opened.weights()
    opened.context.grant_permissions(["clipboard-read", "clipboard-write"])
    opened.page.click("#copy-link")
    expect(opened.page.locator("#copy-link")).to_have_text("Copied.")
    link = opened.page.evaluate("navigator.clipboard.readText()")
    assert link == opened.page.url
    again = Opened(opened.context, opened.address)
    again.page.goto(link)
    again.ready()
    np.testing.assert_array_equal(again.weights(), weights)
    assert again.page.url == link
    assert not [url for url in opened.requested if "source=" in url]
    opened.page.goto(f"{opened.address}?{link.partition('#')[2]}")  # the link of a server
    opened.ready()
    assert opened.page.url == link
    again.assert_quiet()


def test_a_model_of_the_zoo_is_loaded_when_it_is_chosen(opened: Opened) -> None:
    opened.open(source=SENTENCE, view="attention", block="cross", layer=0, head=3)
    assert not [url for url in opened.requested if "zoo-" in url]
    foot = opened.page.locator(".runs-here").last
    first = load("en-zh", "cpu").info
    expect(foot).to_have_text(
        f"Model: {first.name}, digest {first.digest[:12]}. Model card · Licences"
    )
    opened.page.select_option("#model", "zoo-reverse")
    opened.page.fill("#source", "m a p s e t")
    opened.page.press("#source", "Enter")
    expect(opened.page.locator("#output")).to_have_text("t e s p a m", timeout=LOADED)
    opened.ready()
    assert "model=zoo-reverse" in opened.page.url
    reverse = load("zoo/reverse", "cpu")
    digest = reverse.info.digest[:12]
    said = f"Model: Reverse: plain, digest {digest}. Licences"
    expect(foot).to_have_text(said, use_inner_text=True)
    weights = reverse.trace("m a p s e t")["decoder.0.cross.weights"]
    shown = dict(part.split("=") for part in opened.page.url.partition("#")[2].split("&"))
    expected = np.asarray(weights)[int(shown.get("head", 0))]
    np.testing.assert_allclose(opened.weights(), expected, atol=1e-4)
    opened.assert_quiet()


def test_in_chinese(opened: Opened) -> None:
    opened.open("zh.html", source="我很累。")
    expect(opened.page.locator("#runs-here")).to_contain_text("模型就在本页中运行")
    expect(opened.page.locator("#output")).to_have_text("I'm tired.")
    opened.page.click("#language")
    opened.ready()
    assert opened.page.url.startswith(f"{opened.address}index.html#source=")
    expect(opened.page.locator("#source")).to_have_value("我很累。")


def test_opens_without_a_network_the_second_time(browser: Browser, site: Path) -> None:
    context = browser.new_context(locale="en-GB")
    with static_host(site) as host:
        opened = Opened(context, f"{host}headlight/")
        opened.open()
        opened.has_model()
        loaded = [url for url in opened.requested if url.endswith("weights.safetensors")]
        assert len(loaded) <= 2, "the page's request, and that of the service worker for it"
        asked = {url for url in opened.requested if url.startswith("http")}
        asked -= {f"{opened.address}offline.js"}
        while not opened.page.evaluate(KEPT, [*asked]):  # the last file is being written
            opened.page.wait_for_timeout(50)
    context.set_offline(True)
    again = Opened(context, opened.address)
    again.open(source="I see a cat.")
    expect(again.page.locator("#output")).to_have_text("我看到一只猫。")
    context.close()


def test_the_folder_is_small_and_whole(site: Path) -> None:
    folder = site / "headlight"
    sizes = {
        os.fspath(path.relative_to(folder)): path.stat().st_size
        for path in folder.rglob("*")
        if path.is_file()
    }
    assert sum(sizes.values()) <= WHOLE
    offline = (folder / "offline.js").read_text()
    listed = set(json.loads(re.search(r"\{.*?\}", offline)[0])["siteFiles"])  # type: ignore[index]
    assert listed - {"./"} <= {*sizes}
    assert {"index.html", "zh.html", "site.js", "site.css", "model-worker.js"} <= listed
    large = {name: sizes[name] for name in listed - {"./"} if sizes[name] > 1_500_000}
    assert not large, "kept as it is loaded"
