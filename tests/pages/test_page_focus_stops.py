"""Half of the things on the screen: how many stops of Tab the first screen of each page has."""

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browsing.workspace import Workspace

SENTENCE: dict[str, Any] = {
    "source": "My mother bought a new book yesterday.",
    "block": "cross",
    "layer": 1,
    "head": 2,
}
PAGES: dict[str, tuple[str, int]] = {
    "opening": ("/?lang=en&opening=1", 15),
    "lab": ("/lab?lang=en", 40),
    "lab in Chinese": ("/lab?lang=zh", 40),
}
VIEWS: dict[str, tuple[dict[str, Any], int]] = {
    "attention": ({}, 35),
    "attention with a pinned pair": ({"view": "attention", "query": 3, "key": 3}, 35),
    "whatif": ({}, 45),
    "inside": ({}, 45),
}
# What Tab comes to within the window; of radio buttons of one name it is one.
STOPS = """() => [...document.querySelectorAll(
    "a[href], button, input, select, textarea, summary, [tabindex], iframe")].filter((one) => {
    const radio = one.type === "radio";
    const chosen = radio && document.querySelector(
        `input[type=radio][name="${CSS.escape(one.name)}"]:checked`);
    if (one.disabled || one.tabIndex < 0 || (chosen && chosen !== one)) return false;
    if (!one.checkVisibility({ visibilityProperty: true })) return false;
    const seen = one.getBoundingClientRect().width > 1 ? one : (one.closest("label") ?? one);
    const { top, bottom, left, right } = seen.getBoundingClientRect();
    return bottom > 0 && top < innerHeight && right > 0 && left < innerWidth;
}).map((one) => (one.getAttribute("aria-label") ?? one.textContent).trim() || one.name)"""


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_has_few_stops(workspace: Workspace, view: str) -> None:
    more, limit = VIEWS[view]
    workspace.load(**SENTENCE | {"view": view} | more)
    workspace.settled()
    workspace.drawn()
    stops = workspace.page.evaluate(STOPS)
    assert len(stops) <= limit, (len(stops), stops)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_few_stops(workspace: Workspace, name: str) -> None:
    path, limit = PAGES[name]
    workspace.page.goto(f"{workspace.url}{path}")
    first = "#opening li button" if name == "opening" else ".number-grid input"
    expect(workspace.find(first).first).to_be_visible()
    workspace.settled()
    stops = workspace.page.evaluate(STOPS)
    assert len(stops) <= limit, (len(stops), stops)


def test_the_matrix_is_the_first_stop_after_the_skip_link(workspace: Workspace) -> None:
    workspace.load(**SENTENCE, view="attention")
    workspace.settled()
    keys = workspace.page.keyboard
    for key in ("Tab", "Enter", "Tab"):
        keys.press(key)
    expect(workspace.find("#view .matrix")).to_be_focused()


def test_a_list_of_tokens_is_one_stop_and_arrows_move_within_it(workspace: Workspace) -> None:
    workspace.load(**SENTENCE, view="attention")
    workspace.settled()
    chips = workspace.find("#source-tokens .chip")
    chips.first.focus()
    for key, index in (
        ("ArrowRight", 1),
        ("End", 9),
        ("ArrowRight", 9),
        ("ArrowLeft", 8),
        ("Home", 0),
    ):
        workspace.page.keyboard.press(key)
        expect(chips.nth(index)).to_be_focused()
    workspace.page.keyboard.press("ArrowRight")
    workspace.page.keyboard.press("Tab")
    expect(workspace.find("#source-tokens :focus")).to_have_count(0)
    workspace.page.keyboard.press("Shift+Tab")
    expect(chips.nth(1)).to_be_focused()
