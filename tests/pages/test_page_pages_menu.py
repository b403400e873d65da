"""The header: the same items in the same order on every page, the rest in its menu."""

import re

from playwright.sync_api import Page, expect

from tests.browsing.axe import violations
from tests.servers import AppServer

# Each page, and its own name.
PATHS = {
    "/learn": "Lessons",
    "/learn/order": None,
    "/lab": "By hand",
    "/teach": "Teach",
    "/zoo": "Zoo",
    "/heads/en-zh": "Heads",
    "/heads/en-zh/encoder.1.self/1": None,
    "/train": "Train",
    "/room": "Join a room",
    "/docs": "API",
}
NAMES = {"Workspace", "Lessons", "By hand", "Teach", "Zoo", "Heads", "Train", "Join a room", "API"}
# What is seen of the header, without the buttons that only some pages have.
ITEMS = """() => [...document.querySelectorAll(".top nav > *, .top .brand")]
    .filter((item) => item.checkVisibility() && !item.matches("#share, .export"))
    .map((item) => item.textContent.trim())"""


def test_every_header_has_the_same_items_in_the_same_order(
    new_page: Page, live_server: AppServer
) -> None:
    new_page.set_viewport_size({"width": 1280, "height": 700})
    items = set()
    for path in ["/", *PATHS]:
        new_page.goto(f"{live_server.url}{path}?lang=en")
        items.add(tuple(new_page.evaluate(ITEMS)))
    assert len(items) == 1, items
    (names,) = items
    assert names[:4] == ("Headlight", "Lessons", "By hand", "Teach")
    assert names[-2:] == ("中文", "More")


def test_every_page_leads_to_all_others(new_page: Page, live_server: AppServer) -> None:
    for path in PATHS:
        new_page.goto(f"{live_server.url}{path}")
        opener = new_page.get_by_role("button", name="More", exact=True)
        menu = new_page.locator("#more-panel")
        for width in (768, 320):
            new_page.set_viewport_size({"width": width, "height": 700})
            opener.click()
            assert set(menu.locator("a b").all_inner_texts()) == NAMES - {PATHS[path]}
            box = menu.bounding_box()
            assert box
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
            new_page.keyboard.press("Escape")
            expect(menu).to_be_hidden()
            expect(opener).to_be_focused()


def test_its_lines_are_links_in_the_same_language(new_page: Page, live_server: AppServer) -> None:
    new_page.set_viewport_size({"width": 390, "height": 700})
    new_page.goto(f"{live_server.url}/zoo?lang=zh")
    expect(new_page.locator("#charts svg").first).to_be_visible()
    new_page.locator("#more").click()
    expect(new_page.locator("#more-panel")).to_be_visible()
    assert violations(new_page) == []
    new_page.locator("#more-panel a[href^='/lab']").click()
    expect(new_page).to_have_url(re.compile(r"/lab\?(.*&)?lang=zh"))
