"""Lessons on paper: light, as wide as the sheet, without controls."""

import pytest
from playwright.sync_api import expect

from app.lessons.library import lessons
from tests.browser.lesson_reader import Reader

SHEET = 700  # the width of a sheet, in pixels; css/pages/learn.css
CUT = """edge => [...document.querySelectorAll("#lesson .live *")]
  .filter((one) => one.checkVisibility() && one.getBoundingClientRect().right > edge + 1)
  .map((one) => `${one.closest(".live").id} ${one.outerHTML.slice(0, 80)}`)"""
# The largest part of a chart, or of the coloured cells of all tables, that is as dark as the night.
NIGHT = """() => {
  const part = (all) => all.filter((rgb) => Math.max(...rgb) < 40).length / Math.max(all.length, 1);
  const charts = [...document.querySelectorAll("#lesson .chart canvas")].map((one) => {
    const { data } = one.getContext("2d").getImageData(0, 0, one.width, one.height);
    const every = Array.from({ length: Math.floor(data.length / 404) }, (_, i) => 404 * i);
    return every.filter((at) => data[at + 3]).map((at) => [...data.slice(at, at + 3)]);
  });
  const cells = [...document.querySelectorAll("#lesson .live .number-table td[style]")]
    .map((one) => getComputedStyle(one).backgroundColor.match(/[0-9.]+/g).map(Number))
    .filter((rgb) => rgb.length === 3);
  return Math.max(...[...charts, cells].map(part));
}"""


def test_paper_has_figures_and_questions_but_no_controls(reader: Reader) -> None:
    reader.open("/learn/many-heads")
    for number in range(1, 4):
        reader.figure(number)
    reader.question(1)
    reader.page.emulate_media(media="print")
    for gone in (".top", ".own-sentence", ".change-panel", ".actions", ".zoom", ".open", ".beside"):
        for control in reader.page.locator(f"#learn {gone}").all():
            expect(control).to_be_hidden()
    for there in ("#question-1 .choose", "#figure-1 canvas", "#figure-3 .matrix", "figcaption"):
        expect(reader.page.locator(there).first).to_be_visible()
    reader.open("/learn/far-words")
    reader.page.emulate_media(media="screen")
    lines = reader.figure(1)
    reader.page.emulate_media(media="print")
    reader.page.set_viewport_size({"width": 700, "height": 990})  # A4
    reader.page.wait_for_timeout(300)
    cut = lines.evaluate(
        "it => [...it.querySelectorAll('.stand, .stand div')].filter("
        "one => getComputedStyle(one).overflowX !== 'visible').length"
    )
    assert cut == 0


@pytest.mark.parametrize("lesson", [one.slug for one in lessons()])
def test_a_dark_lesson_is_printed_on_white_paper_and_nothing_is_cut(
    reader: Reader, lesson: str
) -> None:
    page = reader.page
    page.emulate_media(color_scheme="dark")
    reader.open(f"/learn/{lesson}")
    for number in range(1, 1 + page.locator("figure.live").count()):
        reader.figure(number)
    page.emulate_media(media="print", color_scheme="dark")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    sheet = page.locator("#learn").bounding_box()
    assert sheet
    assert sheet["width"] == SHEET
    assert page.evaluate(CUT, sheet["x"] + SHEET) == []
    assert page.evaluate(NIGHT) < 0.2
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.evaluate("document.documentElement.dataset.theme") is None
    assert page.evaluate("document.documentElement.dataset.paper") is None
