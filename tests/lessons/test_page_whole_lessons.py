"""Every lesson as a whole, in one visit a language, since its live figures are dear."""

import pytest
from playwright.sync_api import Browser, expect

from app.lessons.course import lessons
from app.lessons.markdown import Predict
from tests.browsing.axe import in_both_themes
from tests.browsing.legible import overflow
from tests.lessons.lesson_reader import Reader
from tests.servers import AppServer

LESSONS = {lesson.slug: lesson for lesson in lessons()}
# Of each symbol that has a place: what lights nothing in a figure, or is not lit by what it lights.
WALK = """() => {
  document.querySelectorAll("#lesson .why").forEach((one) => (one.hidden = false));
  const point = (at) => at.dispatchEvent(new PointerEvent("pointerover", {bubbles: true}));
  const lit = () => [...document.querySelectorAll("[data-lit-symbol]")];
  const inside = (one) => one.querySelector("td, canvas, mi, input") ?? one;
  const found = {names: [], wrong: []};
  for (const symbol of document.querySelectorAll("#lesson math [data-part]")) {
    const name = `${symbol.textContent} (${symbol.dataset.part})`;
    point(symbol);
    const shown = (one) => !one.matches("math [data-part]") && one.getClientRects().length > 0;
    const places = lit().filter(shown);
    if (!places.length) found.wrong.push(`${name} lights nothing`);
    if (!lit().includes(symbol)) found.wrong.push(`${name} is not lit itself`);
    for (const place of places) {
      point(document.querySelector("h1"));
      if (lit().length) found.wrong.push(`${name} stays lit`);
      point(inside(place));
      const what = place.outerHTML.slice(0, 60);
      if (!lit().includes(symbol)) found.wrong.push(`${what} does not light ${name}`);
    }
    found.names.push(name);
  }
  return found;
}"""
WITHOUT = {  # formulas
    "text-to-vectors",
    "far-words",
    "what-a-head-does",
    "encoder-decoder",
    "explanation",
}
# Formulas that are wider than their column, or are in one that scrolls.
TOO_WIDE = """() => [...document.querySelectorAll("#lesson math")].filter((math) => {
  const column = math.parentElement.closest("p, div, li, td, dd, figcaption");
  if (!math.checkVisibility() || !column.clientWidth) return false;
  const own = column.matches(".formula, .written");
  const wide = math.getBoundingClientRect().width > column.clientWidth + 1;
  return wide || (own && column.scrollWidth > column.clientWidth);
}).map((math) => math.textContent)"""
SHEET = 700  # the width of a sheet, in pixels; css/learn/learn.css
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


@pytest.mark.parametrize("slug", LESSONS)
def test_it_is_seen_heard_printed_and_carried(lesson: Reader, slug: str) -> None:
    lesson.open(f"/learn/{slug}")
    lesson.figures()
    lesson.questions()
    assert in_both_themes(lesson.page) == []
    print_in_the_dark(lesson)
    point_at_symbols(lesson, slug)
    carry(lesson)


def print_in_the_dark(lesson: Reader) -> None:
    """The sheet is white and as wide as paper, and nothing is cut."""
    page = lesson.page
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
    page.emulate_media(media="screen", color_scheme="light")


def point_at_symbols(lesson: Reader, slug: str) -> None:
    """Every symbol of a formula lights with what it names, and the other way round."""
    found = lesson.page.evaluate(WALK)
    assert found["wrong"] == []
    assert bool(found["names"]) == (slug not in WITHOUT)


def carry(lesson: Reader) -> None:
    """Formulas fit a phone."""
    lesson.page.set_viewport_size({"width": 320, "height": 640})
    assert overflow(lesson.page, 320) == 0  # and drawn again
    assert lesson.page.evaluate(TOO_WIDE) == []


@pytest.mark.parametrize("slug", LESSONS)
def test_its_figures_and_questions_work_in_chinese(lesson: Reader, slug: str) -> None:
    lesson.open(f"/learn/{slug}", lang="zh")
    for figure in lesson.figures():
        figure.scroll_into_view_if_needed()
        shown = ":is(canvas, svg, td, .run-head, .candidates):visible"
        expect(figure.locator(shown).first).to_be_visible()
        heads = figure.locator(".atlas-frame").evaluate_all(
            "all => all.map(one => one.clientWidth)"
        )
        assert all(width > 200 for width in heads), heads
    parts = LESSONS[slug].document("zh").parts
    for number, part in enumerate((one for one in parts if isinstance(one, Predict)), 1):
        question = lesson.page.locator(f"#question-{number}")
        question.scroll_into_view_if_needed()
        question.get_by_role("button", name="不猜，直接看答案").click()
        expect(question.locator(".why")).to_be_visible()
        right = question.locator("[data-right='true'] .what")
        expect(right.or_(question.locator(".truth")).first).to_be_visible()
        kind, expected = question.get_attribute("data-kind"), part.block.expects
        if kind in ("looks", "next", "head"):
            expect(right).to_contain_text(expected)
        if kind in ("off", "change"):
            expect(right).to_contain_text({"same": "不变", "changes": "改变"}[expected])
    carry(lesson)


def test_every_figure_and_question_is_there_without_scripts(
    browser: Browser, live_server: AppServer
) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        for n, lesson in enumerate(LESSONS.values()):
            lang = ("en", "zh")[n % 2]
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


def test_a_head_has_a_symbol_of_its_own(lesson: Reader) -> None:
    lesson.open("/learn/many-heads")
    mixed = lesson.figure(1).locator('[data-of="mix"]')
    symbols = lesson.page.locator('.formula [data-part^="mix"]')
    assert [one.text_content() for one in symbols.all()] == ["z1", "z2", "zh"]
    mixed.locator('[data-head="1"] td').first.hover()
    assert [one.get_attribute("data-lit-symbol") for one in symbols.all()] == [None, "", None]
    symbols.nth(0).hover()
    heads = mixed.locator("[data-head]").all()
    assert [one.get_attribute("data-lit-symbol") for one in heads] == ["", None]


def test_a_figure_by_hand_says_what_its_text_is_about(lesson: Reader) -> None:
    """Not the largest weight of all, where the lesson names a row; nothing without weights."""
    lesson.open("/learn/ten-minutes")
    headline = lesson.figure(2).locator(".finding")
    expect(headline).to_have_text("sits looks most at cat: 0.74.")
    lesson.open("/learn/scores")
    expect(lesson.figure(2).locator(".finding")).to_have_text("the looks most at cat: 0.87.")
    lesson.open("/learn/words")
    expect(lesson.figure(2).locator(".finding")).to_have_count(0)
