"""A teacher prepares while the class keeps what it saw, and sees alone how votes are spread."""

from typing import Any

from playwright.sync_api import expect

from tests.rooms.classroom_page import LINK, OpenClass
from tests.servers import AppServer


def test_a_held_class_sees_a_row_only_when_its_question_is_revealed(
    open_class: OpenClass, live_server: AppServer
) -> None:
    teacher, phone, wide, code = open_class()
    state = f"{live_server.url}/api/rooms/{code}/state"
    expect(phone.locator(".room-bar")).to_have_attribute("data-mode", "following")

    def presented() -> dict[str, Any]:
        reply: dict[str, Any] = phone.request.get(state).json()
        return reply

    teacher.click(".room-bar >> text=Hold")
    expect(teacher.locator(".room-bar")).to_contain_text("keeps what it saw")
    seq = presented()["seq"]
    teacher.goto(f"{live_server.url}{LINK}&query=1&key=1")  # another page, and it still holds
    expect(teacher.locator("[data-status=ready]").first).to_be_visible()
    expect(teacher.locator(".room-bar")).to_contain_text("keeps what it saw")
    assert presented()["seq"] == seq
    teacher.click(".room-bar >> text=Ask…")
    teacher.click(".room-kinds >> text=Where does this row look?")
    for student, choice in ((phone, 0), (wide, 1)):
        student.click(f".room-question .choose >> nth={choice}")
        student.click(".room-actions .strong")
    expect(teacher.locator(".room-actions .crowd")).to_have_text("2 answered")
    assert "query=1" not in presented()["link"]
    expect(teacher.locator(".private-spread")).to_have_count(0)  # it may be on the wall
    elsewhere, wall = wide.context.new_page(), teacher.context.new_page()
    for screen in (elsewhere, wall):  # the number needs no key
        screen.goto(f"{live_server.url}/room/{code}?screen=1")
        expect(screen.locator(".room-question .crowd")).to_have_text("2 answered")
    elsewhere.close()
    expect(wall.locator(".room-bar")).to_contain_text("/room with the code")
    size = wall.locator(".room-question .asks").evaluate("it => getComputedStyle(it).fontSize")
    assert float(size.removesuffix("px")) >= 32
    teacher.click("text=Votes, only here")
    expect(teacher.locator(".private-spread tr")).to_have_count(2)
    expect(teacher.locator(".counsel")).to_contain_text("right")
    for page in (phone, wall):
        expect(page.locator(".private-spread")).to_have_count(0)
    teacher.click(".room-actions >> text=Reveal")
    expect(phone.locator(".class-answers")).to_contain_text("2 answered")
    expect(teacher.locator(".room-bar")).not_to_contain_text("keeps what it saw")
    teacher.click("text=End the question")
    expect(phone.locator(".room-question")).to_be_hidden()
    assert "query=1" in presented()["link"]
