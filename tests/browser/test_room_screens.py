"""Pages of a room that only show: a second screen, one that is hidden, one whose room has ended."""

import json
import urllib.request
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Browser, expect

from tests.browser.classroom import from_menu, present, reader
from tests.servers import AppServer


def test_a_screen_follows_without_controls(browser: Browser, live_server: AppServer) -> None:
    with reader(browser) as teacher, reader(browser, 1920) as screen:
        code = present(teacher, live_server)
        screen.goto(f"{live_server.url}/room/{code}?screen=1")
        expect(screen.locator(":root[data-projector]")).to_be_visible()
        for control in ("header.top", ".room-bar .button", "#source"):
            expect(teacher.locator(control).first).to_be_visible()
            expect(screen.locator(control).first).to_be_hidden()
        expect(screen.locator("#projector-view")).to_be_hidden()
        teacher.fill("#source", "On the wall.")
        teacher.click("#run")
        expect(screen.locator("#projector-sentence")).to_contain_text("On the wall.")
        crowd = teacher.locator(".room-bar .crowd")
        expect(crowd).to_have_text("Nobody is here yet")
        with reader(browser) as student:
            student.goto(f"{live_server.url}/room/{code}")
            expect(crowd).to_have_text("1 of 1 in step, 0 exploring")  # the screen is not counted


def test_a_screen_is_one_on_every_page_and_after_a_reload(
    browser: Browser, live_server: AppServer
) -> None:
    with reader(browser) as teacher, reader(browser, 1920) as screen:
        code = present(teacher, live_server)

        def check(page: str) -> None:
            """The page is a screen in the reader's language, also after a reload."""
            for _ in range(2):
                expect(screen.locator(f"{page}[data-screen=yes]")).to_be_visible()
                expect(screen.locator(":root[data-room=screen][data-projector]")).to_be_visible()
                assert screen.get_attribute("html", "lang") == "zh-Hans"
                assert parse_qs(urlsplit(screen.url).query)["screen"] == ["1"]
                screen.reload()

        screen.goto(f"{live_server.url}/room/{code}?screen=1&lang=zh")
        teacher.fill("#source", "On the wall.")
        teacher.click("#run")
        expect(screen.locator("#projector-sentence")).to_contain_text("On the wall.")
        check("#workspace")
        expect(screen.locator("#projector-sentence")).to_contain_text("On the wall.")
        teacher.goto(f"{live_server.url}/lab")
        check("#lab")
        teacher.fill("#lab input[data-at='0,0']", "7")
        expect(screen.locator("#lab input[data-at='0,0']").first).to_have_value("7")
        teacher.goto(f"{live_server.url}/learn/masks")
        check("#learn")
        teacher.goto(f"{live_server.url}/s/{share(live_server)}")
        check("#workspace[data-share]")
        expect(teacher.locator(".room-bar .crowd")).to_have_text("Nobody is here yet")
        from_menu(teacher, "End…")
        teacher.click(".room-bar >> text=End it")
        expect(screen.locator(".room-bar .says")).to_have_text("课堂已结束。")


def share(server: AppServer) -> str:
    body = json.dumps({"state": {"source": "The cat sleeps."}}).encode()
    asked = urllib.request.Request(
        f"{server.url}/api/shares", body, {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(asked) as reply:
        return str(json.load(reply)["id"])


HIDE = """(hidden) => {
  Object.defineProperty(document, "hidden", {value: hidden, configurable: true});
  document.dispatchEvent(new Event("visibilitychange"));
}"""


def test_a_hidden_page_has_no_connection_and_catches_up(
    browser: Browser, live_server: AppServer
) -> None:
    with reader(browser) as teacher, reader(browser) as student:
        code = present(teacher, live_server)
        student.goto(f"{live_server.url}/room/{code}")
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


def test_the_end_of_a_room_is_one_row_on_a_phone(browser: Browser, live_server: AppServer) -> None:
    with reader(browser) as teacher, reader(browser, 390) as student:
        code = present(teacher, live_server)
        for lang in ("zh", "en"):
            student.goto(f"{live_server.url}/room/{code}?lang={lang}")
            expect(student.locator(".room-bar b")).to_be_visible()
            row = student.locator(".room-bar").bounding_box()
        from_menu(teacher, "End…")
        teacher.click(".room-bar >> text=End it")
        expect(student.locator(".room-bar")).to_have_attribute("data-mode", "over")
        assert student.locator(".room-bar").bounding_box() == row
