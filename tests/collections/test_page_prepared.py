"""A teacher writes questions and private notes into a collection, and asks them in a room."""

import httpx
from playwright.sync_api import Browser, expect

from tests.collections.collecting import SENTENCE
from tests.rooms.classroom_page import code_of, reader
from tests.servers import AppServer


def test_questions_are_written_into_a_collection_and_asked_from_its_slides(
    browser: Browser, live_server: AppServer
) -> None:
    body = {"title": "Week 2", "items": [{"link": SENTENCE, "title": "A sentence"}]}
    made = httpx.post(f"{live_server.url}/api/collections", json=body).json()
    page_url = f"{live_server.url}/c/{made['id']}"
    with reader(browser) as teacher, reader(browser, 390) as phone:
        teacher.goto(f"{page_url}#edit={made['edit_key']}")
        teacher.click(".private-part > summary")
        teacher.fill(".private-part textarea >> nth=0", "Do not tell them.")
        teacher.fill(".private-part .minutes input", "7")
        teacher.click(".writing > summary")
        teacher.fill(".own-question textarea", "Where does it look?")
        for i, text in enumerate(("the", "cat")):
            teacher.fill(f"[placeholder='Answer {i + 1}']", text)
        teacher.check("[aria-label='Answer 2 is right']")
        teacher.click("text=Add the question")
        expect(teacher.locator(".prepared li")).to_contain_text("Where does it look?")
        teacher.click(".saving >> text=Save")
        expect(teacher.locator(".saving .says")).to_have_text("Saved.")
        expect(teacher.locator(".saving >> text=Present")).to_be_visible()
        teacher.goto(page_url)
        assert "Do not tell" not in (teacher.content() + httpx.get(page_url).text)
        teacher.click("[data-present]")
        code = code_of(teacher)
        phone.goto(f"{live_server.url}/room/{code}")
        teacher.click("#projector")
        teacher.keyboard.press("PageDown")
        teacher.click("text=Ask this question")
        expect(phone.locator(".room-question .asks")).to_have_text("Where does it look?")
        phone.click(".room-question .choose >> text=cat")
        phone.click(".room-actions .strong")
        expect(teacher.locator(".room-actions .crowd")).to_have_text("1 answered")
        teacher.click(".room-actions >> text=Reveal")
        expect(phone.locator(".verdict")).to_contain_text("You were right")
        teacher.click("text=End the question")
        expect(teacher.locator("text=Ask this question")).to_have_count(0)  # it was the only one


def test_a_challenge_is_prepared_and_its_works_are_checked_on_the_slides(
    browser: Browser, live_server: AppServer
) -> None:
    body = {"title": "Week 2", "items": [{"link": SENTENCE, "title": "A sentence"}]}
    made = httpx.post(f"{live_server.url}/api/collections", json=body).json()
    page_url = f"{live_server.url}/c/{made['id']}"
    with reader(browser) as teacher, reader(browser, 390, "zh-CN") as phone:
        teacher.goto(f"{page_url}#edit={made['edit_key']}")
        teacher.click(".private-part > summary")
        teacher.click(".writing > summary")
        teacher.click(".own-question .kinds >> text=A challenge")
        expect(teacher.locator(".own-question")).to_contain_text(
            "Cross-attention · Layer 2, head 3"
        )
        teacher.fill(".own-question textarea", "Find a cat.")
        teacher.get_by_label("Word that is looked at").fill("cat")
        teacher.get_by_label("At least (0 to 1)").fill("0.01")
        teacher.check(".own-question >> text=In Chinese as well")
        teacher.fill(".own-question textarea >> nth=1", "找一只猫。")
        teacher.click("text=Add the question")
        expect(teacher.locator(".prepared li")).to_contain_text("Find a cat.")
        teacher.click(".saving >> text=Save")
        expect(teacher.locator(".saving .says")).to_have_text("Saved.")
        teacher.goto(page_url)
        teacher.click("[data-present]")
        code = code_of(teacher)
        phone.goto(f"{live_server.url}/room/{code}")
        teacher.click("#projector")
        teacher.keyboard.press("PageDown")
        teacher.click("text=Ask this question")
        expect(phone.locator(".room-question .asks")).to_have_text("找一只猫。")
        for sentence, words in (("A bird.", "✗"), ("My cat sings.", "✓")):
            phone.fill(".challenge textarea", sentence)
            phone.click(".room-actions .strong")
            expect(phone.locator(".room-actions .crowd")).to_contain_text(words)
            phone.wait_for_timeout(2_000)  # between two works of a member
        expect(teacher.locator(".challenge .crowd")).to_have_text("1 work · 1 do it")
        phone.click(".room-actions .quiet")  # its figure shows the sentence
        expect(phone.locator(".room-question")).to_be_hidden()
        expect(phone.locator(".item figure a[href*='My+cat+sings']")).to_be_visible()
        expect(phone.locator(".item .own-sentence input")).to_have_value("My cat sings.")
