"""Measures a model of the zoo: right answers by length, and what its heads attend to.

Which attention carries the answer to *who is it?* is found by cutting edges and patching heads. An
edge is a pair of a query and a key. Cutting an edge masks it in all heads of all encoder layers;
if the answers stay right, the edge did not carry them. A random guess between two nouns is right
half of the time. Patching gives a head the attention weights that it has in the sentence's twin,
which differs only in the property; if the answer becomes the twin's, that head decides it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import torch
from torch import Tensor

from model.adapters.encoder_decoder.encoder_decoder_adapter import load
from model.adapters.requests.adapter_interface import Adapter
from model.adapters.requests.request import Decode, Request
from model.adapters.requests.trace import Trace
from model.bundle.weights import TRAINING
from model.trace.attentions import CROSS
from model.trace.interventions import Intervention
from model.trace.tensor_tap import SOURCE
from model.train.metrics import translate
from model.zoo.registry import DIRECTION
from model.zoo.tasks import Example, Places, Task
from model.zoo.training import Recipe
from model.zoo.who_is_it import nouns_of

BATCH = 50
COUNT = 200  # examples of each length
CHANGED = 100  # examples that are run again with attention cut or patched
LOOKS = ("encoder.*.self.weights", "decoder.*.cross.weights")
CROSS_WEIGHTS = "cross.weights"
TAG = 1  # control tokens before the source

Hits = dict[str, Tensor]  # by attention, "encoder.0.self": (heads,), 1 if the head attends right
Shares = dict[str, list[float]]


def measure_seed(recipe: Recipe, seed: int, bundle: Path, count: int = COUNT) -> dict[str, Any]:
    """Measure one model: right answers by length, right attention of its heads, learning curve.

    Heads are measured at the longest training length. All examples are held out, and the same for
    every model of a task.
    """
    adapter = load(bundle.resolve(), "cpu", measured=False)
    progress = json.loads((bundle / TRAINING).read_text(encoding="utf-8"))
    task, longest = recipe.task, recipe.trained[1]
    tests = {
        length: held_out_examples(recipe, length, count) for length in {*recipe.tested, longest}
    }
    results: dict[str, Any] = {
        "seed": seed,
        "digest": adapter.info.digest,
        "parameters": adapter.info.parameters,
        "steps": progress["step"],
        "curve": [[point["step"], point["train"], point["dev"]] for point in progress["history"]],
        "accuracy": {str(length): accuracy(adapter, tests[length]) for length in recipe.tested},
        "looks": shares(looks(adapter, tests[longest])),
    }
    if task.twins:
        pairs = twins_of(task, count)
        results["twins"] = shares(twin_looks(adapter, pairs))
        if moved_to := task.instead:
            results["instead"] = shares(looks(adapter, list(map(moved_to, tests[longest]))))
            moved = [(moved_to(first), moved_to(second)) for first, second in pairs]
            results["instead twins"] = shares(twin_looks(adapter, moved))
        results["cut"] = without_looks(adapter, tests[longest][:CHANGED])
        results["patched"] = patched(adapter, pairs[: CHANGED // 2])
    return results


def held_out_examples(recipe: Recipe, length: int, count: int) -> list[Example]:
    """Draw held-out examples of a length, always the same ones."""
    random = Random(f"test {recipe.task_name} {length}")
    return [recipe.task.draw(random, length, held_out=True) for _ in range(count)]


def twins_of(task: Task, count: int) -> list[tuple[Example, Example]]:
    """Draw held-out twins, always the same ones. Raises `ValueError` if the task has none."""
    if not task.twins:
        raise ValueError("this task has no twins")
    random, pairs = Random("twins"), list[tuple[Example, Example]]()
    while len(pairs) < count:
        pair = task.twins(random)
        if all(map(task.held_out, pair)):
            pairs.append(pair)
    return pairs


def accuracy(adapter: Adapter, examples: Sequence[Example]) -> float:
    """Return the share of examples that greedy decoding answers entirely right."""
    texts = [example.source_text for example in examples]
    written = translate(adapter, texts, DIRECTION, Decode(), BATCH)
    hits = sum(a == example.target_text for a, example in zip(written, examples, strict=True))
    return hits / len(examples)


def looks(adapter: Adapter, examples: Sequence[Example]) -> Iterator[Hits]:
    """Yield, for each row whose right keys are known, which heads attend most to one of them.

    The right answer is given (teacher forcing).
    """
    for example, trace in traced(adapter, examples):
        for place, right_keys in enumerate(example.cross):
            yield hits(trace, place, right_keys, lambda name: name.endswith(CROSS_WEIGHTS))
        for place, right_keys in example.within.items():
            yield hits(
                trace, place + TAG, right_keys, lambda name: not name.endswith(CROSS_WEIGHTS)
            )


def twin_looks(adapter: Adapter, pairs: Sequence[tuple[Example, Example]]) -> Iterator[Hits]:
    """Yield, for each row of each pair, which heads attend right in both sentences."""
    sides = [list(looks(adapter, side)) for side in zip(*pairs, strict=True)]
    for first, second in zip(*sides, strict=True):
        yield {name: first[name] * second[name] for name in first}


def traced(adapter: Adapter, examples: Sequence[Example]) -> Iterator[tuple[Example, Trace]]:
    """Yield each example with its trace, in which the right answer is given."""
    requests = [Request(e.source_text, DIRECTION, e.target_text, select=LOOKS) for e in examples]
    for begin in range(0, len(requests), BATCH):
        part = slice(begin, begin + BATCH)
        yield from zip(examples[part], adapter.run(requests[part]), strict=True)


def hits(trace: Trace, row: int, right_keys: Places, of: Callable[[str], bool]) -> Hits:
    """Return, for each head, whether the largest weight of this row is on a wanted key."""
    keys = torch.tensor([place + TAG for place in right_keys])
    return {
        name.removesuffix(".weights"): torch.isin(tensor.value[:, row].argmax(-1), keys).float()
        for name, tensor in trace.tensors.items()
        if of(name)
    }


def shares(hits_by_row: Iterable[Hits]) -> Shares:
    """Average over rows: by attention, one share per head."""
    rows: dict[str, list[Tensor]] = {}
    for row_hits in hits_by_row:
        for name, value in row_hits.items():
            rows.setdefault(name, []).append(value)
    return {name: _rounded(torch.stack(values).mean(0)) for name, values in rows.items()}


def _rounded(values: Tensor) -> list[float]:
    return [round(value, 4) for value in values.tolist()]


def merged(
    old: Mapping[str, Any] | None, recipe: Recipe, new: list[dict[str, Any]]
) -> dict[str, Any]:
    """Return a recipe's results: the seeds measured now, and earlier results of other seeds."""
    seeds = {seed["seed"]: seed for seed in [*(old or {}).get("seeds", []), *new]}
    return {
        "name": recipe.name,
        "task": recipe.task_name,
        "changed": dict(recipe.changed),
        "trained": list(recipe.trained),
        "unit": recipe.task.unit,
        "seeds": [seeds[seed] for seed in sorted(seeds)],
    }


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
    positions = {
        "it": [words.index("it")],
        "nouns": [words.index(noun) for noun in nouns_of(example)],
        "property": [len(words) - 2],
    }
    return {name: [place + TAG for place in places] for name, places in positions.items()}


