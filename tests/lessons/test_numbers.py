"""Every number that a lesson states is computed here."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest

from app.lessons.blocks import FigureBlock
from app.lessons.library import Lesson, lessons
from app.lessons.links import by_hand
from app.lessons.markdown import Figure
from model.lab.compute import compute
from model.lab.request import Steps
from tests.lessons.conftest import Models
from tests.lessons.reading import LANGS, NAMES, PAGES, numbers, prose

Facts = Callable[[Lesson, Models], Sequence[str]]


def two(value: float) -> str:
    return f"{value:.2f}"


def figure(lesson: Lesson, number: int) -> FigureBlock:
    parts = [part for part in lesson.document("en").parts if isinstance(part, Figure)]
    return parts[number - 1].block


def lab(lesson: Lesson, number: int) -> Steps:
    return compute(by_hand(figure(lesson, number).link))


def query_key_value(lesson: Lesson, models: Models) -> list[str]:
    steps = lab(lesson, 1)
    the, cat, sits = range(3)
    weights = steps["weights"][0]
    assert weights[sits, the] == weights[sits, sits]
    output = ", ".join(two(one) for one in steps["output"][sits])
    translation = models(None).trace("She bought a red book yesterday.").output.text
    assert translation.startswith("她昨")
    return [
        two(np.sqrt(3)),
        two(weights[sits, cat]),
        two(weights[sits, the]),
        two(weights[cat, the]),
        f"({output})",
    ]


FACTS: Mapping[str, Facts] = {
    "query-key-value": query_key_value,
}


@pytest.mark.parametrize("lesson", lessons(), ids=lambda lesson: lesson.slug)
def test_what_a_lesson_states_is_so(lesson: Lesson, models: Models) -> None:
    facts = FACTS[lesson.slug](lesson, models)
    for lang in LANGS:
        text = prose(lesson, lang)
        assert [fact for fact in facts if fact not in text] == []


@pytest.mark.parametrize(("lesson", "lang"), PAGES, ids=NAMES)
def test_no_number_is_stated_that_is_not_computed(
    lesson: Lesson, lang: str, models: Models
) -> None:
    facts = FACTS[lesson.slug](lesson, models)
    known = set().union(*(numbers(fact) for fact in facts))
    assert numbers(prose(lesson, lang)) - known == set()
