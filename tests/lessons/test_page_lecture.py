"""Lessons and collections in front of a class: a remote goes through them, and the notes follow."""

from playwright.sync_api import BrowserContext, Page, expect

from tests.browsing.axe import violations
from tests.collections.collecting_page import collection
from tests.collections.test_page_collections import BY_HAND, SENTENCE
from tests.lessons.lesson_reader import Reader
from tests.servers import AppServer

GAP = 12  # above a stop


def test_a_remote_goes_through_a_lesson_in_front_of_a_class(lesson: Reader) -> None:
    page = lesson.page
    page.set_viewport_size({"width": 1280, "height": 720})
    lesson.open()
    lesson.question(1)
    page.evaluate("scrollTo(0, 0)")
    page.keyboard.press("p")
    expect(page.locator("html")).to_have_attribute("data-projector", "")
    assert "projector=1" in page.url
    expect(page.locator(".top")).to_be_hidden()

    def top(selector: str) -> int:
        at: float = page.locator(selector).evaluate("it => it.getBoundingClientRect().top")
        return round(at)

    height = page.locator("#question-1").evaluate("it => it.getBoundingClientRect().top")
    for _ in range(1 if height < 720 else 2):  # first within the text, if it is taller
        page.keyboard.press("PageDown")
    assert top("#question-1") == GAP
    page.keyboard.press("PageDown")
    assert top("#figure-1") == GAP
    page.get_by_role("button", name="Previous").click()
    assert top("#question-1") == GAP
    page.keyboard.press("PageDown")
    expect(page.locator("#figure-1 .stand")).to_have_attribute("data-live", "yes")
    assert page.locator("#figure-1").evaluate("it => it.offsetHeight") > 720
    page.keyboard.press("PageDown")  # within the figure, which is taller than the window
    assert top("#figure-1") == round(GAP - 0.85 * 720)
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-projector", "")
    page.keyboard.press("Escape")
    expect(page.locator(".top")).to_be_visible()
    assert "projector" not in page.url


def test_a_remote_goes_from_one_lesson_to_the_next(lesson: Reader, context: BrowserContext) -> None:
    page = lesson.page
    lesson.open("/learn/training?projector=1")
    with context.expect_page() as opening:
        page.get_by_role("button", name="Notes").click()
    notes = opening.value
    expect(notes.locator(".notes h1")).to_have_text("How it learns")
    page.bring_to_front()
    lesson.end()
    page.keyboard.press("PageDown")
    expect(page.locator("h1")).to_have_text("What attention explains")
    assert "projector=1" in page.url
    expect(notes.locator(".notes h1")).to_have_text("What attention explains")
    expect(notes.locator(".state")).to_have_count(0)
    notes.reload()
    expect(notes.locator(".notes h1")).to_have_text("What attention explains")
    notes.keyboard.press("PageUp")
    expect(page.locator("h1")).to_have_text("How it learns")
    expect(page.get_by_role("link", name="Next lesson")).to_be_in_viewport()
    notes.close()
    bar = lesson.page.locator(".presenting")
    lesson.page.mouse.move(200, 200)
    expect(bar).to_have_css("opacity", "0")
    lesson.page.mouse.move(210, 210)
    expect(bar).to_have_css("opacity", "1")
    bar.get_by_role("button", name="Next").click()
    expect(bar).to_have_css("opacity", "0")


def test_it_is_presented_with_a_remote_and_notes(
    new_page: Page, context: BrowserContext, live_server: AppServer
) -> None:
    made = collection(live_server, SENTENCE, BY_HAND)
    new_page.goto(made["url"])
    new_page.keyboard.press("p")
    expect(new_page.locator(".collection-head h1")).to_be_visible()
    expect(new_page.locator("#item-1")).to_be_hidden()
    new_page.keyboard.press("PageDown")
    expect(new_page.locator("#item-1 .stand")).to_have_attribute("data-live", "yes")
    expect(new_page.locator("#item-1 .note")).to_be_hidden()
    expect(new_page.locator("#item-2")).to_be_hidden()
    with context.expect_page() as opening:
        new_page.get_by_role("button", name="Notes").click()
    notes = opening.value
    expect(notes.locator(".notes li")).to_have_text(["Note 1"])
    expect(notes.locator(".clock")).to_contain_text("1 / 2")
    notes.keyboard.press("PageDown")
    expect(new_page.locator("#item-2")).to_be_visible()
    expect(notes.locator(".notes li")).to_have_text(["Note 2"])
    new_page.keyboard.press("PageUp")
    expect(notes.locator(".notes li")).to_have_text(["Note 1"])
    assert "item=1" in new_page.url
    new_page.reload()
    expect(new_page.locator("#item-1")).to_be_visible()
    expect(notes.locator(".notes li")).to_have_text(["Note 1"])
    assert violations(notes) == []
    new_page.keyboard.press("Escape")
    expect(new_page.locator("#item-2")).to_be_visible()
    expect(notes.locator(".state")).to_contain_text("The presentation was closed")
    assert new_page.url == made["url"]
    notes.close()


def test_the_notes_of_a_lesson_follow_it(
    new_page: Page, context: BrowserContext, live_server: AppServer
) -> None:
    new_page.goto(f"{live_server.url}/learn/what-a-head-does?lang=en&projector=1")
    with context.expect_page() as opening:
        new_page.get_by_role("button", name="Notes").click()
    notes = opening.value
    expect(notes.locator(".notes h1")).to_have_text("What a head does")
    expect(notes.locator(".notes li").first).to_be_visible()
    assert (
        notes.locator(".notes li").first.inner_text() not in new_page.locator("main").inner_text()
    )
    new_page.keyboard.press("PageDown")
    expect(notes.locator(".notes h1")).to_contain_text("Which word does this head look at most?")
    notes.get_by_role("button", name="Next slide ›").click()
    second = new_page.locator("#lesson .predict .asks").nth(1)
    expect(notes.locator(".notes h1")).to_have_text(second.inner_text())
    notes.close()
    new_page.goto(f"{live_server.url}/speaker?of=/learn/nowhere&lang=en")
    expect(new_page.locator(".state")).to_contain_text("Nothing is presented")
