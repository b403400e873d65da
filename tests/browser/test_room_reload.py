"""A presenting page of figures that is loaded again goes on where the room is."""

import pytest
from playwright.sync_api import Browser, Page, Response, expect

from tests.browser.classroom import reader
from tests.browser.test_room_pointing import shown
from tests.browser.test_room_scenes import collection, present_here
from tests.servers import AppServer

LAYER = ".step-by[aria-label=Layer] output"
BAR = ".room-bar.teaching .says"


def presented(student: Page, code: str) -> str:
    """Read the link that the room has."""
    path = f"/api/rooms/{code}/state"
    return str(
        student.evaluate("path => fetch(path).then((r) => r.json()).then((r) => r.link)", path)
    )


def watch(page: Page, selector: str) -> None:
    """Note every text that an element has from now on."""
    page.evaluate(
        """(selector) => {
          const one = document.querySelector(selector);
          window.texts = [one.textContent];
          new MutationObserver(() => window.texts.push(one.textContent))
            .observe(one, { childList: true, characterData: true, subtree: true });
        }""",
        selector,
    )


def links_of(page: Page) -> list[str]:
    """List the links that a page presents from now on."""
    sent: list[str] = []

    def heard(reply: Response) -> None:
        if reply.request.method == "PUT" and reply.url.endswith("/state"):
            sent.append((reply.request.post_data_json or {})["link"])

    page.on("response", heard)
    return sent


@pytest.mark.parametrize("again", ["reload", "door", "lesson"])
def test_a_lesson_that_is_loaded_again_takes_the_rooms_figure(
    browser: Browser, live_server: AppServer, again: str
) -> None:
    with reader(browser) as teacher, reader(browser) as student:
        teacher.goto(f"{live_server.url}/learn/what-a-head-does")
        code = present_here(teacher)
        student.goto(f"{live_server.url}/room/{code}")
        layer = f"#figure-1 {LAYER}"
        for page in (teacher, student):
            shown(page, "#figure-1")
        teacher.click("#figure-1 [aria-label='Previous layer']")
        changed = teacher.locator(layer).text_content() or ""
        expect(student.locator(layer)).to_have_text(changed)
        link = presented(student, code)
        assert "shows=" in link
        watch(student, layer)
        sent = links_of(teacher)
        if again == "reload":
            teacher.reload()
        elif again == "door":  # after a crash
            teacher.goto(f"{live_server.url}/room")
            teacher.click("#own-rooms button")
        else:
            teacher.goto(f"{live_server.url}/learn/what-a-head-does")
        expect(teacher.locator(BAR)).to_be_visible()
        expect(teacher.locator(layer)).to_have_text(changed)
        expect(teacher.locator("#figure-1")).to_be_in_viewport()
        # What the teacher does next is presented.
        teacher.click("#figure-1 [aria-label='Previous layer']")
        now = teacher.locator(layer).text_content() or ""
        expect(student.locator(layer)).to_have_text(now)
        assert set(student.evaluate("window.texts")) == {changed, now}, "the figure jumped back"
        assert {one.partition("#")[2] for one in sent} == {"figure-1"}
        assert all("shows=" in one for one in sent)


def test_a_link_to_a_scene_is_presented_and_not_what_the_room_had(
    browser: Browser, live_server: AppServer
) -> None:
    with reader(browser) as teacher, reader(browser) as student:
        teacher.goto(f"{live_server.url}/learn/what-a-head-does")
        code = present_here(teacher)
        student.goto(f"{live_server.url}/room/{code}")
        shown(teacher, "#figure-1")
        teacher.click("#figure-1 [aria-label='Previous layer']")
        expect(student.locator("#figure-1")).to_be_in_viewport()
        teacher.goto(f"{live_server.url}/learn/what-a-head-does?lang=en#question-1")
        expect(teacher.locator(BAR)).to_be_visible()
        expect(student.locator("#question-1")).to_be_in_viewport()


@pytest.mark.parametrize("slides", [False, True])
def test_a_collection_that_is_loaded_again_takes_the_rooms_figure(
    browser: Browser, live_server: AppServer, slides: bool
) -> None:
    with reader(browser) as teacher, reader(browser) as student:
        teacher.goto(live_server.url + collection(live_server))
        code = present_here(teacher)
        student.goto(f"{live_server.url}/room/{code}")
        expect(student.locator("h1")).to_have_text("For the class")
        if slides:
            teacher.click("#projector")
            teacher.keyboard.press("PageDown")
            teacher.keyboard.press("PageDown")
        else:
            teacher.click("#item-2 .start")
        layer = f"#item-2 {LAYER}"
        teacher.click("#item-2 [aria-label='Previous layer']")
        changed = teacher.locator(layer).text_content() or ""
        expect(student.locator(layer)).to_have_text(changed)
        watch(student, layer)
        sent = links_of(teacher)
        teacher.reload()
        expect(teacher.locator(BAR)).to_be_visible()
        expect(teacher.locator(layer)).to_have_text(changed)
        expect(teacher.locator("#item-2")).to_be_in_viewport()
        teacher.click("#item-2 [aria-label='Previous layer']")
        now = teacher.locator(layer).text_content() or ""
        expect(student.locator(layer)).to_have_text(now)
        assert set(student.evaluate("window.texts")) == {changed, now}, "the figure jumped back"
        assert {one.partition("#")[2] for one in sent} == {"item-2"}
        assert all("shows=" in one for one in sent)
