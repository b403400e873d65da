"""Every number that a lesson states is computed: from models in facts.py, all others here."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import ceil, cos, log, sin
from statistics import fmean

import numpy as np
import pytest

from app.lab import by_hand
from app.lessons.course import NUMBERS, PLACE, Lesson, fill
from app.lessons.course import numbers as quotes
from app.lessons.markdown import Figure, Predict
from app.lessons.markdown_extensions import FigureBlock
from model.lab.compute import WIDTHS, compute, scaling
from model.lab.lab_request import LabRequest, Steps
from tests.lessons.conftest import Models
from tests.lessons.facts import two
from tests.lessons.make import computed, surprises
from tests.lessons.reading import ALL_LESSONS, LANGS, NAMES, PAGES, numbers, prose

Stated = Callable[[Lesson], Sequence[str]]


def figure(lesson: Lesson, number: int) -> FigureBlock:
    parts = [part for part in lesson.document("en").parts if isinstance(part, Figure)]
    return parts[number - 1].block


def lab(lesson: Lesson, number: int) -> Steps:
    return compute(by_hand(figure(lesson, number).link))


def query_key_value(lesson: Lesson) -> list[str]:
    steps = lab(lesson, 1)
    the, cat, sits = range(3)
    weights = steps["weights"][0]
    assert weights[sits, the] == weights[sits, sits]
    output = ", ".join(two(one) for one in steps["output"][sits])
    return [
        two(np.sqrt(3)),
        two(weights[sits, cat]),
        two(weights[sits, the]),
        two(weights[the, cat]),
        two(weights[cat, the]),
        f"({output})",
    ]


def ten_minutes(lesson: Lesson) -> list[str]:
    steps = lab(lesson, 2)
    the, cat, sits = range(3)
    weights = steps["weights"][0]
    assert weights[sits, the] == weights[sits, sits]
    return [two(np.sqrt(3)), two(weights[sits, cat]), two(weights[sits, the])]


def what_a_head_does(lesson: Lesson) -> list[str]:
    return []


def scores(lesson: Lesson) -> list[str]:
    assert lab(lesson, 2)["k"].shape[-1] == 4
    rows = [
        two(getattr(scaling(6, 7)[way], column)[WIDTHS.index(d_k)])
        for d_k in (64, 512)
        for way in ("dot", "scaled")
        for column in ("spread", "largest", "gradient")
    ]
    slopes = [f"{a * (1 - a):.2f}" for a in (0.5, 0.99)]
    assert round(0.25 / (0.99 * 0.01)) == 25
    return [
        *("10", "64", "512", *(f"{np.sqrt(d_k):.0f}" for d_k in (64, 512)), *rows, "12"),
        *("0.5", "0.99", "0.999", *slopes, "25"),
    ]


def many_heads(lesson: Lesson) -> list[str]:
    """One head brings the same for "man bites dog", two heads do not."""
    links = [part.block.link for part in lesson.document("en").parts if isinstance(part, Predict)]
    one_head, two_heads = (by_hand(link) for link in links[:2])

    def bites(request: LabRequest, step: str, first: int, last: int) -> list[float]:
        """Return the verb's row of a step, by the numbers of the words before and after it."""
        x = np.array(request.x)
        x[[0, 2], 0] = first, last
        rows = compute(replace(request, x=x.tolist()))[step]
        return [float(number) for number in rows.reshape(-1, *rows.shape[-2:])[0][1]]

    mix = bites(one_head, "mix", 1, 2)
    assert mix == bites(one_head, "mix", 2, 1)
    assert np.allclose(bites(two_heads, "output", 1, 2), (2, 1, 2))
    assert np.allclose(bites(two_heads, "output", 2, 1), (1, 2, 1))
    best, single = 25.8, 24.9  # BLEU in table 3 of the paper
    return ["12", f"{mix[0]:.1f}", f"{best - single:.1f}"]


def order(lesson: Lesson) -> list[str]:
    angles = [1 / 10000 ** (even / 8) for even in range(0, 8, 2)]  # of position 1
    wave = [f"{number:.4f}" for angle in angles for number in (sin(angle), cos(angle))]
    alike = [
        two(fmean(cos(apart / 10000 ** (even / 64)) for even in range(0, 64, 2)))
        for apart in (0, 1, 2, 4, 8, 16)
    ]
    return ["12", "13", "14", "15", "16", "24", "64", *wave, *alike]


def masks(lesson: Lesson) -> list[str]:
    """A head by hand that copies the next token, and what a causal mask leaves of it."""
    asked = by_hand(figure(lesson, 2).link)
    copied = []
    for mask in (None, "causal"):
        probabilities = compute(replace(asked, mask=mask))["probabilities"]
        copied += [two(one) for one in np.diagonal(probabilities, offset=1)]
    assert copied == ["0.99"] * 3 + ["0.00", "0.02", "0.04"]
    return ["10", "12", *copied]


def text_to_vectors(lesson: Lesson) -> list[str]:
    return [f"{np.sqrt(256):.0f}", "37,000"]  # the last: the paper's vocabulary


def far_words(lesson: Lesson) -> list[str]:
    n, d, kernel, window = 50, 512, 3, 8
    costs = (n * n * d, n * d * d, kernel * n * d * d, window * n * d)
    assert ceil(log(n, kernel)) == 4
    assert ceil(n / window) == 7
    assert costs[0] / costs[1] == pytest.approx(0.1, abs=0.005)  # a tenth
    return [*(f"{cost:,}" for cost in costs), *(str(one) for one in (n, d, n - 1))]


def encoder_decoder(lesson: Lesson) -> list[str]:
    return []


def block(lesson: Lesson) -> list[str]:
    return [two(float(np.std([1, 2, 3]))), "10", "15"]  # factors, and what a unit is set to


