"""Measures the quality of a bundle's translations: the figures in its model card."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from model.adapters.encoder_decoder.adapter import load
from model.adapters.requests.adapter import Adapter
from model.adapters.requests.request import Decode, Method, ask
from model.bundle.weights import digest_of
from model.measure.gate import counts, measure_gate
from model.train.augment import KINDS, Kind
from model.train.metrics import TestSet, read_test_sets, score, translate
from model.train.pairs import Languages, TrainingExample, both_ways, read_pairs
from model.train.workers import spread

FIGURES = "figures.json"
SEARCHES: tuple[Method, ...] = ("greedy", "beam")
SENTENCES = "sentences.txt"  # one per line; not in any of the training corpora


def write_figures(bundle: Path, new: dict[str, Any]) -> None:
    """Write `figures.json`; other figures are kept if they are of the same weights."""
    path = bundle / FIGURES
    old = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    if old.get("digest") == new["digest"]:
        kept = ("scores", "typed", "gate")
        new |= {key: old[key] for key in kept if key in old and not new[key]}
    path.write_text(json.dumps(new, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def measure(
    bundle: Path,
    tests: Mapping[str, Path],
    typed: Path | None,
    device: str,
    languages: Languages,
    ways: int,
    jobs: int,
    gate: Path | None = None,
) -> dict[str, Any]:
    """Return BLEU and chrF of every test set, direction and method, and sample translations.

    `languages` are those of the columns; with `ways` = 1, only the direction from the first to the
    second is measured. With a `gate`, also returns how many of its sentences are correct.
    """
    # One thread per process: a single sentence is too little work to share.
    tasks: list[tuple[Any, ...]] = [
        (_scored, bundle, device, name, test, method)
        for name, path in tests.items()
        for test in read_test_sets(path, languages)[:ways]
        for method in SEARCHES
    ]
    tasks += [(as_typed, bundle, device, typed)] if typed else []
    found = list(spread(_called, tasks, jobs))
    return {
        "digest": digest_of(bundle),
        "scores": found[:-1] if typed else found,
        "typed": found[-1] if typed else [],
        "gate": counts(measure_gate(bundle, gate, device)) if gate else [],
        "sentences": sentences(bundle, load(bundle.resolve(), device, measured=False)),
    }


def _called(work: Callable[..., Any], *rest: Any) -> Any:
    return work(*rest)


def as_typed(bundle: Path, device: str, path: Path, count: int = 200) -> list[dict[str, Any]]:
    """Return BLEU of sentences before and after each of `augment.KINDS`, `count` per direction.

    Only sentences to which a kind applies are used; greedy, one reference each.
    """
    adapter = load(bundle.resolve(), device, measured=False)
    first, second = adapter.info.languages
    examples = both_ways(read_pairs(path), (first, second))
    rows = []
    for direction in (f"{first}-{second}", f"{second}-{first}"):
        mine = [e for e in examples if direction.endswith(f"-{e.language}")]
        pairs = {kind.__name__: _made(kind, mine)[:count] for kind in KINDS}
        sources = sorted({e.source for made in pairs.values() for pair in made for e in pair})
        written = dict(zip(sources, translate(adapter, sources, direction, Decode()), strict=True))
        for kind, made in pairs.items():
            plain, typed = (
                _bleu(direction, [pair[side] for pair in made], written) for side in (0, 1)
            )
            rows.append(
                {
                    "kind": kind,
                    "direction": direction,
                    "sentences": len(made),
                    "plain": plain,
                    "typed": typed,
                }
            )
    return rows


def _made(
    kind: Kind, examples: Sequence[TrainingExample]
) -> list[tuple[TrainingExample, TrainingExample]]:
    """Yield examples with their variants of a `kind`, if it applies."""
    chance = random.Random(0)
    made = ((one, kind(one, partial(chance.choice, examples), chance)) for one in examples)
    return [(one, new) for one, new in made if new]


def _bleu(
    direction: str, examples: Sequence[TrainingExample], written: Mapping[str, str]
) -> float | None:
    if not examples:
        return None
    test = TestSet(
        direction, tuple(e.source for e in examples), tuple((e.target,) for e in examples)
    )
    return float(score(test, [written[source] for source in test.sources])["bleu"])


def _scored(
    bundle: Path, device: str, name: str, test: TestSet, method: Method
) -> Mapping[str, float | str]:
    adapter = load(bundle.resolve(), device, measured=False)
    hypotheses = translate(adapter, test.sources, test.direction, Decode(method))
    row = {"set": name, "direction": test.direction, "method": method, **score(test, hypotheses)}
    print(row, file=sys.stderr, flush=True)
    return row


def sentences(bundle: Path, adapter: Adapter) -> list[dict[str, str]]:
    """Return translations of the bundle's sentences: greedy, as on the page, and by beam."""
    path = bundle / SENTENCES
    texts = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    made = [{"source": text} for text in texts]
    for method in SEARCHES if made else ():
        traces = adapter.run([ask(text, decode=method, select=()) for text in texts])
        for row, trace in zip(made, traces, strict=True):
            row |= {"direction": str(trace.direction), method: trace.output.text}
    return made
