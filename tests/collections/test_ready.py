"""The collections that come with Headlight: whole, in both languages, and true of the models."""

from functools import cache

import numpy as np
import pytest

from app.collections.schemas import CollectionRequest
from app.collections.shelf import (
    Answered,
    ReadyCollection,
    ReadyQuestion,
    ready_collections,
)
from app.figures.links import Link, check_stated
from app.lessons.course import lessons, numbers
from app.lessons.markdown_extensions import PredictBlock
from app.lessons.pages import figures
from model import load
from tests.lessons.answers import answer, likenesses, looking, seen, weights

LANGS = ("en", "zh")
KINDS = {"choice", "number", "open", "order"}
MARGIN = 0.1  # between the right answer and the next, in weight, cosine or probability
READY = [*ready_collections().items()]
QUESTIONS = [
    pytest.param(lesson, question, id=f"{lesson}-{question.words.en[:30]}")
    for lesson, collection in READY
    for item in collection.items
    for question in item.questions
]


@cache
def models(name: str | None):  # type: ignore[no-untyped-def]
    return load((name or "en-zh").replace("zoo-", "zoo/", 1), "cpu")


def test_each_lesson_has_a_collection() -> None:
    assert [lesson for lesson, _ in READY] == [lesson.slug for lesson in lessons()]


@pytest.mark.parametrize(("lesson", "collection"), READY, ids=[lesson for lesson, _ in READY])
def test_a_collection_is_whole(lesson: str, collection: ReadyCollection) -> None:
    assert {question.kind for item in collection.items for question in item.questions} == KINDS
    assert 5 <= sum(item.minutes for item in collection.items) <= 15
    shown = [item.figure for item in collection.items if item.link is None]
    assert set(shown) <= {figure.block.number for figure in figures(lesson, "en")}
    for item in collection.items:
        assert item.questions
        for texts in (item.title, item.private):
            assert set(texts) == {"en", "zh"}
            assert all(texts.values())
    for lang in LANGS:
        document = collection.document(lesson, lang)
        CollectionRequest.model_validate(document)
        for stored in document["items"]:
            for question in stored["questions"]:
                check_stated(question["entry"], question["ask"])


@pytest.mark.parametrize(("lesson", "question"), QUESTIONS)
def test_a_question_has_one_right_answer(lesson: str, question: ReadyQuestion) -> None:
    right = [option for option in question.options if option.right]
    assert len(right) == (question.kind == "choice")
    for lang in LANGS:
        texts = [option.text(lang) for option in question.options]
        assert len({*texts}) == len(texts)
        ask = question.prepared(lang)["ask"]
        if question.kind == "order":  # students do not see it in its order
            assert ask["right"] != [*range(len(texts))]
            assert [ask["options"][i]["text"] for i in ask["right"]] == texts
        if question.kind == "choice":
            assert ask["options"][ask["right"][0]]["text"] == right[0].text(lang)
            assert not ask["options"][ask["right"][0]]["note"]
    if question.quoted:
        assert f"{question.value:g}" == numbers()[lesson][question.quoted].replace(",", "")


@pytest.mark.parametrize(
    ("question", "answered"),
    [
        pytest.param(question, question.answered, id=question.words.en[:40])
        for _, collection in READY
        for item in collection.items
        for question in item.questions
        if question.answered
    ],
)
def test_a_model_gives_the_right_answer_by_a_margin(
    question: ReadyQuestion, answered: Answered
) -> None:
    fields = {"step": answered.step, "row": str(answered.row), "column": str(answered.column)}
    link = Link.parse(answered.link)
    block = PredictBlock(1, answered.kind, link, "", "", answered.expects, fields)
    assert answer(block, models) == answered.expects
    if answered.kind == "number":
        assert question.value == float(answered.expects)
    elif answered.kind not in ("off", "change"):
        (right,) = (option for option in question.options if option.right)
        for lang in LANGS:
            assert answered.expects in right.text(lang)
        values = sorted(_values(answered.kind, link))
        assert values[-1] - values[-2] >= MARGIN


def _values(kind: str, link: Link) -> list[float]:
    """Return what the tokens, heads or words compete with, from the run itself."""
    state = looking(link)
    row = state.query or 0
    if kind == "nearest":
        values = likenesses(link, models)
    elif kind == "next":
        values = np.asarray(seen(link, models).tensors["decoder.probabilities"].value)[row]
    elif kind == "head":
        values = weights(link, models)[:, row, state.key or 0]
    else:
        values = weights(link, models)[state.head or 0, row]
    return [float(value) for value in values]
