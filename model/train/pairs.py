"""Parallel text: TSV files, and the examples that a model learns from."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from model.tokens import normalise

Pair = tuple[str, str]


@dataclass(frozen=True)
class Example:
    """A sentence, its translation, and the language of the translation."""

    source: str
    target: str
    language: str


def read_pairs(path: Path) -> list[Pair]:
    """Two texts a line, tab-separated; a group number in front of them is passed over.

    Reads `.gz` too. Raises `ValueError` naming the line that has another shape.
    """
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8")
    pairs = []
    for number, line in enumerate(text.rstrip("\n").split("\n"), 1):
        columns = line.split("\t")
        if len(columns) not in (2, 3):
            raise ValueError(f"{path}, line {number}: {len(columns)} columns, not 2 or 3")
        first, second = (normalise(column) for column in columns[-2:])
        if first and second:
            pairs.append((first, second))
    return pairs


def both_ways(pairs: Iterable[Pair], languages: Pair) -> list[Example]:
    """Each pair as two examples, one a direction."""
    first, second = languages
    return [example for a, b in pairs for example in (Example(a, b, second), Example(b, a, first))]
