"""A teacher's tab says that it presents in a room, also on pages that a room cannot be shown."""

from playwright.sync_api import Browser, expect

from tests.rooms.classroom_page import from_menu, present, reader
from tests.servers import AppServer

PAGES = [
    *("/zoo", "/heads/en-zh", "/train", "/teach", "/teach/results", "/learn", "/learn/plan"),
    *("/room", "/c", "/collections", "/a", "/study", "/study/inventory", "/worksheet"),
]


def test_the_bar_of_a_room_is_on_every_page_of_its_teacher(
    browser: Browser, live_server: AppServer
) -> None:
    with reader(browser) as teacher, reader(browser) as other:
        code = present(teacher, live_server)
        for path in PAGES:
            teacher.goto(live_server.url + path)
            bar = teacher.locator(".room-bar")
            expect(bar).to_contain_text("does not see this page")
            expect(bar).to_be_in_viewport()
        other.goto(f"{live_server.url}/zoo")
        expect(other.locator("#panels canvas").first).to_be_visible()
        expect(other.locator(".room-bar")).to_have_count(0)
        state = other.request.get(f"{live_server.url}/api/rooms/{code}/state").json()
        assert "The+cat+sleeps" in state["link"]
        teacher.click("text=Back to the class")
        expect(teacher.locator("#source")).to_have_value("The cat sleeps.")
        expect(teacher.locator(".room-bar")).to_contain_text("Presenting in room")
        teacher.goto(f"{live_server.url}/zoo")
        from_menu(teacher, "End…")
        teacher.click("text=End it")
        expect(teacher.locator(".room-bar")).to_have_count(0)
        assert other.request.get(f"{live_server.url}/api/rooms/{code}/state").status == 404
