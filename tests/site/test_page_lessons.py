"""Lessons of a site in Chromium: their figures and answers are the page's own model's."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Locator, expect

from app.engine.model_listing import example_reply
from app.engine.reply_formats import Reply
from app.lessons.course import lessons, short_lesson
from app.lessons.markdown import Text
from app.lessons.markdown_extensions import FigureBlock
from app.site import lacks
from app.traces.service import positions_table
from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder, load
from tests.site.opened_site import LOADED, Opened

SENTENCE = "She bought a blue book yesterday."
SHOWN = """(figure) => {
  const { matrix } = [...figure.querySelectorAll("*")].find((element) => element.picture).picture;
  return { rows: matrix.rows, values: [...matrix.values] };
}"""


def shown(figure: Locator) -> np.ndarray[Any, Any]:
    """Return the numbers of a figure's heatmap."""
    expect(figure.locator(".stand")).to_have_attribute("data-live", "yes", timeout=LOADED)
    cells = figure.evaluate(SHOWN)
    return np.array(cells["values"]).reshape(cells["rows"], -1)


def test_a_figure_and_an_answer_are_the_page_s_model_s(
    opened: Opened, served: EncoderDecoder
) -> None:
    page = opened.page
    page.goto(f"{opened.address}lesson-what-a-head-does.html")
    weights = np.asarray(served.trace(SENTENCE)["decoder.2.cross.weights"])[0]
    question = page.locator("#question-1")
    question.scroll_into_view_if_needed()
    choices = question.locator(".choose")
    expect(choices.first).to_be_visible(timeout=LOADED)
    choices.nth(int(weights[3].argmax())).click()
    question.get_by_role("button", name="Reveal", exact=True).click()
    expect(question.locator('.choose[data-right="true"]')).to_have_attribute("aria-pressed", "true")
    expect(question.locator(".verdict")).to_contain_text(f"{weights[3].max():.2f}")
    expect(question.locator(".why")).to_be_visible()

    figure = page.locator("#figure-2")  # the sentence above its translation
    figure.locator(".veil button").click()
    figure.scroll_into_view_if_needed()
    expect(figure.locator(".stand")).to_have_attribute("data-live", "yes", timeout=LOADED)
    expect(figure.locator("svg path").first).to_be_attached()
    opened.assert_quiet()


def test_attention_by_hand_is_computed_in_the_page(opened: Opened) -> None:
    page = opened.page
    page.goto(f"{opened.address}lesson-query-key-value.html")
    question, figure = page.locator("#question-1"), page.locator("#figure-1")
    question.scroll_into_view_if_needed()
    fields = question.locator("input")
    expect(fields).to_have_count(3, timeout=LOADED)
    for field, value in zip(fields.all(), (0, 3 / 3**0.5, 0), strict=True):
        field.fill(str(value))
    question.get_by_role("button", name="Reveal", exact=True).click()
    expect(question.locator('.fill[data-right="true"]')).to_have_count(3)
    expect(figure).not_to_have_attribute("data-veiled", "")
    figure.scroll_into_view_if_needed()
    expect(figure.locator(".stand")).to_have_attribute("data-live", "yes", timeout=LOADED)
    steps = figure.locator(".worked")
    before = steps.inner_text()
    figure.locator('[data-of="x"] input[data-at="0,0"]').fill("7")
    expect(steps).not_to_have_text(before, use_inner_text=True)
    opened.assert_quiet()


def test_a_figure_s_state_is_a_link_in_the_fragment(opened: Opened, served: EncoderDecoder) -> None:
    page = opened.page
    page.goto(f"{opened.address}lesson-query-key-value.html")
    figure = page.locator("figure[data-link*='view=attention']")
    figure.locator(".veil button").click()
    figure.scroll_into_view_if_needed()
    shown(figure)
    figure.locator(".own-sentence input").fill("I see a cat.")
    figure.locator(".own-sentence button").click()
    trace = served.trace("I see a cat.")
    expect(figure.locator(".caption")).to_contain_text("cat", timeout=LOADED)
    figure.get_by_role("button", name="Link", exact=True).click()
    link = figure.locator(".short-link input").input_value()
    assert "#figure=" in link
    assert figure.locator(".short-link").get_by_role("button", name="QR code").count() == 0
    again = Opened(opened.context, opened.address)
    again.page.goto(link)
    linked = again.page.locator(f"#{figure.get_attribute('id')}")
    expect(linked.locator(".caption")).to_contain_text("cat", timeout=LOADED)
    expected = np.asarray(trace["decoder.2.cross.weights"])[6]
    np.testing.assert_allclose(shown(linked), expected, atol=1e-4)
    assert not [url for url in again.requested if "I+see" in url or "I%20see" in url]
    again.assert_quiet()


