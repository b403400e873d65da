"""The time of a search in an index of many sentences.

    python -m bench.corpus --sentences 100000

writes an index of random rows of one attention with 8 heads (a search reads one head, whatever
else the index has): sentences of 4 to 20 tokens, which are drawn from 8,000 as words are (rank r
with probability ∝ 1/r). Every kind of search is timed with words that were not looked for before,
and the ranking of all sentences as well. The times are of the function, without HTTP: by
the clock, and in brackets of the processor, which other work on the machine does not change.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bench.__main__ import machine
from model.corpus.row_index import Index, write_index
from model.corpus.row_patterns import COUNTS, PATTERNS
from model.corpus.row_search import RowQuery, search, tenths

PLACE, TEXT, HEADS, TYPES = "encoder.0.self", "source", 8, 8_000
ROUNDS = 30


def write(folder: Path, sentences: int, seed: int = 0) -> int:
    """Write a random index; return the number of its rows."""
    drawn = np.random.default_rng(seed)
    lengths = drawn.integers(4, 21, sentences)
    starts = np.cumsum([0, *lengths], dtype=np.int64)
    rows = int(starts[-1])
    chances = 1 / np.arange(1, TYPES + 1)
    tokens = drawn.choice(TYPES, rows, p=chances / chances.sum()).astype(np.uint32)
    shape = (HEADS, rows)
    arrays: dict[str, Any] = {
        f"{TEXT}.tokens": tokens,
        f"{TEXT}.starts": starts,
        f"{PLACE}.weight": drawn.integers(0, 256, shape, dtype=np.uint8),
        f"{PLACE}.key": (drawn.random(shape) * np.repeat(lengths, lengths)).astype(np.uint16),
        f"{PLACE}.flags": drawn.integers(COUNTS, COUNTS + 2 ** len(PATTERNS), shape, np.uint16),
    }
    about = {
        "digest": "",
        "axes": {PLACE: [TEXT, TEXT]},
        "vocabulary": [f" word{number}" for number in range(TYPES)],
        "special": [],
    }
    write_index(folder, about, [{"source": "a sentence"}] * sentences, arrays)
    return rows


def kinds(index: Index) -> dict[str, Callable[[int], object]]:
    """Return what is timed, by name: a function of the number of the round."""

    def find(number: int, **wanted: Any) -> object:
        return search(index, RowQuery(PLACE, number % HEADS, **wanted))

    return {
        "all rows": lambda n: find(n),
        "from a frequent word": lambda n: find(n, query=f"word{n}"),
        "from a word to another": lambda n: find(n, query=f"word{40 + n}", key=f"word{n + 80}"),
        "to a word, 5 tokens away, weight ≥ 0.3": lambda n: find(
            n, key=f"word{120 + n}", distance=5, weight=0.3
        ),
        "a pattern, weight ≥ 0.5": lambda n: find(n, pattern="induction", weight=0.5),
        "examples by largest weight": lambda n: tenths(index, PLACE, n % HEADS),
        "examples by a pattern": lambda n: tenths(index, PLACE, n % HEADS, "nearby"),
    }


def main() -> None:
    """Measure every kind and print it as a row of a Markdown table."""
    parser = argparse.ArgumentParser(prog="python -m bench.corpus", description=__doc__)
    parser.add_argument("--sentences", type=int, default=100_000)
    options = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        rows = write(Path(folder), options.sentences)
        index = Index(Path(folder))
        print(f"\n{options.sentences:,} sentences, {rows:,} rows\n")
        print("| Search | first | median | slowest |\n|---|--:|--:|--:|")
        for name, run in kinds(index).items():
            times = [_timed(run, number) for number in range(ROUNDS)]
            elapsed, busy = zip(*times, strict=True)
            printed = [
                f"{summary(elapsed):.0f} ms ({summary(busy):.0f})"
                for summary in (lambda all_: all_[0], statistics.median, max)
            ]
            print("|", " | ".join([name, *printed]), "|")


def _timed(run: Callable[[int], object], number: int) -> tuple[float, float]:
    """Return the milliseconds of a call by the clock, and of the processor."""
    start, busy = time.perf_counter(), time.process_time()
    run(number)
    return (time.perf_counter() - start) * 1e3, (time.process_time() - busy) * 1e3


if __name__ == "__main__":
    main()
