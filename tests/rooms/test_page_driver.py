"""The driver's seat in real browsers: handed over, driven, given back and taken back."""

from playwright.sync_api import Browser, Page, Request, expect

from tests.rooms.classroom_page import from_menu, present, reader
from tests.servers import AppServer

BAR = ".room-bar.teaching"


def handed_over(teacher: Page) -> str:
    """Hand over the seat; return the link."""
    from_menu(teacher, "Let someone else present…")
    link = teacher.locator(".qr.seat .link").text_content() or ""
    expect(teacher.locator(".qr.seat img")).to_have_js_property("complete", True)
    assert teacher.locator(".qr.seat img").evaluate("one => one.naturalWidth > 0")
    teacher.click(".qr.seat >> text=Close")
    return link


def run(page: Page, text: str) -> None:
    page.fill("#source", text)
    page.click("#run")


def test_a_driver_presents_and_the_seat_is_given_and_taken_back(
    browser: Browser, live_server: AppServer
) -> None:
    with reader(browser) as teacher, reader(browser) as driver, reader(browser, 390) as student:
        code = present(teacher, live_server)
        asked: list[str] = []

        def note(request: Request) -> None:
            asked.extend([request.url, request.post_data or ""])

        for page in (student, teacher):
            page.on("request", note)
        student.goto(f"{live_server.url}/room/{code}")
        link = handed_over(teacher)
        key = link.partition("#drive=")[2]
        assert key
        driver.goto(link)
        expect(driver.locator(f"{BAR} .says")).to_contain_text("You present in room")
        assert "drive" not in driver.url
        expect(driver.locator(f"{BAR} >> text=Ask…")).to_have_count(0)
        expect(teacher.locator(f"{BAR} .says")).to_contain_text("Someone else presents")
        # The driver goes to another page; so do the others.
        driver.goto(f"{live_server.url}/lab")
        cell = "#lab input[data-at='0,0']"
        driver.locator(cell).first.fill("7")
        for page in (student, teacher):
            expect(page.locator(cell).first).to_have_value("7")
        driver.goto(f"{live_server.url}/?source=Back+again.")
        for page in (student, teacher):
            expect(page.locator("#source")).to_have_value("Back again.")
        expect(teacher.locator(f"{BAR} .crowd")).to_have_text("2 of 2 in step, 0 exploring")
        # A reload changes nothing.
        for page in (teacher, driver):
            page.reload()
        expect(driver.locator(f"{BAR} .says")).to_contain_text("You present")
        expect(teacher.locator(f"{BAR} .says")).to_contain_text("Someone else presents")
        # What the teacher looks at meanwhile is neither presented nor overwritten.
        run(teacher, "Only for me.")
        expect(teacher.locator(f"{BAR} >> text=Back to the class")).to_be_visible()
        run(driver, "For everyone.")
        expect(student.locator("#source")).to_have_value("For everyone.")
        expect(teacher.locator("#source")).to_have_value("Only for me.")
        teacher.click(f"{BAR} >> text=Back to the class")
        expect(teacher.locator("#source")).to_have_value("For everyone.")
        driver.click(f"{BAR} >> text=Stop presenting")
        expect(driver.locator(".room-bar")).to_have_attribute("data-mode", "following")
        expect(teacher.locator(f"{BAR} .says")).to_contain_text("Presenting in room")

        driver.goto(handed_over(teacher))
        expect(driver.locator(f"{BAR} .says")).to_contain_text("You present in room")
        teacher.click(f"{BAR} >> text=Take over")
        expect(driver.locator(".room-bar")).to_have_attribute("data-mode", "following")
        run(teacher, "The teacher again.")
        for page in (student, driver):
            expect(page.locator("#source")).to_have_value("The teacher again.")
        # The key is in nothing that students were sent, and in no address.
        assert key not in student.content()
        assert not any(key in one for one in asked)
