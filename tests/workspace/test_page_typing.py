"""Typing: live, one request at a time, and never in the middle of a composition."""

import json
from collections.abc import Callable

from playwright.sync_api import Page, Route, expect

from tests.browsing.workspace import Workspace

START = {"source": "The cat sits.", "target": "猫坐着。", "block": "cross"}


def traced(page: Page) -> list[str]:
    """Return a list of the sentences of all following trace requests."""
    asked: list[str] = []

    def listen(route: Route) -> None:
        body = json.loads(route.request.post_data or "{}")
        asked.append(body["source"])
        route.continue_()

    page.route("**/api/trace", listen)
    return asked


def test_typing_is_live_waits_for_a_pause_and_enter_runs_at_once(workspace: Workspace) -> None:
    workspace.open(**START)
    asked = traced(workspace.page)
    workspace.find("#source").press("End")
    workspace.page.keyboard.type(" Dogs too", delay=20)
    workspace.says("The cat sits. Dogs too")
    workspace.drawn()
    expect(workspace.find("#source-tokens")).to_contain_text("too")
    assert asked[-1] == "The cat sits. Dogs too"
    assert len(asked) <= 2, "not a request a letter"
    asked.clear()
    workspace.find("#source").fill("A dog")
    workspace.find("#source").press("Enter")
    assert workspace.link["source"] == "A dog"
    workspace.drawn()
    workspace.settled()
    assert asked == ["A dog"], "the pause does not ask again"


def test_enter_chooses_a_word_while_an_input_method_composes(workspace: Workspace) -> None:
    workspace.open(**START)
    asked = traced(workspace.page)
    workspace.page.evaluate(
        """() => document.querySelector("#source").dispatchEvent(
            new KeyboardEvent("keydown", { key: "Enter", keyCode: 229, bubbles: true }))"""
    )
    workspace.settled()
    assert asked == []
    box = workspace.find("#source")
    box.click()
    session = workspace.page.context.new_cdp_session(workspace.page)
    box.press("Control+A")
    session.send(
        "Input.imeSetComposition", {"text": "ni hao", "selectionStart": 6, "selectionEnd": 6}
    )
    enter = {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 229}
    session.send("Input.dispatchKeyEvent", {"type": "rawKeyDown", **enter})
    workspace.settled()
    assert asked == []
    assert workspace.link["source"] == START["source"]
    session.send("Input.insertText", {"text": "你好。"})
    workspace.says("你好。")
    workspace.drawn()
    assert asked == ["你好。"]


def held(page: Page, sentence: str) -> Callable[[], None]:
    """Hold back the reply to one sentence until the returned function is called."""
    waiting: list[Route] = []

    def listen(route: Route) -> None:
        if json.loads(route.request.post_data or "{}")["source"] == sentence:
            waiting.append(route)
        else:
            route.continue_()

    page.route("**/api/trace", listen)

    def release() -> None:
        for route in waiting:
            route.continue_()

    return release


def test_the_old_picture_stays_dimmed_and_a_late_reply_is_dropped(workspace: Workspace) -> None:
    workspace.open(**START)
    release = held(workspace.page, "slow")
    before = workspace.figure()[0]
    workspace.find("#source").fill("slow")
    workspace.find("#source").press("Enter")
    expect(workspace.find(".figure")).to_have_css("opacity", "0.45")
    expect(workspace.find("#stage")).to_have_attribute("aria-busy", "true")
    assert (workspace.figure()[0] == before).all()
    release()
    workspace.drawn()
    expect(workspace.find(".figure")).to_have_css("opacity", "1")
    workspace.page.unroute_all()
    release = held(workspace.page, "late")
    box = workspace.find("#source")
    box.fill("late")
    box.press("Enter")
    expect(workspace.find("html")).to_have_attribute("data-status", "waiting")
    box.fill("quick")
    box.press("Enter")
    workspace.drawn()
    release()
    workspace.settled()
    expect(workspace.find("#source-tokens")).to_contain_text("quick")
    assert workspace.link["source"] == "quick"


def test_direction_is_by_script_and_can_be_chosen(workspace: Workspace) -> None:
    workspace.open(source="OK", target="好")
    expect(workspace.find("#direction option").first).to_have_text("Detected: English → Chinese")
    workspace.find("#direction").select_option("zh-en")
    workspace.drawn()
    assert workspace.link["direction"] == "zh-en"
    expect(workspace.find("#source-tokens .token").first).to_have_text("<2en>")


def test_line_breaks_are_seen_and_what_is_cut_off_is_marked(workspace: Workspace) -> None:
    workspace.open(source="The cat sat.\nThe dog ran.", view="attention", layer=1, head=2)
    box = workspace.find("#source")
    height = "box => [box.clientHeight, box.scrollHeight]"
    seen, whole = box.evaluate(height)
    assert seen >= whole, "both lines"
    workspace.open(source="The cat sat. " * 12, view="attention", layer=1, head=2)
    seen, whole = box.evaluate(height)
    assert seen < 40 < whole, "one long line is scrolled"
    workspace.page.set_viewport_size({"width": 1024, "height": 700})
    workspace.open(source="A cat.", view="attention")
    marked = "#source[data-after], .chips[data-after], .chips[data-before]"
    expect(workspace.find(marked)).to_have_count(0)
    workspace.open(source=LONG, view="attention", block="encoder")
    expect(workspace.find("#source[data-after]")).to_have_count(1)
    chips = workspace.find("#source-tokens")
    expect(chips).to_have_attribute("data-after", "")
    expect(chips).not_to_have_attribute("data-before", "")
    workspace.open(source=LONG, view="attention", block="encoder", query=19)
    expect(chips.locator(".chip").nth(19)).to_be_in_viewport(ratio=1)
    expect(chips).to_have_attribute("data-before", "")
    chips.evaluate("(list) => (list.scrollLeft = list.scrollWidth)")
    expect(chips).not_to_have_attribute("data-after", "")
    assert workspace.page.evaluate("scrollY") == 0


LONG = "The animal did not cross the street because it was too tired and the street was too wide."