def words(lesson: Lesson) -> list[str]:
    return [two(-log(0.5)), "0.5", "0.25", "0.6", "0.2"]  # the second last: its length penalty


def decoder_costs(tokens: int, pairs: int, layers: int = 3, d: int = 256) -> int:
    """Return the multiplications of a decoder's layers without cross-attention."""
    return layers * (4 * d * d * tokens + 2 * d * 4 * d * tokens + 2 * d * pairs)


def speed_and_memory(lesson: Lesson) -> list[str]:
    layers, d, heads, n, even = 3, 256, 8, 13, 6 * 256
    assert decoder_costs(1, even) == 2 * decoder_costs(1, 0)
    so_far = [sum(range(read + 1)) for read in range(n + 1)]  # pairs, without those that are masked
    kept = {tokens: 2 * layers * d * 4 * tokens for tokens in (n, 100, even, 10000)}
    drawn = {tokens: layers * heads * tokens**2 * 4 for tokens in (100, even, 10000)}
    large = 2 * 32 * 4096 * 2  # bytes for a token
    assert large * 100_000 > 2 * 32 * 12 * 4096**2  # more than the layers' weights
    return [
        *(f"{decoder_costs(1, n):,}", f"{decoder_costs(n, so_far[n]):,}"),
        f"{decoder_costs(sum(range(n + 1)), sum(so_far)):,}",
        *(str(n), "100", f"{even:,}", "10,000"),
        *(f"{kept[n] / 1e3:.1f} kB", f"{kept[100] / 1e3:.0f} kB", f"{kept[even] / 1e6:.2f} MB"),
        *(f"{kept[10000] / 1e6:.1f} MB", f"{drawn[100] / 1e3:.0f} kB"),
        *(f"{drawn[even] / 1e6:.0f} MB", f"{drawn[10000] / 1e9:.1f} GB"),
        *(str(layers * heads), "32", "4,096", f"{large:,}", f"{large * 100_000 / 1e9:.0f} GB"),
        "100,000",
        "1,000",
    ]


def training(lesson: Lesson) -> list[str]:
    d, warm_up = 512, 4000
    peak = d**-0.5 * warm_up**-0.5
    rates = {t: d**-0.5 * min(t**-0.5, t * warm_up**-1.5) for t in (1000, warm_up, 16000)}
    attention = [1 / (1 + np.exp(-w)) for w in (0, 0.5)]
    learned = [two(one) for a in attention for one in (a, -log(a))]
    slopes = [f"{a - 1:.2f}".replace("-", "\N{MINUS SIGN}") for a in attention]
    return [
        *("0.00", "0.50", *learned, *slopes, "0.5", "\N{MINUS SIGN}0.5"),
        "10",  # a learning rate
        str(d),
        f"{warm_up:,}",
        f"{peak:.4f}",
        *(f"{step:,}" for step in rates),
        *(f"{rate:.6f}" for rate in rates.values()),
        str(warm_up // 100),
        f"{(1 / 100) ** -0.5:.0f}",  # the peak of a hundredth of the warm-up
        "12",
        "0.1",
        "0.7",  # a share of examples, as in tests/lessons/facts.py
    ]


def explanation(lesson: Lesson) -> list[str]:
    return []


STATED: Mapping[str, Stated] = {
    "text-to-vectors": text_to_vectors,
    "far-words": far_words,
    "encoder-decoder": encoder_decoder,
    "block": block,
    "words": words,
    "speed-and-memory": speed_and_memory,
    "training": training,
    "explanation": explanation,
    "what-a-head-does": what_a_head_does,
    "scores": scores,
    "many-heads": many_heads,
    "order": order,
    "masks": masks,
    "query-key-value": query_key_value,
    "ten-minutes": ten_minutes,
}


@pytest.mark.parametrize("lesson", ALL_LESSONS, ids=lambda lesson: lesson.slug)
def test_what_a_lesson_states_is_so(lesson: Lesson) -> None:
    stated = STATED[lesson.slug](lesson)
    for lang in LANGS:
        text = prose(lesson, lang)
        assert [one for one in stated if one not in text] == []


@pytest.mark.parametrize(("lesson", "lang"), PAGES, ids=NAMES)
def test_no_number_is_stated_that_is_not_computed(lesson: Lesson, lang: str) -> None:
    known = set().union(*(numbers(one) for one in STATED[lesson.slug](lesson)))
    assert numbers(prose(lesson, lang)) - known == set()


def test_what_lessons_quote_from_models_is_what_they_compute(models: Models) -> None:
    assert NUMBERS.read_text(encoding="utf-8") == computed(models), "run make lessons"


def test_every_question_has_the_answer_that_its_lesson_expects(models: Models) -> None:
    assert surprises(models) == []


@pytest.mark.parametrize("lesson", ALL_LESSONS, ids=lambda lesson: lesson.slug)
def test_both_languages_quote_all_of_a_lesson(lesson: Lesson) -> None:
    quoted = [set(PLACE.findall(lesson.written(lang)[1])) for lang in LANGS]
    assert quoted[0] == quoted[1]


def test_a_place_without_a_value_is_refused() -> None:
    assert fill(r"{{a_1}} % of $\frac{1}{2}$", {"a_1": "7"}) == r"7 % of $\frac{1}{2}$"
    with pytest.raises(ValueError, match="unheard"):
        fill("{{unheard}}", {"a": "1"})


def test_every_value_is_quoted() -> None:
    for lesson in ALL_LESSONS:
        places = set(PLACE.findall(lesson.written("en")[1]))
        others = {place for place in places if place.startswith("lesson-")}
        assert set(quotes().get(lesson.slug, {})) == places - others, lesson.slug
