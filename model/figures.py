"""Measures a bundle and writes what was measured into its model card.

    python -m model.figures --test Tatoeba=tatoeba/test.tsv

Without `--test` nothing is measured anew: the card is written again from `figures.json`. The
figures carry the digest of the weights that they were measured on.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch

from model.adapters import load
from model.card import write_card
from model.checkpoint import CHECKPOINTS, digest_of
from model.request import Adapter, Decode
from model.tokens import direction_of
from model.train.metrics import TestSet, read_test_sets, score, translate

FIGURES = "figures.json"
SEARCHES = ("greedy", "beam")
SENTENCES = "sentences.txt"  # one a line, of our own, in no corpus that was trained on


def main(arguments: Sequence[str] | None = None) -> None:
    """Measures what is asked for, then writes the card."""
    parser = argparse.ArgumentParser(
        prog="python -m model.figures",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("bundle", type=Path, nargs="?", default=CHECKPOINTS / "en-zh")
    parser.add_argument("--test", action="append", default=[], metavar="NAME=TSV")
    parser.add_argument("--device", default="auto")
    asked = parser.parse_args(arguments)
    if asked.test:
        tests = dict(test.split("=", 1) for test in asked.test)
        paths = {name: Path(path) for name, path in tests.items()}
        figures = measure(asked.bundle, paths, asked.device)
        text = json.dumps(figures, indent=1, ensure_ascii=False) + "\n"
        (asked.bundle / FIGURES).write_text(text, encoding="utf-8")
    write_card(asked.bundle)


def measure(bundle: Path, tests: dict[str, Path], device: str) -> dict[str, Any]:
    """BLEU and chrF of every test set, direction and method, and the sentences of our own."""
    torch.set_num_threads(1)
    jobs = [
        (bundle, device, name, test, method)
        for name, path in tests.items()
        for test in read_test_sets(path)
        for method in SEARCHES
    ]
    # A process each: one sentence at a time is too little work to share between threads.
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        scores = list(pool.map(_scored, *zip(*jobs, strict=True)))
    return {
        "digest": digest_of(bundle),
        "scores": scores,
        "sentences": sentences(bundle, load(bundle.resolve(), device)),
    }


def _scored(
    bundle: Path, device: str, name: str, test: TestSet, method: str
) -> Mapping[str, float | str]:
    torch.set_num_threads(1)
    adapter = load(bundle.resolve(), device)
    hypotheses = translate(adapter, test.sources, test.direction, Decode(method))
    row = {"set": name, "direction": test.direction, "method": method, **score(test, hypotheses)}
    print(row, file=sys.stderr, flush=True)
    return row


def sentences(bundle: Path, adapter: Adapter) -> list[dict[str, str]]:
    """What the model makes of the sentences that lie beside it, by beam search."""
    texts = (bundle / SENTENCES).read_text(encoding="utf-8").splitlines()
    made = []
    for text in texts:
        direction = direction_of(text)
        [translation] = translate(adapter, [text], direction, Decode("beam"))
        made.append({"direction": direction, "source": text, "translation": translation})
    return made


if __name__ == "__main__":
    main()
