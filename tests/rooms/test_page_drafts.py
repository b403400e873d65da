"""What a student has entered is offered again with its question, whatever the teacher does."""

from playwright.sync_api import Browser, Page, expect

from tests.rooms.classroom_page import LINK, code_of, reader
from tests.servers import AppServer

QUESTION = ".room-question"


def open_lab(teacher: Page, server: AppServer) -> None:
    teacher.goto(f"{server.url}/lab")
    expect(teacher.locator("#lab input[data-at='0,0']").first).to_be_visible()


def ask_for_a_number(teacher: Page) -> None:
    teacher.click(".room-bar >> text=Ask…")
    teacher.locator(".of-lab select").nth(2).select_option("1")
    teacher.click("text=Ask for this number")


def test_a_draft_outlives_other_pages_other_questions_and_reloads(
    browser: Browser, live_server: AppServer
) -> None:
    with reader(browser) as teacher, reader(browser, 390) as phone:
        open_lab(teacher, live_server)
        teacher.click("#more")
        teacher.click("[data-present]")
        code = code_of(teacher)
        phone.goto(f"{live_server.url}/room/{code}")
        ask_for_a_number(teacher)
        draft = phone.locator(f"{QUESTION} .fill input")
        draft.fill("0,3")  # and not sent
        teacher.goto(f"{live_server.url}/learn/what-a-head-does")
        expect(phone.locator("#question-1")).to_be_attached()
        expect(draft).to_have_value("0,3")
        phone.reload()
        expect(draft).to_have_value("0,3")
        teacher.click("text=End the question")
        expect(phone.locator(QUESTION)).to_be_hidden()

        teacher.goto(live_server.url + LINK)  # another question, of words
        expect(teacher.locator("[data-status=ready]").first).to_be_visible()
        teacher.click(".room-bar >> text=Ask…")
        teacher.click(".room-kinds >> text=Sentences of the class")
        phone.fill(f"{QUESTION} textarea", "Birds")
        teacher.click("text=End the question")

        open_lab(teacher, live_server)
        ask_for_a_number(teacher)
        expect(draft).to_have_value("0,3")
        phone.click(".room-actions .strong")
        expect(phone.locator(".room-actions .crowd")).to_contain_text("Sent.")
        phone.close()  # the phone sleeps, and its browser forgets the page
        phone = teacher.context.browser.contexts[-1].new_page()  # type: ignore[union-attr]
        phone.goto(f"{live_server.url}/room/{code}")
        draft = phone.locator(f"{QUESTION} .fill input")
        expect(draft).to_have_value("0,3")
        expect(phone.locator(".room-actions .crowd")).to_contain_text("Sent.")
        teacher.click(".room-actions >> text=Reveal")
        expect(draft).to_have_value("0,3")
        expect(phone.locator(".verdict")).not_to_be_empty()
        teacher.click("text=End the question")

        ask_for_a_number(teacher)  # what was revealed is asked anew
        expect(draft).to_have_value("")
        teacher.click("text=End the question")
        teacher.goto(live_server.url + LINK)
        expect(teacher.locator("[data-status=ready]").first).to_be_visible()
        teacher.click(".room-bar >> text=Ask…")
        teacher.click(".room-kinds >> text=Sentences of the class")
        expect(phone.locator(f"{QUESTION} textarea")).to_have_value("Birds")
