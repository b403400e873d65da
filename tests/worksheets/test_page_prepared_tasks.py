"""A collection of which nothing but its owner's questions is for paper."""

import httpx
from playwright.sync_api import Browser, expect

from tests.rooms.classroom_page import reader
from tests.servers import AppServer


def test_the_owner_prints_prepared_questions_where_nothing_else_is_for_paper(
    browser: Browser, live_server: AppServer
) -> None:
    options = [{"text": "sums to 1"}, {"text": "takes the max", "note": "Argmax."}]
    choice = {"kind": "choice", "link": "", "words": "Softmax?", "options": options, "right": [0]}
    link = "source=The+cat+sleeps.&block=encoder&layer=1&head=2"
    goal = {"kind": "weight", "key": "cat", "least": 0.5}
    challenge = {"kind": "does", "link": link, "goal": goal}
    asked = [{"entry": "choice", "ask": choice}, {"entry": "work", "ask": challenge}]
    item = {"link": "/?source=Hi&model=nowhere", "questions": asked}
    body = {"title": "Week 2", "items": [item]}
    made = httpx.post(f"{live_server.url}/api/collections", json=body).json()
    page_url = f"{live_server.url}/worksheet?link=/c/{made['id']}"
    with reader(browser) as teacher, reader(browser) as anyone:
        anyone.goto(page_url)
        expect(anyone.locator(".nothing")).to_be_visible()
        expect(anyone.locator("#sheet")).to_be_hidden()
        expect(anyone.locator("#print")).to_be_hidden()
        teacher.goto(f"{live_server.url}/c/{made['id']}#edit={made['edit_key']}")
        expect(teacher.locator("#editor")).to_be_visible()
        teacher.goto(page_url)
        expect(teacher.locator("#sheet .asks")).to_have_text(
            [
                "Softmax?",
                "Encoder · Layer 2, head 3: some row gives “cat” at least 0.50 of its weight.",
            ],
        )
        expect(teacher.locator("#key > .tasks > li")).to_contain_text(
            ["sums to 1", "Answers differ"]
        )
        expect(teacher.locator("#print")).to_be_visible()
        expect(teacher.locator(".nothing")).to_be_hidden()
