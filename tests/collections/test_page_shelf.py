"""The shelf in Chromium: a copy in one click, and a collection that its author lists."""

import re

from playwright.sync_api import Page, expect

from tests.servers import AppServer


def use(page: Page, server: AppServer, lesson: str) -> str:
    """Copy the collection of a lesson; return the copy's id."""
    page.goto(f"{server.url}/collections?lang=en")
    page.locator(f"#{lesson}").get_by_role("button", name=re.compile("^Use it")).click()
    page.wait_for_url("**/c/*#edit")
    return page.url.split("/c/")[1].split("?")[0]


def test_a_copy_is_one_click_and_names_its_origin(page: Page, live_server: AppServer) -> None:
    identity = use(page, live_server, "masks")
    reply = page.request.get(f"{live_server.url}/api/collections/{identity}").json()
    assert reply["origin"]["link"].endswith("masks")
    expect(page.locator("main .says a")).to_have_text(reply["origin"]["title"])


def test_an_author_lists_a_collection_and_takes_it_back(page: Page, live_server: AppServer) -> None:
    identity = use(page, live_server, "order")
    page.get_by_role("button", name="Put it on the shelf").click()
    expect(page.locator(".listing [role=status]")).to_have_text("It is on the shelf.")

    def listed() -> set[str]:
        shelf = page.request.get(f"{live_server.url}/api/shelf").json()
        return {entry["id"] for entry in shelf["collections"]}

    assert identity in listed()
    page.get_by_role("button", name="Take it off the shelf").click()
    expect(page.locator(".listing [role=status]")).to_contain_text("It is off the shelf.")
    assert identity not in listed()
