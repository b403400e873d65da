"""Lessons: live figures, predictions that the model answers, and what is left without a script."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from app.lessons.library import lessons
from tests.browser.axe import violations
from tests.browser.watch import Watch
from tests.servers import AppServer

LESSON = "/learn/query-key-value"
GAP = 12  # above a stop


class Reader:
    """A lesson as a test sees it."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url

    def open(self, path: str = LESSON, lang: str = "en") -> None:
        self.page.goto(f"{self.url}{path}?lang={lang}")

    def figure(self, number: int) -> Locator:
        """Return a figure that has been scrolled to, once it is live."""
        figure = self.page.locator(f"#figure-{number}")
        figure.scroll_into_view_if_needed()
        expect(figure.locator(".stand")).to_have_attribute("data-live", "yes")
        return figure

    def question(self, number: int) -> Locator:
        question = self.page.locator(f"#question-{number}")
        question.scroll_into_view_if_needed()
        expect(question.get_by_role("button", name="Reveal", exact=True)).to_be_visible()
        return question


@pytest.fixture
def reader(context: BrowserContext, watch: Watch, live_server: AppServer) -> Iterator[Reader]:
    page = context.new_page()
    yield Reader(page, live_server.url)
    page.close()


def test_a_figure_is_made_when_it_comes_into_sight(reader: Reader) -> None:
    reader.open()
    asked: list[str] = []
    reader.page.on("request", lambda request: asked.append(request.url))
    last = reader.page.locator("#figure-2 .stand")
    expect(reader.page.locator("#question-1 .fill input")).to_have_count(3)
    assert last.get_attribute("data-live") is None
    assert not any("/api/trace" in url for url in asked)
    figure = reader.figure(2)
    expect(figure.locator(".caption")).to_contain_text(
        "while writing 昨 it looks most at yesterday"
    )
    expect(figure.locator("img")).to_have_count(0)


def test_a_figure_takes_a_sentence_of_ones_own_and_opens_where_it_is(reader: Reader) -> None:
    reader.open()
    figure = reader.figure(2)
    figure.get_by_label("Sentence").fill("He sleeps.")
    figure.get_by_role("button", name="Run").click()
    expect(figure.locator(".caption")).to_contain_text("looks most at He")
    figure.get_by_role("button", name="Next head").click()
    expect(figure.get_by_role("link")).to_have_attribute(
        "href", re.compile(r"source=He\+sleeps.*head=1")
    )
    figure.get_by_role("button", name="Reset").click()
    expect(figure.get_by_label("Sentence")).to_have_value("She bought a red book yesterday.")
    expect(figure.locator(".caption")).to_contain_text("yesterday")


def test_what_is_changed_by_hand_is_in_the_link(reader: Reader) -> None:
    reader.open()
    figure = reader.figure(1)
    cell = figure.get_by_label("W_Q, row 3, column 2")
    cell.fill("0")
    expect(figure.locator('[data-of="weights"] td[data-at="2,0"]')).to_have_text("0.3333")
    expect(figure.get_by_role("link")).to_have_attribute(
        "href", re.compile(r"w_q=0_3_0\*2_0_0\*0_0_0")
    )


def test_a_guess_is_judged_by_what_the_model_does(reader: Reader) -> None:
    reader.open()
    question = reader.question(2)
    reveal = question.get_by_role("button", name="Reveal", exact=True)
    expect(reveal).to_be_disabled()
    expect(question.locator(".why")).to_be_hidden()
    question.get_by_role("button", name="bought").click()
    reveal.click()
    expect(question.locator(".verdict")).to_contain_text("Not what you guessed")
    expect(question.locator(".verdict")).to_contain_text("yesterday")
    expect(question.locator('[data-right="true"]')).to_contain_text("yesterday")
    expect(question.locator('[aria-pressed="true"]')).to_contain_text("your guess")
    expect(question.locator(".why")).to_be_visible()


def test_a_row_is_filled_in(reader: Reader) -> None:
    reader.open()
    question = reader.question(1)
    for field, text in zip(question.locator("input").all(), ("0", "1.73", "0.5"), strict=True):
        field.fill(text)
    question.get_by_role("button", name="Reveal", exact=True).click()
    expect(question.locator('[data-right="true"]')).to_have_count(2)
    expect(question.locator('[data-right="false"] .truth')).to_contain_text("0")
    expect(question.locator(".verdict")).to_contain_text("Not what you guessed")


