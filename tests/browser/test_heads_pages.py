"""The pages about heads over many sentences: the scatter, examples and the search."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.axe import violations
from tests.browser.watch import Watch
from tests.servers import AppServer


@pytest.fixture
def page(context: BrowserContext, watch: Watch, live_server: AppServer) -> Iterator[Page]:
    page = context.new_page()
    yield page
    page.close()


def test_a_point_of_the_scatter_is_a_head(page: Page, live_server: AppServer) -> None:
    page.goto(f"{live_server.url}/heads/en-zh")
    expect(page.locator("#scatter .scatterlayer .point")).to_have_count(72)
    page.get_by_label("Horizontal axis").select_option("distance")
    # Between two texts there is no distance.
    expect(page.locator("#scatter .scatterlayer .point")).to_have_count(48)
    assert "x=distance" in page.url
    page.reload()
    expect(page.locator("#scatter .scatterlayer .point")).to_have_count(48)
    expect(page.locator("#language")).to_have_attribute("href", re.compile("x=distance"))
    assert violations(page) == []


def test_the_chosen_sentence_is_drawn_and_opens_in_the_workspace(
    page: Page, live_server: AppServer
) -> None:
    page.goto(f"{live_server.url}/heads/en-zh/encoder.1.self/1")
    expect(page.locator("#found button")).to_have_count(11)
    expect(page.locator("#figure [data-drawn]")).to_be_visible()
    page.get_by_label("From").fill("cat")
    page.get_by_role("button", name="Search").click()
    expect(page.locator("#found .from").first).to_have_text("cat")
    expect(page.locator("#caption")).to_contain_text("cat")
    assert violations(page) == []
    page.get_by_role("link", name="Open in the workspace").click()
    expect(page).to_have_url(re.compile("head=1.*query=2"))
    expect(page.locator("#caption")).to_contain_text("cat")


def test_what_cannot_be_loaded_says_so_and_is_tried_again(
    page: Page, live_server: AppServer, watch: Watch
) -> None:
    watch.expect("net::ERR_FAILED")
    page.route("**/api/models", lambda route: route.abort())
    page.goto(f"{live_server.url}/heads/en-zh/encoder.1.self/1")
    expect(page.locator(".problem:visible")).to_contain_text("cannot be reached")
    page.unroute_all()
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("#found button")).to_have_count(11)
    page.route("**/api/trace", lambda route: route.abort())
    page.locator("#found button").nth(3).click()
    expect(page.locator(".problem:visible")).to_contain_text("cannot be reached")
