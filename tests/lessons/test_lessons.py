"""Lessons: both languages, every link, every question."""

import re
from collections import Counter
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from app.figures.links import Link
from app.lab import by_hand
from app.lessons.course import LESSONS, Lesson, lessons
from app.lessons.markdown import Figure, Predict, Text, read
from app.lessons.markdown_extensions import KINDS, FigureBlock, PredictBlock, parse_block
from app.shares.creation import VIEWS
from model.lab.compute import compute
from model.live_training.options_and_events import LiveOptions, tasks_offered
from model.trace.tensor_tap import HEAD
from model.zoo.training import read_recipes
from tests.lessons.answers import likenesses, looking, seen, units, weights, written
from tests.lessons.conftest import Models
from tests.lessons.reading import ALL_LESSONS, LANGS, NAMES, PAGES, html, prose

# lab/formulas/formula.js
FORMULAS = {"why", "encoding", "warm-up", "layer-costs", "cache", "one-weight"}
CHOICES = {"shuffle", "scoring", "mask", "relative", "norm"}  # lab/figure/controls.js
FAIR = 0.1  # by which the right answer leads, so that a prediction has one


def blocks(lesson: Lesson, lang: str) -> list[FigureBlock | PredictBlock]:
    parts = lesson.document(lang).parts
    return [part.block for part in parts if isinstance(part, Figure | Predict)]


def find(slug: str) -> Lesson:
    return next(lesson for lesson in lessons() if lesson.slug == slug)


QUESTIONS = [
    pytest.param(block, id=f"{lesson.slug}-{lang}-{block.number}")
    for lesson, lang in PAGES
    for block in blocks(lesson, lang)
    if isinstance(block, PredictBlock)
]
LINKS = [
    pytest.param(link, id=f"{lesson.slug}-{lang}-{at}")
    for lesson, lang in PAGES
    for at, block in enumerate(blocks(lesson, lang))
    for link in {block.link, getattr(block, "pictured", block.link)}
]


def test_every_folder_is_a_lesson_in_both_languages() -> None:
    folders = {path.name for path in LESSONS.iterdir() if path.is_dir()}
    assert folders == {lesson.slug for lesson in ALL_LESSONS}
    for lesson in ALL_LESSONS:
        names = {path.name for path in (LESSONS / lesson.slug).iterdir()}
        assert names - {"class.toml"} == {f"{lang}.md" for lang in LANGS}


def test_the_order_numbers_the_lessons_and_texts_follow_it() -> None:
    assert [lesson.number for lesson in lessons()] == [*range(1, len(lessons()) + 1)]
    for slug, other, words in (
        ("explanation", "far-words", "the question of lesson {}"),
        ("masks", "query-key-value", "The example of lesson {}"),
    ):
        assert words.format(find(other).number) in html(find(slug).document("en"))


# What a reader does, or sees, only on a page; pointing and clicking also work in a file.
LIVE = {
    "en": r"\b(?:above|type|move|step through|choose|press|draw|replace|restore|make|slider)\b",
    "zh": r"上方|上面公式|拖动|滑块|换成|换一|输入|再选|改成|把.*(?:大|短|都|关闭)",
}


@pytest.mark.parametrize(("lesson", "lang"), PAGES, ids=NAMES)
def test_a_lesson_has_what_a_lesson_has(lesson: Lesson, lang: str) -> None:
    found = blocks(lesson, lang)
    asked = False
    for block in found:
        assert asked or isinstance(block, PredictBlock), f"no question before {block.link}"
        asked = isinstance(block, PredictBlock)
    for part in lesson.document(lang).parts:  # a caption is also true where nothing is live
        if isinstance(part, Figure) and "opening" not in part.block.link.state:
            assert not re.search(LIVE[lang], part.block.caption, re.IGNORECASE), part.block.caption
    assert any(isinstance(block, FigureBlock) for block in found)
    assert any(isinstance(block, PredictBlock) for block in found)
    assert all(block.why for block in found if isinstance(block, PredictBlock))
    text = html(lesson.document(lang))
    paper, sources = {"en": ("In the paper", "Sources"), "zh": ("在论文中的位置", "来源")}[lang]
    assert f"<h2>{paper}</h2>" in text
    assert f"<h2>{sources}</h2>" in text
    assert not re.search(r"\*\*|\$|```|merror", text)
    assert bool(re.search("[\u4e00-\u9fff]{12}", prose(lesson, lang))) == (lang == "zh")


@pytest.mark.parametrize("link", LINKS)
def test_every_link_leads_to_what_is_there(link: Link, models: Models) -> None:
    if link.page == "lab":
        if "show" not in link.state:
            compute(by_hand(link))
        else:
            assert link.state["show"] in FORMULAS
        return
    if link.page == "train":
        known = {field.name for field in fields(LiveOptions)} | {"view", "block", "layer", "head"}
        assert set(link.state) <= known
        assert link.state["task"] in tasks_offered()
        return
    if link.page == "zoo":
        found = read_recipes()
        assert {found[name].task_name for name in link.state["models"].split(",")} == {
            link.state["task"]
        }
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


