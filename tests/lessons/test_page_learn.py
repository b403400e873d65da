"""Lessons: live figures, predictions that the model answers, and what is left without a script."""

import re

import pytest
from playwright.sync_api import expect

from tests.browsing.axe import violations
from tests.browsing.legible import overflow
from tests.lessons.lesson_reader import Reader


def test_figures_are_made_in_sight_and_take_a_sentence_of_ones_own(lesson: Reader) -> None:
    # A figure is made when it comes into sight.
    lesson.open()
    asked: list[str] = []
    lesson.page.on("request", lambda request: asked.append(request.url))
    last = lesson.page.locator("#figure-2 .stand")
    expect(lesson.page.locator("#question-1 .fill input")).to_have_count(3)
    assert last.get_attribute("data-live") is None
    assert not any("/api/trace" in url for url in asked)
    figure = lesson.figure(2)
    expect(figure.locator(".caption")).to_contain_text("while writing 狗₂ it looks most at dog₂")
    expect(figure.locator("img")).to_have_count(0)
    # What is changed by hand is in the link.
    by_hand = lesson.figure(1)
    cell = by_hand.get_by_label("W_Q, row 3, column 2")
    cell.fill("0")
    expect(by_hand.locator('[data-of="weights"] td[data-at="2,0"]')).to_have_text("0.3333")
    expect(by_hand.get_by_role("link")).to_have_attribute(
        "href", re.compile(r"w_q=0_2_0\*1_0_0\*0_0_0")
    )
    # A symbol and its matrix light up together.
    by_hand.locator('[data-of="q"] td').first.hover()
    expect(lesson.page.locator('.formula [data-part="q"]').first).to_have_attribute(
        "data-lit-symbol", ""
    )
    expect(lesson.page.locator('.formula [data-part="k"]').first).not_to_have_attribute(
        "data-lit-symbol", ""
    )
    # A symbol lights with the cells of an attention matrix.
    symbols = lesson.page.locator(".formula").last
    figure.locator(".matrix").hover()
    for part, chosen in (("q", ".labels.rows"), ("k", ".labels.cols"), ("weights", ".chart")):
        symbol = symbols.locator(f'[data-part="{part}"]').first
        expect(symbol).to_have_attribute("data-lit-symbol", "")
        symbol.hover()
        expect(figure.locator(f".matrix > {chosen}")).to_have_attribute("data-lit-symbol", "")
        expect(figure.locator(".matrix > [data-lit-symbol]")).to_have_count(1)
        figure.locator(".matrix").hover()
    # A figure takes a sentence of ones own and opens where it is.
    figure.get_by_label("Sentence").fill("He sleeps.")
    figure.get_by_role("button", name="Run").click()
    expect(figure.locator(".caption")).to_contain_text("looks most at sleep")
    figure.get_by_role("button", name="Next head").click()
    expect(figure.get_by_role("link")).to_have_attribute(
        "href", re.compile(r"source=He\+sleeps.*head=7")
    )
    figure.get_by_role("button", name="Reset").click()
    expect(figure.get_by_label("Sentence")).to_have_value(re.compile("^The old dog and the young"))
    expect(figure.locator(".caption")).to_contain_text("dog₂")


def test_a_figure_shows_and_changes_what_the_lesson_is_about(lesson: Reader) -> None:
    lesson.open("/learn/words")
    figure = lesson.figure(2)
    shown = figure.locator("[data-of]")
    about = (figure.get_attribute("data-about") or "").split()
    assert shown.evaluate_all("all => all.map(one => one.dataset.of)") == about
    rest = figure.get_by_role("button", name="All matrices and steps")
    rest.click()
    expect(rest).to_have_attribute("aria-expanded", "true")
    expect(figure.locator('[data-of="w_q"]')).to_be_visible()
    expect(figure.locator('[data-of="scores"]')).to_be_visible()
    rest.click()
    expect(shown).to_have_count(len(about))
    # The changes of a figure are those it is about.
    lesson.open("/learn/explanation")
    offered = ".change-panel section:visible h3"
    expect(lesson.figure(1).locator(offered)).to_have_count(1)
    expect(lesson.figure(3).locator(offered)).to_have_text([re.compile("head 3"), "One cell"])


def test_guesses_are_judged_and_progress_stays_in_the_browser(lesson: Reader) -> None:
    # A guess is judged by what the model does.
    lesson.open()
    question = lesson.question(2)
    reveal = question.get_by_role("button", name="Reveal", exact=True)
    expect(reveal).to_be_disabled()
    expect(question.locator(".why")).to_be_hidden()
    question.get_by_role("button", name="young").click()
    reveal.click()
    expect(question.locator(".verdict")).to_contain_text("Not what you guessed")
    expect(question.locator(".verdict")).to_contain_text("dog₂")
    expect(question.locator('[data-right="true"]')).to_contain_text("dog₂")
    expect(question.locator('[aria-pressed="true"]')).to_contain_text("your guess")
    expect(question.locator(".why")).to_be_visible()
    # A row is filled in.
    row = lesson.question(1)
    for field, text in zip(row.locator("input").all(), ("0", "1.73", "0.5"), strict=True):
        field.fill(text)
    row.get_by_role("button", name="Reveal", exact=True).click()
    expect(row.locator('[data-right="true"]')).to_have_count(2)
    expect(row.locator('[data-right="false"] .truth')).to_contain_text("0")
    expect(row.locator(".verdict")).to_contain_text("Not what you guessed")
    # Progress stays in the browser.
    lesson.page.evaluate("localStorage.clear()")
    lesson.open()
    sent: list[str] = []
    lesson.page.on("request", lambda request: sent.append(request.post_data or ""))
    lesson.question(2).get_by_role("button", name="Reveal without a guess").click()
    expect(lesson.page.locator("#question-2 .why")).to_be_visible()
    assert not any("query-key-value" in body for body in sent)
    lesson.open("/learn")
    item = lesson.page.locator('[data-lesson="query-key-value"]')
    expect(item.locator(".done")).to_contain_text("1 of 2")
    assert lesson.page.evaluate("localStorage.lessons") == '{"query-key-value":[2]}'


