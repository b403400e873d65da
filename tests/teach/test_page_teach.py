"""A teacher's walk: prepare, present, hand out, read the results; every click is counted."""

import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from tests.browsing.api import client
from tests.rooms.classroom_page import code_of, present, reader
from tests.servers import AppServer

MAX_CLICKS = 10  # until 45 minutes are prepared and on the screens
QUESTION = "Which row of weights stays as it was?"


def counted(page: Page) -> tuple[Callable[[str], None], list[str]]:
    """Return a click that is counted, and what was clicked."""
    clicked: list[str] = []

    def click(selector: str) -> None:
        clicked.append(selector)
        page.click(selector)

    return click, clicked


def test_forty_five_minutes_are_prepared_and_presented_in_ten_clicks(
    browser: Browser, live_server: AppServer
) -> None:
    with reader(browser) as teacher, reader(browser, 390) as phone:
        click, clicked = counted(teacher)
        teacher.goto(f"{live_server.url}/?lang=en")
        click("header.top a[href^='/teach']")
        click("[data-plan] >> text=45 minutes")
        expect(teacher.locator("#editor .row")).to_have_count(5)
        minutes = teacher.locator(".private-part > summary").all_text_contents()
        assert (
            sum(int(text[1]) for line in minutes if (text := re.search(r"(\d+) min", line))) == 45
        )
        click(".saving >> text=Present")
        code = code_of(teacher)
        clicked.append("close the code")
        phone.goto(f"{live_server.url}/room/{code}?lang=en")
        click("#projector")
        teacher.keyboard.press("PageDown")
        expect(phone.locator("#learn")).to_contain_text("Query, key, value")
        click("text=Ask this question")
        expect(phone.locator(".room-question .asks")).to_contain_text("sits")
        assert len(clicked) <= MAX_CLICKS, clicked


def test_a_collection_of_the_shelf_is_used_asked_handed_out_and_its_results_read(
    browser: Browser, live_server: AppServer
) -> None:
    url = live_server.url
    with reader(browser) as teacher, reader(browser, 390) as phone:
        click, clicked = counted(teacher)
        teacher.goto(f"{url}/teach?lang=en")
        click("text=Choose from the shelf")
        click("#masks [data-copy]")
        expect(teacher.locator("#editor .row")).to_have_count(3)
        expect(teacher.locator(".private-part > summary").first).to_contain_text("4 min")
        collection = re.sub(r".*/c/(\w+).*", r"\1", teacher.url)
        click(".saving >> text=Present")
        code = code_of(teacher)
        expect(teacher.locator(".collection-head")).to_contain_text("After Masks")
        phone.goto(f"{url}/room/{code}?lang=en")
        click("#projector")
        teacher.keyboard.press("PageDown")
        click("text=Ask this question")
        expect(phone.locator(".room-question .asks")).to_contain_text(QUESTION)
        phone.click(".room-question .choose >> text=cat")
        phone.click(".room-actions .strong")
        expect(teacher.locator(".room-actions .crowd")).to_have_text("1 answered")
        click(".room-actions >> text=Reveal")
        expect(phone.locator(".verdict")).to_contain_text("It could look at the last token before.")
        click(".room-bar .disclosure > .button")
        with teacher.context.expect_page() as opened:
            click(".room-bar .drop >> text=Results of the questions")
        expect(opened.value.locator("#results")).to_contain_text(QUESTION)
        opened.value.close()
        assert len(clicked) <= MAX_CLICKS, clicked

        teacher.goto(f"{url}/teach?lang=en")
        handout = client.get(f"{url}/c/{collection}/handout.html")
        assert "Pitfall" not in handout.text
        assert QUESTION not in handout.text
        clicked.clear()
        click("#teach-collections >> text=Assignment")
        asked = teacher.locator("#maker .chosen li")
        expect(asked.filter(has_text=QUESTION)).to_have_count(1)
        count = asked.count()
        click("text=Create the assignment")
        teacher.wait_for_url(re.compile(r"/a/\w+\?.*#answers$"))
        expect(teacher.locator("li.assigned")).to_have_count(count)
        assert len(clicked) == 2

        phone.goto(re.sub(r"#.*", "", teacher.url))
        item = phone.locator("li.assigned").filter(has_text=QUESTION)
        item.scroll_into_view_if_needed()
        item.get_by_text("sits, the last").click()
        phone.get_by_role("button", name="Send all answers").click()
        phone.get_by_role("button", name="Send anyway").click()
        expect(item.locator(".verdict")).to_contain_text("You were right")
        teacher.reload()
        mine = teacher.locator("li.assigned").filter(has_text=QUESTION)
        mine.scroll_into_view_if_needed()
        expect(mine.locator(".below")).to_contain_text("1 answered · 1 right")


def test_a_room_in_a_backup_is_listed_as_soon_as_the_file_is_opened(
    browser: Browser, live_server: AppServer, tmp_path: Path
) -> None:
    with reader(browser) as teacher, reader(browser) as other:
        code = present(teacher, live_server)
        teacher.goto(f"{live_server.url}/teach")
        with teacher.expect_download() as download:
            teacher.click("text=Back up as one file")
        saved = tmp_path / "keys.json"
        download.value.save_as(saved)
        other.goto(f"{live_server.url}/teach")
        expect(other.locator("#teach-rooms")).to_contain_text("No room is open")
        other.set_input_files("#owned-actions input", saved)
        spelled = f"{code[:3]} {code[3:]}".upper()
        expect(other.locator("#teach-rooms")).to_contain_text(spelled)