def test_a_figure_of_the_zoo_has_its_model_loaded(opened: Opened) -> None:
    page = opened.page
    page.goto(f"{opened.address}lesson-order.html")
    figure = page.locator("figure[data-link*='model=zoo-reverse']")
    if figure.locator(".veil").is_visible():
        figure.locator(".veil button").click()
    figure.scroll_into_view_if_needed()
    weights = load("zoo/reverse", "cpu").trace("m a p s e t")["decoder.0.cross.weights"]
    np.testing.assert_allclose(shown(figure), np.asarray(weights)[3], atol=1e-4)
    loaded = {url.split("/")[-2] for url in opened.requested if url.endswith("weights.safetensors")}
    assert loaded == {"en-zh", "zoo-reverse"}
    opened.assert_quiet()


def test_positions_and_vectors_of_tokens_are_drawn(opened: Opened, served: EncoderDecoder) -> None:
    table: dict[str, Any] = {"part": "likeness", "length": 24, "width": 64}
    opened.open(source="The dog bites him.", view="positions", **table)
    alike = json.loads(positions_table("sinusoidal", 24, 64, 512))["similarity"]
    np.testing.assert_allclose(opened.weights(), np.array(alike), atol=1e-6)

    page = opened.page
    page.goto(f"{opened.address}lesson-text-to-vectors.html")
    figure = page.locator("figure[data-link*='part=tokens']").first
    figure.locator(".veil button").click()
    figure.scroll_into_view_if_needed()
    expect(figure.locator(".stand")).to_have_attribute("data-live", "yes", timeout=LOADED)
    ids = [token.id for token in served.trace("The unhappy cat is tired.").texts["source"]]
    for id_ in ids:
        expect(figure.locator(".stand")).to_contain_text(str(id_))
    opened.assert_quiet()


def test_the_training_comes_with_the_site(
    site: Path, opened: Opened, served: EncoderDecoder
) -> None:
    file = gzip.decompress((site / "headlight/en-zh/learning-0.bin").read_bytes())
    mine, theirs = Reply.parse(file), example_reply("en-zh", served, 0)
    assert len(mine.document["examples"]) == 1
    assert mine.document["texts"] == theirs.document["texts"]
    assert mine.arrays.keys() == theirs.arrays.keys()
    for name, numbers in theirs.arrays.items():
        np.testing.assert_array_equal(mine.arrays[name], numbers)
    page = opened.page
    page.goto(f"{opened.address}lesson-training.html")
    figure = page.locator("figure[data-link*='view=training&block=cross']")
    if figure.locator(".veil").is_visible():
        figure.locator(".veil button").click()
    figure.scroll_into_view_if_needed()
    expect(figure.locator(".stand .matrix .chart canvas")).to_be_visible(timeout=LOADED)
    last = max(int(name.partition(".")[0]) for name in theirs.arrays if name[0].isdigit())
    weights = theirs.arrays[f"{last}.decoder.0.cross.weights"][6] / 255
    np.testing.assert_allclose(shown(figure), weights, atol=1e-6)
    opened.assert_quiet()


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_lesson_has_a_page_whose_links_lead_somewhere(site: Path, lang: str) -> None:
    folder = site / "headlight"
    names = {path.name for path in folder.iterdir()}
    models = {model["id"] for model in json.loads((folder / "models.json").read_text())}
    ending = "" if lang == "en" else f"-{lang}"
    for lesson in (*lessons(), short_lesson()):
        page = (folder / f"lesson-{lesson.slug}{ending}.html").read_text()
        addresses = re.findall(r'(?:href|src)="([^"#?]+)', page)
        assert not {*addresses} - names
        blocks = [part.block for part in lesson.document(lang).parts if not isinstance(part, Text)]
        shown_links = [
            block.shown(False) if isinstance(block, FigureBlock) else block.link for block in blocks
        ]
        lacking = [lacks(models, *drawn) for drawn in zip(blocks, shown_links, strict=True)]
        assert page.count('class="not-served"') == sum(lacking)
