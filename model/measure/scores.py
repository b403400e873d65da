"""Measures a bundle and writes what was measured into its model card.

    python -m model.measure.scores --test Tatoeba=tatoeba/test.tsv --typed tatoeba/dev.tsv

What is not asked for stays as it is in `figures.json`, if that is of the same weights; without
either nothing is measured anew, and the card is written again. The figures carry the digest of the
weights that they were measured on.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch

from model.adapters.native import load
from model.adapters.request import Adapter, Decode, Method
from model.bundle.card import TEMPLATE, write_card
from model.bundle.weights import CHECKPOINTS, digest_of
from model.text.tokens import direction_of
from model.train.augment import KINDS, Kind
from model.train.metrics import TestSet, read_test_sets, score, translate
from model.train.pairs import Example, both_ways, read_pairs

FIGURES = "figures.json"
SEARCHES: tuple[Method, ...] = ("greedy", "beam")
SENTENCES = "sentences.txt"  # one a line, of our own, in no corpus that was trained on


def main(arguments: Sequence[str] | None = None) -> None:
    """Measures what is asked for, then writes the card."""
    parser = argparse.ArgumentParser(
        prog="python -m model.measure.scores",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("bundle", type=Path, nargs="?", default=CHECKPOINTS / "en-zh")
    parser.add_argument("--test", action="append", default=[], metavar="NAME=TSV")
    parser.add_argument("--languages", nargs=2, default=["en", "zh"], metavar=("A", "B"))
    parser.add_argument("--one-way", action="store_true", help="from the first language only")
    parser.add_argument("--typed", type=Path, metavar="TSV", help="to be typed as people do")
    parser.add_argument("--device", default="auto")
    asked = parser.parse_args(arguments)
    if asked.test or asked.typed:
        tests = dict(test.split("=", 1) for test in asked.test)
        paths = {name: Path(path) for name, path in tests.items()}
        first, second = asked.languages
        ways = 1 if asked.one_way else 2
        new = measure(asked.bundle, paths, asked.typed, asked.device, (first, second), ways)
        path = asked.bundle / FIGURES
        old = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        if old.get("digest") == new["digest"]:
            new |= {key: old[key] for key in ("scores", "typed") if not new[key]}
        text = json.dumps(new, indent=1, ensure_ascii=False) + "\n"
        path.write_text(text, encoding="utf-8")
    if (asked.bundle / TEMPLATE).is_file():
        write_card(asked.bundle)


def measure(
    bundle: Path,
    tests: dict[str, Path],
    typed: Path | None,
    device: str,
    languages: tuple[str, str],
    ways: int,
) -> dict[str, Any]:
    """BLEU and chrF of every test set, direction and method, and the sentences of our own.

    The columns of the test sets are in `languages`; one way is from the first to the second.
    """
    torch.set_num_threads(1)
    jobs = [
        (bundle, device, name, test, method)
        for name, path in tests.items()
        for test in read_test_sets(path, languages)[:ways]
        for method in SEARCHES
    ]
    # A process each: one sentence at a time is too little work to share between threads.
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        typing = pool.submit(as_typed, bundle, device, typed) if typed else None
        scores = list(pool.map(_scored, *zip(*jobs, strict=True)))
        rows = typing.result() if typing else []
    return {
        "digest": digest_of(bundle),
        "scores": scores,
        "typed": rows,
        "sentences": sentences(bundle, load(bundle.resolve(), device, measured=False)),
    }


def as_typed(bundle: Path, device: str, path: Path, count: int = 200) -> list[dict[str, Any]]:
    """BLEU of sentences before and after each of `augment.KINDS`, at most `count` a direction.

    The rows of a kind are those that lend themselves to it; greedy, one reference each.
    """
    torch.set_num_threads(1)
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


def _made(kind: Kind, examples: Sequence[Example]) -> list[tuple[Example, Example]]:
    """Examples and what `kind` makes of them, where it makes something."""
    chance = random.Random(0)
    made = ((one, kind(one, partial(chance.choice, examples), chance)) for one in examples)
    return [(one, new) for one, new in made if new]


def _bleu(direction: str, examples: Sequence[Example], written: Mapping[str, str]) -> float | None:
    if not examples:
        return None
    test = TestSet(
        direction, tuple(e.source for e in examples), tuple((e.target,) for e in examples)
    )
    return float(score(test, [written[source] for source in test.sources])["bleu"])


def _scored(
    bundle: Path, device: str, name: str, test: TestSet, method: Method
) -> Mapping[str, float | str]:
    torch.set_num_threads(1)
    adapter = load(bundle.resolve(), device, measured=False)
    hypotheses = translate(adapter, test.sources, test.direction, Decode(method))
    row = {"set": name, "direction": test.direction, "method": method, **score(test, hypotheses)}
    print(row, file=sys.stderr, flush=True)
    return row


def sentences(bundle: Path, adapter: Adapter) -> list[dict[str, str]]:
    """What the model makes of the sentences beside it: greedily, as on the page, and by beam."""
    path = bundle / SENTENCES
    texts = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    made = []
    for text in texts:
        direction = direction_of(text)
        row = {"direction": direction, "source": text}
        for method in SEARCHES:
            [row[method]] = translate(adapter, [text], direction, Decode(method))
        made.append(row)
    return made


if __name__ == "__main__":
    main()
