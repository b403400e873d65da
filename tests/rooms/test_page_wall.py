"""A teacher sees what three members explore, shows everyone one of it, and pauses exploring."""

from playwright.sync_api import Browser, Page, expect

from tests.rooms.classroom_page import LINK, present, reader
from tests.servers import AppServer

SENTENCES = ["The cat sleeps.", "We like green tea.", "She reads a book."]


def explore(member: Page, sentence: str) -> None:
    """Type another sentence."""
    member.fill("#source", sentence)
    expect(member.locator(".room-bar")).to_have_attribute("data-mode", "exploring")


def test_the_wall_has_what_each_member_explores_and_one_is_shown_to_all(
    browser: Browser, live_server: AppServer
) -> None:
    with (
        reader(browser) as teacher,
        reader(browser, 390) as first,
        reader(browser) as second,
        reader(browser) as third,
    ):
        code = present(teacher, live_server)
        members = (first, second, third)
        for member in members:
            member.goto(f"{live_server.url}/room/{code}")
            expect(member.locator(".room-bar")).to_have_attribute("data-mode", "following")
        first.click(".thumbbar button >> nth=-1")  # before the wall is open: nothing is sent
        expect(first.locator(".room-bar")).to_have_attribute("data-mode", "exploring")
        expect(first.locator(".room-bar .seen")).to_have_count(0)

        teacher.click(".room-bar >> text=See their work")
        expect(teacher.locator(".room-wall .works")).to_have_count(0)
        teacher.click(".room-wall >> text=Ask for nicknames")
        teacher.click(".room-wall .strong")
        for member in members:
            expect(member.locator(".seen")).to_contain_text("Your teacher sees what you explore")
        second.fill(".seen input", "Mina")
        for member, sentence in zip(members[1:], SENTENCES[1:], strict=True):
            explore(member, sentence)
        expect(teacher.locator(".works li")).to_have_count(3)
        expect(teacher.locator(".works canvas:not(.pending)")).to_have_count(3)
        for sentence in SENTENCES:
            expect(teacher.locator(".works .sentence", has_text=sentence)).to_be_visible()
        expect(teacher.locator(".works b")).to_have_count(0)  # her screen may be on the wall
        teacher.click("text=Show nicknames")
        expect(teacher.locator(".works b")).to_have_text(["Mina"])

        work = teacher.locator(".works li", has_text=SENTENCES[1])
        work.get_by_role("button", name="Show everyone").click()
        work.get_by_role("textbox").fill("A fine one!")
        teacher.keyboard.press("Enter")
        expect(teacher.locator("#source")).to_have_value(SENTENCES[1])
        expect(teacher.locator(".room-bar")).to_contain_text("a student’s work")
        wall = teacher.context.new_page()
        wall.goto(f"{live_server.url}/room/{code}?screen=1")
        expect(wall.locator(".thanks")).to_have_text("Made by a student of this class. A fine one!")
        assert "Mina" not in wall.content()
        second.click(".room-bar >> text=Back to the class")
        third.click(".room-bar >> text=Back to the class")
        expect(second.locator(".thanks")).to_contain_text("The class looks at what you made.")
        expect(third.locator(".thanks")).to_contain_text("Made by a student")
        expect(third.locator("#source")).to_have_value(SENTENCES[1])
        teacher.click(".room-bar >> text=Back to yours")
        expect(third.locator("#source")).to_have_value("The cat sleeps.")
        expect(third.locator(".thanks")).to_have_count(0)


def test_a_pause_stops_exploring_and_nothing_that_was_explored_is_lost(
    browser: Browser, live_server: AppServer
) -> None:
    with reader(browser) as teacher, reader(browser) as member:
        code = present(teacher, live_server, LINK)
        member.goto(f"{live_server.url}/room/{code}")
        expect(member.locator(".room-bar")).to_have_attribute("data-mode", "following")
        explore(member, SENTENCES[1])
        expect(member.locator("[data-status=ready]").first).to_be_visible()
        teacher.click(".room-bar >> text=Pause exploring")
        expect(member.locator(".room-bar")).to_contain_text("paused")
        expect(member.locator("#source")).to_have_value("The cat sleeps.")
        expect(member.locator("main")).to_have_js_property("inert", True)
        expect(member.locator(".room-bar .button")).to_have_count(0)
        teacher.click(".room-bar >> text=Let them explore")
        member.click(".room-bar >> text=Back to what I explored")
        expect(member.locator("#source")).to_have_value(SENTENCES[1])
        expect(member.locator("main")).to_have_js_property("inert", False)
        expect(member.locator(".room-bar")).to_have_attribute("data-mode", "exploring")
