"""Every number that a lesson states is computed here."""

import json
from collections.abc import Callable, Mapping, Sequence
from math import ceil, exp, log
from statistics import fmean

import numpy as np
import pytest

from app.lessons.blocks import FigureBlock
from app.lessons.library import Lesson, lessons
from app.lessons.links import by_hand
from app.lessons.markdown import Figure
from app.settings import ZOO
from model import Decode, Intervention
from model.bundle.measurements import ZOO as RESULTS
from model.bundle.weights import CHECKPOINTS, CONFIG
from model.lab.compute import compute
from model.lab.request import Steps
from model.lab.scaling import WIDTHS, scaling
from tests.lessons.conftest import Models
from tests.lessons.reading import LANGS, NAMES, PAGES, numbers, prose

Facts = Callable[[Lesson, Models], Sequence[str]]


def two(value: float) -> str:
    return f"{value:.2f}"


def right(name: str, length: int) -> int:
    """Return the percentage of right answers of a model of the zoo, mean over its seeds."""
    found = json.loads((ZOO / name / RESULTS).read_text(encoding="utf-8"))
    return round(100 * fmean([seed["accuracy"][str(length)] for seed in found["seeds"]]))


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


def what_a_head_does(lesson: Lesson, models: Models) -> list[str]:
    return ["12"]  # the number of a lesson


def scores(lesson: Lesson, models: Models) -> list[str]:
    assert lab(lesson, 1)["k"].shape[-1] == 4
    rows = [
        two(getattr(scaling(6, 0)[way], column)[WIDTHS.index(d_k)])
        for d_k in (64, 512)
        for way in ("dot", "scaled")
        for column in ("spread", "largest", "gradient")
    ]
    return [
        "10",
        "64",
        "512",
        *(f"{np.sqrt(d_k):.0f}" for d_k in (64, 512)),
        *rows,
        *(f"{right(name, 12)} %" for name in ("sort", "sort-unscaled", "sort-additive")),
        "12",
    ]


def many_heads(lesson: Lesson, models: Models) -> list[str]:
    info = models(None).info
    d_model, heads = info.d_model, info.heads["encoder"]
    animal = "The animal did not cross the street because it was too tired."
    whole = models(None).trace(animal)
    assert whole.output.text == "动物没有过马路，因为它太累了。"
    assert heads == 8
    reads = [token.text.strip() for token in whole.texts["source"]]
    at = [token.text for token in whole.output.tokens].index("太")
    for layer, head, word in ((0, 6, "it"), (1, 0, "too"), (2, 0, "too")):
        row = whole.tensors[f"decoder.{layer}.cross.weights"].value[head, at]
        assert reads[int(row.argmax())] == word
    sorting = ("sort-1-head", "sort-2-heads", "sort", "sort-8-heads")
    return [
        str(d_model),
        str(d_model // heads),
        whole.output.text,
        "12",
        *(f"{right(name, 12)} %" for name in sorting),
    ]


def order(lesson: Lesson, models: Models) -> list[str]:
    kinds = ("reverse", "reverse-learned", "reverse-relative", "reverse-rotary", "reverse-none")
    return ["12", *("13", "14"), *(str(right(kind, n)) for kind in kinds for n in (2, 12, 13, 14))]


def masks(lesson: Lesson, models: Models) -> list[str]:
    return ["10", "12", *(f"{right(name, 12)} %" for name in ("induction", "induction-window"))]


def far_words(lesson: Lesson, models: Models) -> list[str]:
    n, d, kernel, window = 50, 512, 3, 8
    costs = (n * n * d, n * d * d, kernel * n * d * d, window * n * d)
    assert ceil(log(n, kernel)) == 4
    assert ceil(n / window) == 7
    return [
        *(f"{cost:,}" for cost in costs),
        *(str(one) for one in (n, d, n - 1)),
        f"{right('sort-window', 12)} %",
        *(f"{right(name, 12)} %" for name in ("induction", "induction-window")),
    ]


def encoder_decoder(lesson: Lesson, models: Models) -> list[str]:
    return []


def block(lesson: Lesson, models: Models) -> list[str]:
    config = json.loads((CHECKPOINTS / "en-zh" / CONFIG).read_text(encoding="utf-8"))["config"]
    d, hidden = config["d_model"], config["d_ff"]
    return [
        two(float(np.std([1, 2, 3]))),
        "10",
        str(d),
        str(hidden),
        f"{2 * d * hidden:,}",
        f"{4 * d * d:,}",
    ]


def words(lesson: Lesson, models: Models) -> list[str]:
    model = models(None)
    chances = ["decoder.probabilities", "decoder.candidates"]

    def candidates(source: str, at: int) -> dict[str, float]:
        trace = model.trace(source, select=chances)
        values, ids = (trace.tensors[name].value[at] for name in chances)
        names = [trace.pieces[int(one)].text for one in ids]
        return dict(zip(names, (float(one) for one in values), strict=True))

    sister = candidates("I like cats but my sister likes dogs.", 7)["妹"]
    bus = "He goes to school by bus every day."
    step = candidates(bus, 3)
    greedy, beam = (
        model.trace(bus, decode=decode).output for decode in (Decode(), Decode("beam", beam=4))
    )
    return [
        two(sister),
        two(-log(sister)),
        two(step["都"]),
        two(step["坐"]),
        greedy.text,
        f"{exp(sum(greedy.logprobs)):.3f}",
        beam.text,
        f"{exp(sum(beam.logprobs)):.3f}",
        "0.6",  # the paper's length penalty
    ]


def training(lesson: Lesson, models: Models) -> list[str]:
    d, warm_up = 512, 4000
    peak = d**-0.5 * warm_up**-0.5
    chances = ["decoder.probabilities"]
    plain, smoothed = (
        models(name).trace("d a c b", select=chances).tensors[chances[0]].value[0][0]
        for name in ("zoo-sort", "zoo-sort-smoothed")
    )
    names = ("sort", "sort-no-warm-up", "sort-pre-norm-no-warm-up", "sort-smoothed")
    return [
        str(d),
        f"{warm_up:,}",
        f"{peak:.4f}",
        "12",
        *(f"{right(name, 12)} %" for name in names),
        two(float(plain)),
        f"{float(smoothed):.1f}",
        "0.1",
    ]


def explanation(lesson: Lesson, models: Models) -> list[str]:
    file = ZOO / "who-3-layers" / RESULTS
    seed = json.loads(file.read_text(encoding="utf-8"))["seeds"][0]
    looks = max(max(heads) for place, heads in seed["looks"].items() if "encoder" in place)
    cut = seed["cut"]
    shares = (looks, *(cut[name] for name in ("nothing", "it → nouns", "nouns ↔ property")))
    animal = "The animal did not cross the street because it was too tired."
    model = models(None)
    whole, taught, place = (
        model.trace(animal, interventions=changes).output.text
        for changes in ((), (off(2, 0),), (off(0, 6),))
    )
    assert taught == whole
    assert place != whole
    return [f"{100 * share:.0f} %" for share in shares]


def off(layer: int, head: int) -> Intervention:
    return Intervention(at=f"decoder.{layer}.cross", head=head, do="zero")


FACTS: Mapping[str, Facts] = {
    "far-words": far_words,
    "encoder-decoder": encoder_decoder,
    "block": block,
    "words": words,
    "training": training,
    "explanation": explanation,
    "what-a-head-does": what_a_head_does,
    "scores": scores,
    "many-heads": many_heads,
    "order": order,
    "masks": masks,
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
