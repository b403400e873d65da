"""Figures and questions that cannot be loaded say why, and can be tried again."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browsing.fixtures import PATIENCE_MS
from tests.browsing.watch import Watch
from tests.collections.collecting_page import collection
from tests.collections.test_page_collections import SENTENCE
from tests.lessons.lesson_reader import without_veils
from tests.servers import AppServer

NOT_LOADED = "Not loaded: the server cannot be reached."


@pytest.fixture
def reader(page: Page, watch: Watch) -> Page:
    watch.expect("net::ERR")
    page.set_default_timeout(PATIENCE_MS)
    without_veils(page)
    return page


def cut(page: Page, what: str = "**/api/**") -> None:
    page.route(what, lambda route: route.abort())


def says_why(figure: Locator, still: str = ".still") -> Locator:
    """Return the button that tries again."""
    figure.scroll_into_view_if_needed()
    expect(figure.locator(".problem:visible")).to_have_count(1)
    expect(figure.locator(".problem:visible")).to_contain_text(NOT_LOADED)
    expect(figure.locator(still)).to_be_visible()
    expect(figure.locator(".coming")).to_have_count(0)
    return figure.get_by_role("button", name="Try again")


FIGURES = {  # of each kind
    "what-a-head-does": [1, 2],  # a view; a sentence and its translation
    "query-key-value": [1],  # by hand
    "order": [6],  # the zoo
    "training": [1],  # a training run
}


@pytest.mark.parametrize("lesson", FIGURES)
def test_a_figure_keeps_its_picture_until_it_is_loaded(
    reader: Page, live_server: AppServer, lesson: str
) -> None:
    for number in FIGURES[lesson]:
        cut(reader)
        reader.goto(f"{live_server.url}/learn/{lesson}?lang=en")
        figure = reader.locator(f"#figure-{number}")
        says_why(figure).click()
        again = says_why(figure)  # and says it once
        reader.unroute_all()
        again.click()
        expect(figure.locator(".stand")).to_have_attribute("data-live", "yes")
        expect(figure.locator(".still")).to_have_count(0)
        expect(figure.locator(".problem:visible")).to_have_count(0)
        assert figure.evaluate("it => it.contains(document.activeElement)")


def test_the_figures_after_one_that_fails_are_loaded(reader: Page, live_server: AppServer) -> None:
    cut(reader, "**/api/zoo*")
    reader.goto(f"{live_server.url}/learn/order?lang=en")
    says_why(reader.locator("#figure-6"))
    reader.locator("#figure-1").scroll_into_view_if_needed()
    expect(reader.locator("#figure-1 .stand")).to_have_attribute("data-live", "yes")


def test_a_change_and_a_question_that_cannot_be_had_are_said(
    reader: Page, live_server: AppServer
) -> None:
    cut(reader)
    reader.goto(f"{live_server.url}/learn/what-a-head-does?lang=en")
    question = reader.locator("#question-1")
    again = says_why(question, ".asks")
    reader.unroute_all()
    again.click()
    expect(question.get_by_role("button", name="Reveal", exact=True)).to_be_visible()
    expect(question.locator(".problem")).to_be_hidden()
    reader.goto(f"{live_server.url}/learn/what-a-head-does?lang=en")
    figure = reader.locator("#figure-1")
    figure.scroll_into_view_if_needed()
    expect(figure.locator(".stand")).to_have_attribute("data-live", "yes")
    cut(reader)
    figure.get_by_label("Sentence").fill("He sleeps.")
    figure.get_by_role("button", name="Run").click()
    expect(figure.locator(".problem")).to_contain_text("This is the last result")
    expect(figure.locator(".caption")).to_contain_text("blue")
    reader.unroute_all()
    figure.get_by_role("button", name="Try again").click()
    expect(figure.locator(".caption")).to_contain_text("He")
    expect(figure.locator(".problem")).to_be_hidden()


def test_an_item_of_a_collection_keeps_its_picture(reader: Page, live_server: AppServer) -> None:
    reader.goto(f"{collection(live_server, SENTENCE)['url']}?lang=en")
    item = reader.locator("#item-1")
    expect(item.locator(".still")).to_have_js_property("naturalWidth", 960)
    cut(reader)
    item.locator(".start").click()
    again = says_why(item)
    expect(item.locator(".start")).to_be_enabled()
    expect(item.locator(".go")).to_be_visible()
    item.locator(".start").click()
    says_why(item)
    reader.unroute_all()
    again.click()
    expect(item.locator(".stand")).to_have_attribute("data-live", "yes")
    assert item.evaluate("it => it.contains(document.activeElement)")
