"""A lesson's figure is veiled until the questions above it were answered or skipped."""

from playwright.sync_api import Browser, Locator, Page, expect

from tests.browsing.axe import violations
from tests.lessons.lesson_reader import Reader
from tests.rooms.classroom_page import code_of, reader
from tests.servers import AppServer

LESSON = "/learn/what-a-head-does"  # three questions before its first figure
SKIP = "Reveal without a guess"
ASKED = """() => {
  document.querySelector("#question-1").scrollIntoView();
  scrollBy(0, -20);
  return document.querySelector(".room-bar").textContent.includes("Ask this question");
}"""


def veiled(figure: Locator) -> bool:
    """Whether neither eyes, keys nor a screen reader get at what it shows."""
    found: list[bool] = figure.evaluate(
        """figure => [...figure.querySelectorAll('.stand, figcaption')].flatMap((part) => {
            const style = getComputedStyle(part);
            const hidden = style.visibility === 'hidden' || style.filter.includes('blur');
            return [part.inert, hidden];
        })"""
    )
    assert len(set(found)) == 1, found
    return found[0]


def test_a_figure_is_veiled_until_all_questions_above_it_are_answered(lesson: Reader) -> None:
    lesson.open(LESSON)
    page = lesson.page
    first, second = page.locator("#figure-1"), page.locator("#figure-2")
    first.scroll_into_view_if_needed()
    expect(first.locator(".stand")).to_have_attribute("data-live", "yes")  # behind its veil
    assert veiled(first)
    expect(first.locator(".veil a")).to_have_count(3)
    assert violations(page) == []
    for number in (1, 2):
        lesson.question(number).get_by_role("button", name=SKIP).click()
        expect(page.locator(f"#question-{number} .why")).to_be_visible()
        assert veiled(first)
    question = lesson.question(3)
    question.get_by_role("button", name="blue").click()
    question.get_by_role("button", name="Reveal", exact=True).click()
    expect(first.locator(".veil")).to_be_hidden()
    assert not veiled(first)
    # The next figure has a question of its own; it is also shown to those who ask for it.
    assert veiled(second)
    button = second.get_by_role("button", name="Show it without a guess")
    button.focus()
    page.keyboard.press("Enter")
    expect(second).to_be_focused()
    assert not veiled(second)
    # What was answered stays open on this device, what was skipped does not.
    lesson.open(LESSON)
    assert not veiled(first)
    expect(second.locator(".veil")).to_be_visible()
    assert veiled(second)


def test_a_linked_figure_and_paper_have_no_veil(lesson: Reader) -> None:
    shows = "source%3DHe%2Bsleeps.%26view%3Dlines%26block%3Dcross"
    lesson.page.goto(f"{lesson.url}{LESSON}?lang=en&shows={shows}#figure-1")
    assert not veiled(lesson.page.locator("#figure-1"))
    second = lesson.page.locator("#figure-2")
    assert veiled(second)
    lesson.page.emulate_media(media="print")
    expect(second.locator(".veil")).to_be_hidden()
    expect(second.locator("figcaption")).to_be_visible()
    assert second.locator(".stand").evaluate("one => getComputedStyle(one).filter") == "none"


def test_in_a_room_a_veil_falls_with_the_reveal_for_everyone(
    browser: Browser, live_server: AppServer
) -> None:
    with reader(browser) as teacher, reader(browser, 390) as student, reader(browser) as screen:
        teacher.goto(f"{live_server.url}/learn/query-key-value")
        teacher.click("#more")
        teacher.click("[data-present]")
        code = code_of(teacher)
        student.goto(f"{live_server.url}/room/{code}")
        screen.goto(f"{live_server.url}/room/{code}?screen=1")
        pages: tuple[Page, ...] = (teacher, student, screen)
        first, second = ([page.locator(f"#figure-{n}") for page in pages] for n in (1, 2))
        expect(first[1].locator(".veil")).to_be_visible()
        expect(first[1].locator(".veil button")).to_be_hidden()  # the teacher decides
        teacher.wait_for_function(ASKED)  # figures that arrive move it
        teacher.click(".room-bar >> text=Ask this question")
        teacher.click(".room-actions >> text=Reveal")
        for figure in first:
            expect(figure.locator(".veil")).to_be_hidden()
        teacher.click(".room-actions >> text=End the question")
        # What the teacher shows without asking is shown to all.
        teacher.locator("#figure-2").evaluate("one => one.scrollIntoView()")
        expect(student.locator("#figure-2")).to_be_in_viewport()
        assert all(veiled(figure) for figure in second)
        second[0].locator(".veil button").click()
        for figure in second:
            expect(figure.locator(".veil")).to_be_hidden()
        expect(student.locator(".room-bar")).to_have_attribute("data-mode", "following")
