"""The menu of the other pages, where a header has no room for their names."""

import re

from playwright.sync_api import Page, expect

from tests.browsing.axe import violations
from tests.servers import AppServer

# Each page, and its own name.
PATHS = {
    "/learn": "Lessons",
    "/learn/order": None,
    "/lab": "By hand",
    "/zoo": "Zoo",
    "/heads/en-zh": "Heads",
    "/heads/en-zh/encoder.1.self/1": None,
    "/train": "Train",
    "/room": None,
}
NAMES = {"Workspace", "Lessons", "By hand", "Zoo", "Heads", "Train"}


def test_a_narrow_page_leads_to_all_others_and_a_wide_one_has_their_names(
    new_page: Page, live_server: AppServer
) -> None:
    for path in PATHS:
        new_page.goto(f"{live_server.url}{path}")
        opener = new_page.get_by_role("button", name="Pages", exact=True)
        menu = new_page.locator("#pages-panel")
        for width in (768, 320):
            new_page.set_viewport_size({"width": width, "height": 700})
            opener.click()
            assert sorted(menu.locator("b").all_inner_texts()) == sorted(NAMES - {PATHS[path]})
            box = menu.bounding_box()
            assert box
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
            new_page.keyboard.press("Escape")
            expect(menu).to_be_hidden()
            expect(opener).to_be_focused()
    new_page.set_viewport_size({"width": 1280, "height": 700})
    new_page.goto(f"{live_server.url}/zoo")
    expect(new_page.locator("[popovertarget]")).to_be_hidden()
    expect(new_page.get_by_role("link", name="Lessons")).to_be_visible()


def test_its_lines_are_links_in_the_same_language(new_page: Page, live_server: AppServer) -> None:
    new_page.set_viewport_size({"width": 390, "height": 700})
    new_page.goto(f"{live_server.url}/zoo?lang=zh")
    expect(new_page.locator("#charts svg").first).to_be_visible()
    new_page.locator("[popovertarget]").click()
    expect(new_page.locator("#pages-panel")).to_be_visible()
    assert violations(new_page) == []
    new_page.locator("#pages-panel a[href^='/lab']").click()
    expect(new_page).to_have_url(re.compile(r"/lab\?lang=zh"))
