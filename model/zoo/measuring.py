"""Measures a model of the zoo: right answers by length, and what its heads attend to."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import torch
from torch import Tensor

from model.adapters.encoder_decoder.adapter import load
from model.adapters.requests.adapter import Adapter
from model.adapters.requests.request import Decode, Request
from model.adapters.requests.trace import Trace
from model.bundle.weights import TRAINING
from model.train.metrics import translate
from model.zoo.carrying import patched, without_looks
from model.zoo.recipes import Recipe
from model.zoo.registry import DIRECTION
from model.zoo.tasks import Example, Places, Task

BATCH = 50
COUNT = 200  # examples of each length
CHANGED = 100  # examples that are run again with attention cut or patched
LOOKS = ("encoder.*.self.weights", "decoder.*.cross.weights")
CROSS = "cross.weights"
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
    found: dict[str, Any] = {
        "seed": seed,
        "digest": adapter.info.digest,
        "parameters": adapter.info.parameters,
        "steps": progress["step"],
        "curve": [[one["step"], one["train"], one["dev"]] for one in progress["history"]],
        "accuracy": {str(length): accuracy(adapter, tests[length]) for length in recipe.tested},
        "looks": shares(looks(adapter, tests[longest])),
    }
    if task.twins:
        pairs = twins_of(task, count)
        found["twins"] = shares(twin_looks(adapter, pairs))
        if other := task.instead:
            found["instead"] = shares(looks(adapter, list(map(other, tests[longest]))))
            moved = [(other(first), other(second)) for first, second in pairs]
            found["instead twins"] = shares(twin_looks(adapter, moved))
        found["cut"] = without_looks(adapter, tests[longest][:CHANGED])
        found["patched"] = patched(adapter, pairs[: CHANGED // 2])
    return found


def held_out_examples(recipe: Recipe, length: int, count: int) -> list[Example]:
    """Draw held-out examples of a length, always the same ones."""
    random = Random(f"test {recipe.task_name} {length}")
    return [recipe.task.draw(random, length, held_out=True) for _ in range(count)]


def twins_of(task: Task, count: int) -> list[tuple[Example, Example]]:
    """Draw held-out twins, always the same ones. Raises `ValueError` if the task has none."""
    if not task.twins:
        raise ValueError("this task has no twins")
    random, found = Random("twins"), list[tuple[Example, Example]]()
    while len(found) < count:
        pair = task.twins(random)
        if all(map(task.held_out, pair)):
            found.append(pair)
    return found


def accuracy(adapter: Adapter, examples: Sequence[Example]) -> float:
    """Return the share of examples that greedy decoding answers entirely right."""
    texts = [one.source_text for one in examples]
    written = translate(adapter, texts, DIRECTION, Decode(), BATCH)
    hits = sum(a == one.target_text for a, one in zip(written, examples, strict=True))
    return hits / len(examples)


def looks(adapter: Adapter, examples: Sequence[Example]) -> Iterator[Hits]:
    """Yield, for each row whose right keys are known, which heads attend most to one of them.

    The right answer is given (teacher forcing).
    """
    for example, trace in traced(adapter, examples):
        for place, wanted in enumerate(example.cross):
            yield hits(trace, place, wanted, lambda name: name.endswith(CROSS))
        for place, wanted in example.within.items():
            yield hits(trace, place + TAG, wanted, lambda name: not name.endswith(CROSS))


def twin_looks(adapter: Adapter, pairs: Sequence[tuple[Example, Example]]) -> Iterator[Hits]:
    """Yield, for each row of each pair, which heads attend right in both sentences."""
    found = [list(looks(adapter, side)) for side in zip(*pairs, strict=True)]
    for first, second in zip(*found, strict=True):
        yield {name: first[name] * second[name] for name in first}


def traced(adapter: Adapter, examples: Sequence[Example]) -> Iterator[tuple[Example, Trace]]:
    """Yield each example with its trace, in which the right answer is given."""
    asked = [Request(e.source_text, DIRECTION, e.target_text, select=LOOKS) for e in examples]
    for begin in range(0, len(asked), BATCH):
        part = slice(begin, begin + BATCH)
        yield from zip(examples[part], adapter.run(asked[part]), strict=True)


def hits(trace: Trace, row: int, wanted: Places, of: Callable[[str], bool]) -> Hits:
    """Return, for each head, whether the largest weight of this row is on a wanted key."""
    keys = torch.tensor([place + TAG for place in wanted])
    return {
        name.removesuffix(".weights"): torch.isin(tensor.value[:, row].argmax(-1), keys).float()
        for name, tensor in trace.tensors.items()
        if of(name)
    }


def shares(found: Iterable[Hits]) -> Shares:
    """Average over rows: by attention, one share per head."""
    rows: dict[str, list[Tensor]] = {}
    for one in found:
        for name, value in one.items():
            rows.setdefault(name, []).append(value)
    return {name: _rounded(torch.stack(values).mean(0)) for name, values in rows.items()}


def _rounded(values: Tensor) -> list[float]:
    return [round(value, 4) for value in values.tolist()]


def merged(
    old: Mapping[str, Any] | None, recipe: Recipe, new: list[dict[str, Any]]
) -> dict[str, Any]:
    """Return a recipe's results: the seeds measured now, and earlier results of other seeds."""
    seeds = {one["seed"]: one for one in [*(old or {}).get("seeds", []), *new]}
    return {
        "name": recipe.name,
        "task": recipe.task_name,
        "changed": dict(recipe.changed),
        "trained": list(recipe.trained),
        "unit": recipe.task.unit,
        "seeds": [seeds[seed] for seed in sorted(seeds)],
    }
