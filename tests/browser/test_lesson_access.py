"""Every lesson for those who hear it, and for those whose browser runs no scripts."""

import pytest
from playwright.sync_api import Browser, expect

from app.lessons.library import lessons
from tests.browser.axe import violations
from tests.browser.lesson_reader import Reader
from tests.servers import AppServer

LESSONS = [one.slug for one in lessons()]


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_whole_lesson_has_no_violations(reader: Reader, lesson: str) -> None:
    reader.open(f"/learn/{lesson}")
    for number in range(1, 1 + reader.page.locator("figure.live").count()):
        reader.figure(number)
    for question in reader.page.locator(".predict").all():
        question.scroll_into_view_if_needed()
        expect(question.locator(".actions")).to_be_visible()
    assert violations(reader.page) == []


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_figure_and_question_is_there_without_scripts(
    browser: Browser, live_server: AppServer, lang: str
) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        for lesson in lessons():
            page.goto(f"{live_server.url}/learn/{lesson.slug}?lang={lang}")
            document = lesson.document(lang)
            figures = page.locator("figure.live")
            shown = sum(part.kind == "figure" for part in document.parts)
            assert figures.count() == shown > 0
            for figure in figures.all():
                figure.scroll_into_view_if_needed()
                still = figure.locator(".still")
                expect(still).to_be_visible()
                assert still.evaluate(
                    """async (one) => {
                        if (!one.matches("img")) return one.querySelectorAll("td").length;
                        await one.decode();
                        return one.naturalWidth;
                    }"""
                )
                expect(figure.locator("figcaption span").first).not_to_be_empty()
            asked = page.locator(".predict")
            assert asked.count() == sum(part.kind == "predict" for part in document.parts)
            for question in asked.all():
                expect(question.locator(".asks")).not_to_be_empty()
                expect(question.locator("noscript p")).to_be_visible()
