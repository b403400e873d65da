"""Pages of a room that only show: a second screen, one that is hidden, one whose room has ended."""

from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Browser, expect

from tests.browsing import api
from tests.rooms.classroom_page import from_menu, present, reader
from tests.servers import AppServer


def test_a_screen_follows_without_controls_on_every_page_and_after_a_reload(
    browser: Browser, live_server: AppServer
) -> None:
    with reader(browser) as teacher, reader(browser, 1920) as screen:
        code = present(teacher, live_server)
        crowd = teacher.locator(".room-bar .crowd")

        def check(page: str) -> None:
            """The page is a screen in the reader's language, also after a reload."""
            for _ in range(2):
                expect(screen.locator(f"{page}[data-screen=yes]")).to_be_visible()
                expect(screen.locator(":root[data-room=screen][data-projector]")).to_be_visible()
                assert screen.get_attribute("html", "lang") == "zh-Hans"
                assert parse_qs(urlsplit(screen.url).query)["screen"] == ["1"]
                screen.reload()

        screen.goto(f"{live_server.url}/room/{code}?screen=1&lang=zh")
        expect(screen.locator(":root[data-projector]")).to_be_visible()
        for control in ("header.top", ".room-bar .button", "#source"):
            expect(teacher.locator(control).first).to_be_visible()
            expect(screen.locator(control).first).to_be_hidden()
        expect(screen.locator("#projector-view")).to_be_hidden()
        teacher.fill("#source", "On the wall.")
        teacher.click("#run")
        expect(screen.locator("#projector-sentence")).to_contain_text("On the wall.")
        check("#workspace")
        expect(screen.locator("#projector-sentence")).to_contain_text("On the wall.")
        expect(crowd).to_have_text("Nobody is here yet")
        with reader(browser) as student:
            student.goto(f"{live_server.url}/room/{code}")
            expect(crowd).to_have_text("1 of 1 in step, 0 exploring")  # the screen is not counted
        teacher.goto(f"{live_server.url}/lab")
        check("#lab")
        teacher.fill("#lab input[data-at='0,0']", "7")
        expect(screen.locator("#lab input[data-at='0,0']").first).to_have_value("7")
        teacher.goto(f"{live_server.url}/learn/masks")
        check("#learn")
        share = api.shared(live_server.url, {"source": "The cat sleeps."})["id"]
        teacher.goto(f"{live_server.url}/s/{share}")
        check("#workspace[data-share]")
        from_menu(teacher, "End…")
        teacher.click(".room-bar >> text=End it")
        expect(screen.locator(".room-bar .says")).to_have_text("课堂已结束。")


HIDE = """(hidden) => {
  Object.defineProperty(document, "hidden", {value: hidden, configurable: true});
  document.dispatchEvent(new Event("visibilitychange"));
}"""


def test_a_hidden_page_has_no_connection_and_catches_up_and_the_end_is_one_row(
    browser: Browser, live_server: AppServer
) -> None:
    with reader(browser) as teacher, reader(browser, 390) as student:
        code = present(teacher, live_server)
        student.goto(f"{live_server.url}/room/{code}?lang=zh")
        crowd = teacher.locator(".room-bar .crowd")
        expect(crowd).to_have_text("1 of 1 in step, 0 exploring")
        for page in (student, teacher):
            with page.expect_event("requestfailed", lambda request: "/events" in request.url):
                page.evaluate(HIDE, True)
        teacher.fill("#source", "Meanwhile.")  # a remote in another window
        teacher.click("#run")
        teacher.evaluate(HIDE, False)
        expect(student.locator("#source")).to_have_value("The cat sleeps.")
        student.evaluate(HIDE, False)
        expect(student.locator("#source")).to_have_value("Meanwhile.")
        expect(crowd).to_have_text("1 of 1 in step, 0 exploring")
        row = student.locator(".room-bar").bounding_box()
        from_menu(teacher, "End…")
        teacher.click(".room-bar >> text=End it")
        expect(student.locator(".room-bar")).to_have_attribute("data-mode", "over")
        assert student.locator(".room-bar").bounding_box() == row