@pytest.mark.parametrize("lesson", ALL_LESSONS, ids=lambda lesson: lesson.slug)
def test_a_figure_by_hand_is_about_what_it_has(lesson: Lesson) -> None:
    found = [
        [one.fields["about"].split() for one in blocks(lesson, lang) if "about" in one.fields]
        for lang in LANGS
    ]
    assert found[0] == found[1]
    for block in blocks(lesson, "en"):
        about = set(block.fields.get("about", "").split())
        if not about or block.link.page == "workspace":
            continue
        there = {*compute(by_hand(block.link)).steps, *block.link.state}
        if "choices" in block.fields:  # another choice has other steps
            assert set(block.fields["choices"].split()) <= CHOICES
            there |= {"encoding", "input", "position", "scored", "pi", "mask"}
        assert about <= there
        assert about & {"x", "w_q", "w_k", "w_v", "w_vocab"}, "nothing to change"


@pytest.mark.parametrize("block", QUESTIONS)
def test_every_question_has_one_answer(block: PredictBlock, models: Models) -> None:
    assert bool(block.expects) != ("value" in block.fields)
    if "value" in block.fields:
        assert np.isfinite(float(block.fields["value"]))
        return
    if block.link.page == "lab":
        step = compute(by_hand(block.link)).steps[block.fields["step"]]
        rows = step.value[0] if step.dims[0] == HEAD else step.value
        assert np.isfinite(rows[int(block.fields["row"])]).all()
        return
    row = looking(block.link).query or 0
    if block.kind in ("looks", "row", "number"):
        chances = weights(block.link, models)[looking(block.link).head or 0, row]
    elif block.kind == "head":
        chances = weights(block.link, models)[:, row, looking(block.link).key or 0]
    elif block.kind == "nearest":
        chances = likenesses(block.link, models)
    elif block.kind == "unit":
        chances = units(block.link, models)
    elif block.kind == "next":
        chances = seen(block.link, models).tensors["decoder.probabilities"].value[row]
    else:
        return
    second, first = np.sort(np.asarray(chances, dtype=float))[-2:]
    assert first - second >= FAIR or block.kind in ("row", "number")


@pytest.mark.parametrize("block", QUESTIONS)
def test_a_question_names_the_token_that_it_is_about(block: PredictBlock, models: Models) -> None:
    """So that a model that translates otherwise cannot make the question wrong."""
    if block.kind in ("off", "change") or block.link.page != "workspace" or block.expects == "":
        return
    state = looking(block.link)
    if state.model is None and state.query is not None:
        named = {one for one in written(block.link, models) if one}
        words = re.findall(r"[A-Za-z']+|[\u4e00-\u9fff]", block.question)
        assert named & set(words), named


def test_every_kind_of_question_is_asked() -> None:
    kinds = Counter(
        block.kind
        for lesson in lessons()
        for block in blocks(lesson, "en")
        if isinstance(block, PredictBlock)
    )
    assert set(kinds) == set(KINDS)


def without_words(block: FigureBlock | PredictBlock) -> tuple[object, ...]:
    """Return what a block has beside its words."""
    if isinstance(block, FigureBlock):
        return block.link, bool(block.live), block.fields
    return block.link, block.kind, block.expects, block.fields


@pytest.mark.parametrize("lesson", ALL_LESSONS, ids=lambda lesson: lesson.slug)
def test_both_languages_have_the_same_figures_questions_and_answers(lesson: Lesson) -> None:
    english, chinese = ([*map(without_words, blocks(lesson, lang))] for lang in LANGS)
    assert english == chinese


def test_the_expected_answer_is_not_on_the_page() -> None:
    block = parse_block("predict looks", "/?source=a\nWhere?\nexpects: cat\nwhy: So.", 1)
    assert isinstance(block, PredictBlock)
    assert (block.expects, block.fields) == ("cat", {})


def test_a_link_to_another_page_is_refused() -> None:
    with pytest.raises(ValueError, match="not a link"):
        Link.parse("https://example.org/?source=a")
    with pytest.raises(ValueError, match="not a link"):
        Link.parse("/room/abc?task=copy")


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


def test_lessons_are_packed() -> None:
    root = Path(__file__).parents[2]
    assert "COPY lessons lessons" in (root / "Dockerfile").read_text()
    assert "!lessons" in (root / ".dockerignore").read_text().split()


@pytest.mark.parametrize(("lesson", "lang"), PAGES, ids=NAMES)
def test_the_speaker_has_notes_for_every_scene(lesson: Lesson, lang: str) -> None:
    document = lesson.document(lang)
    assert document.notes
    for part in document.parts:
        assert isinstance(part, Text) or part.notes, part
    english = lesson.document("en")
    counts = [
        [len(part.notes) for part in one.parts if not isinstance(part, Text)]
        for one in (document, english)
    ]
    assert counts[0] == counts[1]


@pytest.mark.parametrize(
    "text", ["# A\n\nB.\n\nText.\n\n```notes\nNo.\n```", "# A\n\n```notes\nNo.\n```\n\nB."]
)
def test_notes_without_a_scene_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"notes must follow|must begin"):
        read(text, "en")


def test_notes_are_for_the_speaker_only() -> None:
    document = read("# A\n\nB.\n\n```notes\nAsk *why* `<b>`.\n\nThen wait.\n```\n\nText.", "en")
    assert document.notes == ("Ask why <b>.", "Then wait.")
    assert [str(part.kind) for part in document.parts] == ["text"]
