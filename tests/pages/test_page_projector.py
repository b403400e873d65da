"""Projector mode: a link, a button and a key; large letters, nothing beside the figure."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browsing.legible import overflow
from tests.browsing.workspace import Workspace

PLACE: dict[str, Any] = {
    "source": "The dog is tired.",
    "target": "这只狗累了。",
    "block": "encoder",
    "view": "attention",
    "layer": 0,
    "head": 1,
}
LONGER = "The dog that chased the cat is tired."
# All visible text, by size.
SIZES = """() => [...document.querySelectorAll("body *")].filter((element) => {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    return own && element.checkVisibility({ visibilityProperty: true })
        && !element.closest(".hidden, .skip, sub, sup, math");
}).map((element) => [parseFloat(getComputedStyle(element).fontSize), element.outerHTML])"""
FITTING = ("whatif", "space")
CHROME = (".top", ".band", "#views", ".rail", "#inspector", ".options")


def test_everything_is_large_and_the_rest_is_gone(workspace: Workspace) -> None:
    width, height, least = 1280, 720, 20
    workspace.page.set_viewport_size({"width": width, "height": height})
    workspace.open(**PLACE, projector=1)
    workspace.settled()
    small = [html for size, html in workspace.page.evaluate(SIZES) if size < least]
    assert small == []
    size = "getComputedStyle(document.documentElement).getPropertyValue('--small')"
    assert workspace.page.evaluate(size).strip() == "20px", "as large as there is room for"
    for selector in CHROME:
        for element in workspace.find(selector).all():
            expect(element).to_be_hidden()
    expect(workspace.find("#projector-sentence")).to_have_text("The dog is tired. → 这只狗累了。")
    expect(workspace.find("#caption")).to_be_in_viewport()
    expect(workspace.find("#view .matrix:visible")).to_be_in_viewport(ratio=1)
    assert not overflow(workspace.page, width)


def test_keys_and_a_menu_walk_through_heads_layers_and_views(workspace: Workspace) -> None:
    page = workspace.page
    workspace.open(**PLACE)
    workspace.menu("#projector")
    assert workspace.link["projector"] == "1"
    for key, (layer, head) in {
        "ArrowRight": ("0", "2"),
        "ArrowDown": ("1", "2"),
        "PageDown": ("1", "3"),
        "ArrowLeft": ("1", "2"),
        "ArrowUp": ("0", "2"),
    }.items():
        page.keyboard.press(key)
        assert (workspace.link["layer"], workspace.link["head"]) == (layer, head), key
    workspace.drawn()
    expect(workspace.find("#caption")).to_have_text(re.compile("^Layer 1, head 3"))
    page.keyboard.press("]")
    assert workspace.link["view"] != "attention"
    page.keyboard.press("[")
    assert workspace.link["view"] == "attention"
    page.reload()
    workspace.drawn()
    expect(workspace.find(".top")).to_be_hidden()
    menu = workspace.find("#projector-view")
    expect(menu).to_be_visible()
    expect(menu).to_have_value("attention")
    offered = workspace.find("#views input").evaluate_all("all => all.map(({ value }) => value)")
    assert menu.locator("option").evaluate_all("all => all.map(({ value }) => value)") == offered
    menu.select_option("lines")
    workspace.drawn()
    assert workspace.link["view"] == "lines"
    page.keyboard.press("]")
    expect(menu).to_have_value(workspace.link["view"])
    assert workspace.link["view"] != "lines"


def test_escape_the_key_and_the_button_lead_out_of_a_frameless_stage(workspace: Workspace) -> None:
    page = workspace.page
    workspace.open(**PLACE, projector=1)
    page.mouse.click(*workspace.cell(1, 2))
    assert workspace.link["query"] == "1"
    page.keyboard.press("Escape")
    assert "query" not in workspace.link
    assert workspace.link["projector"] == "1", "what is pinned goes first"
    page.keyboard.press("Escape")
    assert "projector" not in workspace.link
    expect(workspace.find("#more")).to_be_focused()
    page.keyboard.press("p")
    expect(workspace.find(".top")).to_be_hidden()
    page.keyboard.press("P")
    expect(workspace.find(".top")).to_be_visible()
    page.keyboard.press("p")
    workspace.find("#projector-leave").click()
    expect(workspace.find(".top")).to_be_visible()
    assert "projector" not in workspace.link
    workspace.page.keyboard.press("p")
    stage = workspace.find("#stage")
    expect(stage).to_be_focused()
    assert stage.evaluate("element => getComputedStyle(element).outlineStyle") == "none"


@pytest.mark.parametrize(("width", "height", "lang"), [(1280, 720, "zh"), (1920, 1080, "en")])
def test_the_figure_fills_the_screen_and_nothing_is_cut_off(
    workspace: Workspace, width: int, height: int, lang: str
) -> None:
    page = workspace.page
    page.set_viewport_size({"width": width, "height": height})
    for view in ("attention", "alignment", "heads", "qkv"):
        place = {"source": LONGER, "block": "cross", "layer": 1, "head": 3, "lang": lang}
        workspace.open(**place, view=view, projector=1)
        workspace.settled()
        size = "[document.documentElement.scrollWidth, document.documentElement.scrollHeight]"
        assert page.evaluate(size) == [width, height], view
        right = width - page.evaluate(
            "parseFloat(getComputedStyle(document.querySelector('main')).paddingRight)"
        )
        parts = workspace.boxes(
            "#view .label, #view .notes, #view .note, #view canvas, #view svg, #caption"
        )
        seen = [one for one in parts if one["width"]]
        assert max(one["x"] + one["width"] for one in seen) <= right + 1, view
        lowest = max(one["y"] + one["height"] for one in seen)
        assert lowest <= height, view
        if view in ("attention", "alignment"):
            assert lowest > height * 0.85, view
            widest = max(one["width"] for one in workspace.boxes("#view canvas, #view svg"))
            assert widest > 0.7 * width, view


def test_letters_grow_smaller_until_the_figure_fits(workspace: Workspace) -> None:
    page = workspace.page
    page.set_viewport_size({"width": 1280, "height": 720})
    place = {"source": LONGER, "block": "cross", "layer": 1, "head": 3}
    for view in FITTING:
        workspace.open(**place, view=view, projector=1)
        workspace.settled()
        page.wait_for_function("document.documentElement.scrollHeight <= innerHeight + 4")
        expect(workspace.find("#projector-more")).to_be_hidden()


def test_a_remote_goes_through_what_is_longer_than_the_screen(workspace: Workspace) -> None:
    page = workspace.page
    page.set_viewport_size({"width": 1280, "height": 720})
    workspace.open(
        source=LONGER, block="cross", layer=1, head=3, query=3, view="inside", projector=1
    )
    workspace.settled()
    size = "getComputedStyle(document.documentElement).getPropertyValue('--small')"
    more = workspace.find("#projector-more")
    expect(more).to_be_visible()
    assert page.evaluate(size).strip() == "18px", "no smaller, however long it is"
    pages = 0
    while more.is_visible():
        before = page.evaluate("scrollY")
        page.keyboard.press("PageDown")
        page.wait_for_function("before => scrollY > before", arg=before)
        workspace.settled()
        pages += 1
        assert workspace.link["head"] == "3", "it only scrolls"
    assert pages > 0
    page.keyboard.press("PageDown")
    assert workspace.link["head"] == "4", "at the end it means what it always does"
    page.evaluate("scrollTo(0, 400)")
    page.keyboard.press("PageUp")
    page.wait_for_function("scrollY === 0")
    assert workspace.link["head"] == "4"
    page.keyboard.press("PageUp")
    assert workspace.link["head"] == "3"


def test_a_remote_turns_the_pages_of_the_tour(workspace: Workspace) -> None:
    page = workspace.page
    workspace.load(**PLACE, projector=1, tour=2)
    head = workspace.link["head"]
    for key, stop in {"PageUp": "1", "ArrowLeft": "1", "PageDown": "2", "ArrowRight": "3"}.items():
        page.keyboard.press(key)
        assert workspace.link["tour"] == stop, key
    expect(workspace.find("#tour")).to_contain_text("3 of 6")
    layer = workspace.link["layer"]
    page.keyboard.press("ArrowDown")
    assert workspace.link["layer"] != layer, "up and down are the figure's"
    for stop in ("4", "5", "6"):
        page.keyboard.press("PageDown")
        assert workspace.link["tour"] == stop
    page.keyboard.press("PageDown")
    assert "tour" not in workspace.link
    head = workspace.link["head"]
    page.keyboard.press("PageDown")
    assert workspace.link["head"] != head, "without a tour it goes through the heads"
    workspace.load(**PLACE, tour=3)
    workspace.page.keyboard.press("PageDown")
    assert workspace.link["tour"] == "3"