def cuts(adapter: Adapter, example: Example, looks: str, keys: str) -> tuple[Intervention, ...]:
    """Return the interventions that mask `keys` for the queries `looks` in all heads."""
    places = places_of(example)
    rows = [0] if looks == ANSWER else places[looks]
    return tuple(
        Intervention(attention.place, "cut", value=(row, key))
        for attention in adapter.info.attentions
        if attention.key == SOURCE and (attention.kind == CROSS) == (looks == ANSWER)
        for row, key in product(rows, places[keys])
    )


def without_looks(adapter: Adapter, examples: Sequence[Example]) -> dict[str, float]:
    """Return the share of right answers after each cut of `CUTS`."""
    return {
        name: _right(
            adapter,
            [
                (example, tuple(cut for edge in edges for cut in cuts(adapter, example, *edge)))
                for example in examples
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
    right = [
        _answers(adapter, [(example, ()) for example in side]) for side in zip(*pairs, strict=True)
    ]
    answered = [
        pair
        for pair, *answers in zip(pairs, *right, strict=True)
        if answers == [example.target_text for example in pair]
    ]
    turned: dict[str, list[float]] = {}
    for attention in adapter.info.attentions:
        if attention.key == SOURCE:
            heads = (None, *range(attention.heads))
            turned[attention.place] = [
                _turned(adapter, answered, attention.place, h) for h in heads
            ]
    return turned


def _turned(
    adapter: Adapter, pairs: Sequence[tuple[Example, Example]], place: str, head: int | None
) -> float:
    frozen = [
        (example, (Intervention(place, "freeze", head, Request(twin.source_text, DIRECTION)),))
        for example, twin in pairs
    ]
    answers = _answers(adapter, frozen)
    hits = sum(a == twin.target_text for a, (_, twin) in zip(answers, pairs, strict=True))
    return round(hits / max(1, len(pairs)), 4)


Changed = tuple[Example, tuple[Intervention, ...]]


def _right(adapter: Adapter, changed: Sequence[Changed]) -> float:
    answers = _answers(adapter, changed)
    hits = sum(a == example.target_text for a, (example, _) in zip(answers, changed, strict=True))
    return round(hits / len(changed), 4)


def _answers(adapter: Adapter, changed: Sequence[Changed]) -> list[str]:
    return [*_written(adapter, changed)]


def _written(adapter: Adapter, changed: Sequence[Changed]) -> Iterator[str]:
    plain = Request("", DIRECTION, decode=Decode(max_tokens=4), select=())
    for begin in range(0, len(changed), BATCH):
        requests = [
            replace(plain, source=example.source_text, interventions=changes)
            for example, changes in changed[begin : begin + BATCH]
        ]
        for trace in adapter.run(requests):
            assert trace.written is not None
            yield trace.written.text
