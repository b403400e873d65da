"""Lessons on paper, without controls."""

from playwright.sync_api import expect

from tests.lessons.lesson_reader import Reader

WHOLE = """(it) => [...it.querySelectorAll(".stand, .stand div")]
    .every((one) => getComputedStyle(one).overflowX === "visible")"""


def test_paper_has_figures_and_questions_but_no_controls(lesson: Reader) -> None:
    lesson.open("/learn/many-heads")
    for number in range(1, 4):
        lesson.figure(number)
    lesson.question(3)
    lesson.page.emulate_media(media="print")
    for gone in (".top", ".own-sentence", ".change-panel", ".actions", ".zoom", ".open", ".beside"):
        for control in lesson.page.locator(f"#learn {gone}").all():
            expect(control).to_be_hidden()
    for there in ("#question-3 .choose", "#figure-2 canvas", "#figure-3 .matrix", "figcaption"):
        expect(lesson.page.locator(there).first).to_be_visible()
    lesson.open("/learn/far-words")
    lesson.page.emulate_media(media="screen")
    lines = lesson.figure(1)
    lesson.page.emulate_media(media="print")
    lesson.page.set_viewport_size({"width": 700, "height": 990})  # A4
    lesson.page.wait_for_function(WHOLE, arg=lines.element_handle())