def test_progress_stays_in_the_browser(reader: Reader) -> None:
    reader.open()
    sent: list[str] = []
    reader.page.on("request", lambda request: sent.append(request.post_data or ""))
    reader.question(2).get_by_role("button", name="Reveal without a guess").click()
    expect(reader.page.locator("#question-2 .why")).to_be_visible()
    assert not any("query-key-value" in body for body in sent)
    reader.open("/learn")
    item = reader.page.locator('[data-lesson="query-key-value"]')
    expect(item.locator(".done")).to_contain_text("1 of 2")
    assert reader.page.evaluate("localStorage.lessons") == '{"query-key-value":[2]}'


def test_a_symbol_and_its_matrix_light_up_together(reader: Reader) -> None:
    reader.open()
    figure = reader.figure(1)
    figure.locator('[data-of="q"] td').first.hover()
    expect(reader.page.locator('.formula [data-part="q"]').first).to_have_attribute(
        "data-lit-symbol", ""
    )
    expect(reader.page.locator('.formula [data-part="k"]').first).not_to_have_attribute(
        "data-lit-symbol", ""
    )


def test_the_opening_leads_to_the_lessons_and_they_to_the_tour(reader: Reader) -> None:
    reader.page.goto(f"{reader.url}/?lang=en")
    reader.page.get_by_role("link", name="Show me how").click()
    expect(reader.page.get_by_role("heading", level=1)).to_have_text("Attention, in lessons")
    assert reader.page.evaluate("localStorage.visited") == "1"
    reader.page.get_by_role("link", name="a tour of the workspace").click()
    expect(reader.page.locator("#tour")).to_be_visible()


@pytest.mark.parametrize("lesson", [one.slug for one in lessons()])
def test_every_figure_and_question_of_a_lesson_works(reader: Reader, lesson: str) -> None:
    reader.open(f"/learn/{lesson}", lang="zh")
    for number in range(1, 1 + reader.page.locator("figure.live").count()):
        figure = reader.figure(number)
        expect(figure.locator("canvas, svg, td").first).to_be_visible()
    for number in range(1, 1 + reader.page.locator(".predict").count()):
        question = reader.page.locator(f"#question-{number}")
        question.scroll_into_view_if_needed()
        question.get_by_role("button", name="不猜，直接看答案").click()
        expect(question.locator(".why")).to_be_visible()
        expect(question.locator("[data-right='true'], .truth").first).to_be_visible()


def test_without_a_script_there_are_text_and_stills(
    browser: Browser, live_server: AppServer
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{live_server.url}{LESSON}?lang=zh")
    expect(page.get_by_role("heading", level=1)).to_have_text("查询、键、值")
    for still in page.locator(".still").all():
        still.scroll_into_view_if_needed()
        expect(still).to_have_js_property("naturalWidth", 960)
    expect(page.locator("noscript p", has_text="点积不管距离")).to_be_visible()
    context.close()


def test_a_remote_goes_through_a_lesson_in_front_of_a_class(reader: Reader) -> None:
    page = reader.page
    page.set_viewport_size({"width": 1280, "height": 720})
    reader.open()
    reader.question(1)
    page.evaluate("scrollTo(0, 0)")
    page.keyboard.press("p")
    expect(page.locator("html")).to_have_attribute("data-projector", "")
    assert "projector=1" in page.url
    expect(page.locator(".top")).to_be_hidden()

    def top(selector: str) -> int:
        at: float = page.locator(selector).evaluate("it => it.getBoundingClientRect().top")
        return round(at)

    page.keyboard.press("PageDown")
    assert top("#question-1") == GAP
    page.keyboard.press("PageDown")
    assert top("#figure-1") == GAP
    page.get_by_role("button", name="Previous").click()
    assert top("#question-1") == GAP
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-projector", "")
    page.keyboard.press("Escape")
    expect(page.locator(".top")).to_be_visible()
    assert "projector" not in page.url


@pytest.mark.parametrize("path", [LESSON, "/learn", "/learn/plan"])
@pytest.mark.parametrize("width", [1440, 390])
def test_anyone_can_read_it(reader: Reader, path: str, width: int) -> None:
    reader.page.set_viewport_size({"width": width, "height": 800})
    reader.open(path)
    if path == LESSON:
        for number in (1, 2):
            reader.figure(number)
        reader.question(2)
    assert violations(reader.page) == []
    assert reader.page.evaluate("document.documentElement.scrollWidth") <= width
