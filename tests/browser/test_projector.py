"""Projector mode: a link, a button and a key; large letters, nothing beside the figure."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.workspace import Workspace

PLACE: dict[str, Any] = {
    "source": "The dog is tired.",
    "target": "这只狗累了。",
    "block": "encoder",
    "view": "attention",
    "layer": 0,
    "head": 1,
}
# All text that is seen, by its size.
SIZES = """() => [...document.querySelectorAll("body *")].filter((element) => {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    return own && element.checkVisibility({ visibilityProperty: true })
        && !element.closest(".hidden, .skip, sub, sup, math");
}).map((element) => [parseFloat(getComputedStyle(element).fontSize), element.outerHTML])"""
CHROME = (".top", ".band", "#views", ".rail", "#inspector", ".options")


@pytest.mark.parametrize(
    ("width", "height", "least"), [(1280, 720, 20), (1920, 1080, 28)], ids=["720p", "1080p"]
)
def test_everything_is_large_and_the_rest_is_gone(
    workspace: Workspace, width: int, height: int, least: int
) -> None:
    workspace.page.set_viewport_size({"width": width, "height": height})
    workspace.open(**PLACE, projector=1)
    workspace.settled()
    small = [html for size, html in workspace.page.evaluate(SIZES) if size < least]
    assert small == []
    for selector in CHROME:
        for element in workspace.find(selector).all():
            expect(element).to_be_hidden()
    expect(workspace.find("#projector-sentence")).to_have_text("The dog is tired. → 这只狗累了。")
    expect(workspace.find("#caption")).to_be_in_viewport()
    expect(workspace.find("#view .matrix")).to_be_in_viewport(ratio=1)
    assert workspace.page.evaluate("document.documentElement.scrollWidth") == width


def test_keys_walk_through_heads_layers_and_views(workspace: Workspace) -> None:
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


def test_escape_and_the_key_and_the_button_lead_out(workspace: Workspace) -> None:
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
