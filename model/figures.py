"""Measures a bundle and writes what was measured into its model card.

    python -m model.figures --test Tatoeba=tatoeba/test.tsv

Without `--test` nothing is measured anew: the card is written again from `figures.json`. The
figures carry the digest of the weights that they were measured on.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from model.adapters import load
from model.card import write_card
from model.checkpoint import CHECKPOINTS, digest_of
from model.request import Adapter, Decode
from model.tokens import direction_of
from model.train.metrics import read_test_sets, score, translate

FIGURES = "figures.json"
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
        figures = measure(asked.bundle, load(asked.bundle.resolve(), asked.device), paths)
        text = json.dumps(figures, indent=1, ensure_ascii=False) + "\n"
        (asked.bundle / FIGURES).write_text(text, encoding="utf-8")
    write_card(asked.bundle)


def measure(bundle: Path, adapter: Adapter, tests: dict[str, Path]) -> dict[str, Any]:
    """BLEU and chrF of every test set, direction and method, and the sentences of our own."""
    scores = []
    for name, path in tests.items():
        for test in read_test_sets(path):
            for method in ("greedy", "beam"):
                decode = Decode(method)
                hypotheses = translate(adapter, test.sources, test.direction, decode)
                row = {"set": name, "direction": test.direction, "method": method}
                scores.append({**row, **score(test, hypotheses)})
                print({**scores[-1]}, file=sys.stderr, flush=True)
    return {
        "digest": digest_of(bundle),
        "scores": scores,
        "sentences": sentences(bundle, adapter),
    }


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