def test_a_formula_is_tried_in_a_lesson_and_the_map_follows_a_word(lesson: Reader) -> None:
    lesson.open("/learn/far-words")
    figure = lesson.figure(2)
    figure.get_by_role("slider").fill("6")  # 512
    expect(figure.locator(".finding")).to_contain_text("n ≥ d")
    first = figure.locator("tbody tr").first
    expect(first).to_contain_text(f"{512**3:,}")
    expect(figure.get_by_role("link")).to_have_attribute(
        "href", re.compile(r"show=layer-costs.*512")
    )
    lesson.open("/learn/training")
    figure = lesson.figure(4)
    symbol = figure.locator('.written [data-symbol="warmup"]')
    figure.get_by_role("textbox", name="warmup").focus()
    expect(symbol).to_have_attribute("data-lit", "")
    figure.get_by_role("textbox", name="Features").focus()
    expect(symbol).not_to_have_attribute("data-lit", "")
    # The map follows a word.
    lesson.open("/learn/encoder-decoder")
    figure = lesson.figure(5)
    expect(figure.locator(".caption")).to_contain_text("book")
    figure.get_by_role("radio", name=re.compile("Cross-attention, layer 3")).check(force=True)
    expect(figure.locator(".caption")).to_contain_text("while writing 书")
    figure.get_by_role("radio", name=re.compile("Encoder, layer 2")).check(force=True)
    expect(figure.locator(".caption")).to_contain_text("book looks most")


def test_models_of_the_zoo_answer_beyond_their_length(lesson: Reader) -> None:
    lesson.open("/learn/order")
    figure = lesson.figure(6)
    answers = figure.locator("tbody tr")
    expect(answers).to_have_count(7)
    target = answers.nth(1).locator("td").first.inner_text()
    for row in answers.all()[2:]:
        same = row.locator("td").first.inner_text() == target
        assert row.get_attribute("data-right") == str(same).lower()
        assert (row.locator("mark").count() == 0) == same
    states = re.compile(r"(\d+)\s% are right with sinusoids .* and (\d+)\s% with rotary")
    stated = states.search(lesson.page.locator("#lesson").inner_text())
    assert stated
    told = [answers.nth(row).locator("td").last.inner_text() for row in (2, 6)]
    assert told == [*stated.groups()]
    slider = figure.get_by_role("slider", name="Letters")
    slider.fill("0")
    expect(figure.locator("tr[data-right=true]")).to_have_count(5)
    expect(figure.get_by_role("link")).to_have_attribute("href", re.compile("/zoo.*source="))
    # The labels of a matrix have no lines.
    label = lesson.figure(4).locator(".labels.rows .step").first
    expect(label).to_have_css("border-top-width", "0px")
    expect(label).to_have_css("padding-top", "0px")
    expect(lesson.figure(1).locator(".lab-figure .step").first).to_have_css("padding-top", "14px")


def test_glosses_are_below_the_translation_of_any_sentence(lesson: Reader) -> None:
    lesson.open("/learn/what-a-head-does")
    figure = lesson.figure(2)
    written = figure.locator(".words.to button")
    expect(written.filter(has_text="书").locator(".gloss")).to_have_text("book")
    written.filter(has_text="买").click()
    expect(figure.locator(".caption")).to_contain_text("it looks at bought")
    figure.get_by_role("textbox", name="Sentence").fill("I see a cat.")
    figure.get_by_role("button", name="Run").click()
    expect(written.filter(has_text="猫").locator(".gloss")).to_have_text("cat")
    expect(figure.get_by_role("link")).to_have_attribute("href", re.compile(r"source=I\+see.*open"))


def test_the_opening_leads_to_the_lessons_and_they_to_the_tour(lesson: Reader) -> None:
    lesson.page.goto(f"{lesson.url}/?lang=en")
    lesson.page.get_by_role("link", name="Show me how").click()
    expect(lesson.page.get_by_role("heading", level=1)).to_have_text("Attention, in lessons")
    assert lesson.page.evaluate("localStorage.visited") == "1"
    lesson.page.get_by_role("link", name="a tour of the workspace").click()
    expect(lesson.page.locator("#tour")).to_be_visible()


@pytest.mark.parametrize("path", ["/learn", "/learn/plan"])
def test_anyone_can_read_it(lesson: Reader, path: str) -> None:
    lesson.open(path)
    for width in (1440, 390):
        lesson.page.set_viewport_size({"width": width, "height": 800})
        assert not overflow(lesson.page, width)
        assert violations(lesson.page) == []
        wider = "all => all.filter(one => one.scrollWidth > one.clientWidth).length"
        assert lesson.page.locator(".plan .scrolled").evaluate_all(wider) == 0
