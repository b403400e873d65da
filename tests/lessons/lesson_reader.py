"""A lesson as a test sees it."""

import json

from playwright.sync_api import Locator, Page, expect

from app.lessons.course import lessons

LESSON = "/learn/query-key-value"


def without_veils(page: Page) -> None:
    """Open lessons as someone who has answered all questions before, so that no figure is veiled.

    Pages of a room have no veil on what its presenter shows.
    """
    answers = json.dumps({lesson.slug: list(range(1, 20)) for lesson in lessons()})
    page.add_init_script(f"localStorage.lessons ??= {json.dumps(answers)}")


class Reader:
    """A lesson as a test sees it."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url

    def open(self, path: str = LESSON, lang: str = "en") -> None:
        self.page.goto(f"{self.url}{path}{'&' if '?' in path else '?'}lang={lang}")

    def figure(self, number: int) -> Locator:
        """Return a figure that has been scrolled to, without its veil, once it is live."""
        figure = self.page.locator(f"#figure-{number}")
        figure.scroll_into_view_if_needed()
        veil = figure.locator(".veil button")
        if veil.is_visible():
            veil.click()
        expect(figure.locator(".stand")).to_have_attribute("data-live", "yes")
        return figure

    def question(self, number: int) -> Locator:
        question = self.page.locator(f"#question-{number}")
        question.scroll_into_view_if_needed()
        expect(question.get_by_role("button", name="Reveal", exact=True)).to_be_visible()
        return question

    def figures(self) -> list[Locator]:
        """Return all figures, each once it is live."""
        return [self.figure(1 + n) for n in range(self.page.locator("figure.live").count())]

    def questions(self) -> list[Locator]:
        return [self.question(1 + n) for n in range(self.page.locator(".predict").count())]

    def end(self) -> None:
        """Go to the end of the lesson, once all its figures and questions have their size."""
        self.figures()
        self.questions()
        self.page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
