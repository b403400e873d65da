"""Lessons: both languages, every link, every question."""

import re
from pathlib import Path

import numpy as np
import pytest

from app.answers.share_state import VIEWS
from app.lessons.blocks import FigureBlock, Link, PredictBlock, parse_block
from app.lessons.formulas import SYMBOLS, formula
from app.lessons.library import LESSONS, Lesson, lessons
from app.lessons.links import by_hand, looking, running
from app.lessons.markdown import Figure, Predict, meaning, read
from model import Trace
from model.lab.compute import compute
from model.trace.tensor_tap import HEAD
from tests.lessons.conftest import Models
from tests.lessons.reading import LANGS, NAMES, PAGES, html

FAIR = 0.1  # by which the right answer leads, so that a prediction has one


def blocks(lesson: Lesson, lang: str) -> list[FigureBlock | PredictBlock]:
    parts = lesson.document(lang).parts
    return [part.block for part in parts if isinstance(part, Figure | Predict)]


QUESTIONS = [
    pytest.param(block, id=f"{lesson.slug}-{lang}-{block.number}")
    for lesson, lang in PAGES
    for block in blocks(lesson, lang)
    if isinstance(block, PredictBlock)
]
LINKS = [
    pytest.param(block.link, id=f"{lesson.slug}-{lang}-{at}")
    for lesson, lang in PAGES
    for at, block in enumerate(blocks(lesson, lang))
]


def test_every_folder_is_a_lesson_in_both_languages() -> None:
    folders = {path.name for path in LESSONS.iterdir() if path.is_dir()}
    assert folders == {lesson.slug for lesson in lessons()}
    for lesson in lessons():
        assert {path.name for path in (LESSONS / lesson.slug).iterdir()} == {
            f"{lang}.md" for lang in LANGS
        }
    numbers = [lesson.number for lesson in lessons()]
    assert numbers == sorted(set(numbers))


@pytest.mark.parametrize(("lesson", "lang"), PAGES, ids=NAMES)
def test_a_lesson_has_what_a_lesson_has(lesson: Lesson, lang: str) -> None:
    found = blocks(lesson, lang)
    assert any(isinstance(block, FigureBlock) for block in found)
    assert any(isinstance(block, PredictBlock) for block in found)
    assert all(block.why for block in found if isinstance(block, PredictBlock))
    text = html(lesson.document(lang))
    paper, sources = {"en": ("In the paper", "Sources"), "zh": ("在论文中的位置", "来源")}[lang]
    assert f"<h2>{paper}</h2>" in text
    assert f"<h2>{sources}</h2>" in text
    assert not re.search(r"\*\*|\$|```|merror", text)
    assert bool(re.search("[\u4e00-\u9fff]{10}", text)) == (lang == "zh")


@pytest.mark.parametrize("lesson", lessons(), ids=lambda lesson: lesson.slug)
def test_both_languages_have_the_same_figures_and_questions(lesson: Lesson) -> None:
    kinds = [[getattr(block, "kind", "figure") for block in blocks(lesson, lang)] for lang in LANGS]
    assert kinds[0] == kinds[1]


@pytest.mark.parametrize("link", LINKS)
def test_every_link_leads_to_what_is_there(link: Link, models: Models) -> None:
    if link.page == "lab":
        if "show" not in link.state:
            compute(by_hand(link))
        return
    state = looking(link)
    assert state.view in (None, *VIEWS)
    model = models(state.model)
    trace = seen(link, models)
    layers = [one for one in model.info.attentions if one.block == state.block]
    assert layers, f"no attentions called {state.block}"
    shape = trace.tensors[f"{layers[state.layer or 0].place}.weights"].value.shape
    for name, count in zip(("head", "query", "key"), shape, strict=True):
        assert (getattr(state, name) or 0) < count, name


@pytest.mark.parametrize("block", QUESTIONS)
def test_every_question_has_one_answer(block: PredictBlock, models: Models) -> None:
    if block.link.page == "lab":
        step = compute(by_hand(block.link)).steps[block.fields["step"]]
        rows = step.value[0] if step.dims[0] == HEAD else step.value
        assert np.isfinite(rows[int(block.fields["row"])]).all()
        return
    state = looking(block.link)
    trace = seen(block.link, models)
    place = f"{place_of(block.link, models)}.weights"
    if block.kind in ("looks", "row"):
        chances = trace.tensors[place].value[state.head or 0, state.query or 0]
    elif block.kind == "head":
        chances = trace.tensors[place].value[:, state.query or 0, state.key or 0]
    elif block.kind == "next":
        chances = trace.tensors["decoder.probabilities"].value[state.query or 0]
    else:
        return
    second, first = np.sort(np.asarray(chances, dtype=float))[-2:]
    assert first - second >= FAIR or block.kind == "row"


def seen(link: Link, models: Models) -> Trace:
    state = looking(link)
    select = ["*.weights", "*.mask", "decoder.probabilities"]
    return models(state.model).run([running(state).request(select, [])])[0]


def place_of(link: Link, models: Models) -> str:
    state = looking(link)
    table = models(state.model).info.attentions
    return [one.place for one in table if one.block == state.block][state.layer or 0]


def test_a_link_to_another_page_is_refused() -> None:
    with pytest.raises(ValueError, match="not a link"):
        Link.parse("https://example.org/?source=a")
    with pytest.raises(ValueError, match="not a link"):
        Link.parse("/zoo?task=copy")


@pytest.mark.parametrize(
    ("info", "content", "why"),
    [
        ("predict smells", "/?source=a\nWhich?", "unknown kind"),
        ("predict looks", "/?source=a", "needs text"),
        ("figure", "not a link\na caption", "not a link"),
    ],
)
def test_a_bad_block_says_what_is_wrong(info: str, content: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse_block(info, content, 1)


def test_a_block_keeps_its_fields() -> None:
    block = parse_block("predict row", "/lab?x=1\nFill in: 2 numbers.\nrow: 2\nwhy: So.", 1)
    assert isinstance(block, PredictBlock)
    assert (block.question, block.why, block.fields) == ("Fill in: 2 numbers.", "So.", {"row": "2"})


def test_a_lesson_without_a_claim_is_refused() -> None:
    with pytest.raises(ValueError, match="title"):
        read("# A title\n\n- no claim\n", "en")


def test_a_link_to_a_term_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match="glossary"):
        read("# A\n\nB\n\n[c](#nothing)\n", "en")


def test_markup_of_a_lesson_is_text() -> None:
    document = read("# A\n\nB\n\n<script>alert(1)</script>\n", "en")
    assert "<script>" not in html(document)


def test_symbols_are_in_the_glossary() -> None:
    for symbol in SYMBOLS.values():
        assert meaning(symbol.term, "zh") != meaning(symbol.term, "en") or symbol.term == "softmax"


def test_symbols_are_marked_once() -> None:
    made = formula(r"\mathrm{softmax}(q_i K^\top / \sqrt{d_k}) W_O", display=False)
    assert list(made.symbols) == ["softmax", "q", "K", "d_k", "W_O"]
    assert made.mathml.count("data-term") == 5
    assert 'data-part="q"' in made.mathml


def test_words_in_formulas_are_words() -> None:
    made = formula(r"\mathrm{Attention}(x)", display=False)
    assert "<mi>Attention</mi>" in made.mathml
    assert "A" not in made.symbols


def test_lessons_are_packed() -> None:
    root = Path(__file__).parents[2]
    assert "COPY lessons lessons" in (root / "Dockerfile").read_text()
    assert "!lessons" in (root / ".dockerignore").read_text().split()
