"""Which attention carries the answer to *who is it?*: cut edges, patch heads, count right answers.

An edge is a pair of a query and a key. Cutting an edge masks it in all heads of all encoder layers;
if the answers stay right, the edge did not carry them. A random guess between two nouns is right
half of the time. Patching gives a head the attention weights that it has in the sentence's twin,
which differs only in the property; if the answer becomes the twin's, that head decides it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

from model.adapters.requests.adapter import Adapter
from model.adapters.requests.request import Decode, Request
from model.trace.attentions import CROSS
from model.trace.interventions import Intervention
from model.trace.tensor_tap import SOURCE
from model.zoo.registry import DIRECTION
from model.zoo.tasks import Example
from model.zoo.who_is_it import nouns_of

BATCH = 50
TAG = 1  # control tokens before the source
ANSWER = "answer"  # the decoder's first row, which predicts the answer
# The edges of each cut, as (query, key).
CUTS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "nothing": (),
    "it → nouns": (("it", "nouns"),),
    "it → property": (("it", "property"),),
    "nouns → property": (("nouns", "property"),),
    "property → nouns": (("property", "nouns"),),
    "nouns ↔ property": (("nouns", "property"), ("property", "nouns")),
    "answer → nouns": ((ANSWER, "nouns"),),
    "answer → it": ((ANSWER, "it"),),
    "answer → property": ((ANSWER, "property"),),
}

Twins = Sequence[tuple[Example, Example]]


def places_of(example: Example) -> Mapping[str, Sequence[int]]:
    """Return the positions of *it*, the nouns and the property among the source tokens."""
    words = [token.strip() for token in example.source]
    found = {
        "it": [words.index("it")],
        "nouns": [words.index(noun) for noun in nouns_of(example)],
        "property": [len(words) - 2],
    }
    return {name: [place + TAG for place in places] for name, places in found.items()}


def cuts(adapter: Adapter, example: Example, looks: str, at: str) -> tuple[Intervention, ...]:
    """Return the interventions that mask `at` for the queries `looks`, in all heads and layers."""
    places = places_of(example)
    rows = [0] if looks == ANSWER else places[looks]
    return tuple(
        Intervention(attention.place, "cut", value=(row, key))
        for attention in adapter.info.attentions
        if attention.key == SOURCE and (attention.kind == CROSS) == (looks == ANSWER)
        for row, key in product(rows, places[at])
    )


def without_looks(adapter: Adapter, examples: Sequence[Example]) -> dict[str, float]:
    """Return the share of right answers after each cut of `CUTS`."""
    return {
        name: _right(
            adapter,
            [
                (one, tuple(cut for edge in edges for cut in cuts(adapter, one, *edge)))
                for one in examples
            ],
        )
        for name, edges in CUTS.items()
    }


def patched(adapter: Adapter, twins: Twins) -> dict[str, list[float]]:
    """Return, by attention, how often the twin's attention weights change the answer to the twin's.

    The first share is for all heads together, the others for one head each. Only pairs of which
    the model answers both sentences right are counted.
    """
    pairs = [*twins, *((second, first) for first, second in twins)]
    right = [_answers(adapter, [(one, ()) for one in side]) for side in zip(*pairs, strict=True)]
    known = [
        pair
        for pair, *answers in zip(pairs, *right, strict=True)
        if answers == [one.target_text for one in pair]
    ]
    found: dict[str, list[float]] = {}
    for attention in adapter.info.attentions:
        if attention.key == SOURCE:
            heads = (None, *range(attention.heads))
            found[attention.place] = [_turned(adapter, known, attention.place, h) for h in heads]
    return found


def _turned(
    adapter: Adapter, pairs: Sequence[tuple[Example, Example]], place: str, head: int | None
) -> float:
    asked = [
        (one, (Intervention(place, "freeze", head, Request(twin.source_text, DIRECTION)),))
        for one, twin in pairs
    ]
    answers = _answers(adapter, asked)
    hits = sum(a == twin.target_text for a, (_, twin) in zip(answers, pairs, strict=True))
    return round(hits / max(1, len(pairs)), 4)


Changed = tuple[Example, tuple[Intervention, ...]]


def _right(adapter: Adapter, asked: Sequence[Changed]) -> float:
    answers = _answers(adapter, asked)
    hits = sum(a == one.target_text for a, (one, _) in zip(answers, asked, strict=True))
    return round(hits / len(asked), 4)


def _answers(adapter: Adapter, asked: Sequence[Changed]) -> list[str]:
    return [*_written(adapter, asked)]


def _written(adapter: Adapter, asked: Sequence[Changed]) -> Iterator[str]:
    plain = Request("", DIRECTION, decode=Decode(max_tokens=4), select=())
    for begin in range(0, len(asked), BATCH):
        requests = [
            replace(plain, source=one.source_text, interventions=made)
            for one, made in asked[begin : begin + BATCH]
        ]
        for trace in adapter.run(requests):
            assert trace.written is not None
            yield trace.written.text
