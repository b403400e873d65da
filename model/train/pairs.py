"""Parallel text: TSV files, and the examples that a model learns from."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from model.errors import FileError
from model.files import reading
from model.text.tokens import normalise

TextPair = tuple[str, str]  # a text and its translation
Languages = tuple[str, str]  # codes, in the order of the columns
MOST = 8 << 30  # bytes of text in one file


@dataclass(frozen=True)
class TrainingExample:
    """A sentence, its translation, and the language of the translation."""

    source: str
    target: str
    language: str
    weight: float = 1.0  # how often it stands in an epoch, on average


def read_rows(path: Path, columns: tuple[int, ...] = (2, 3)) -> list[list[str]]:
    """Return the tab-separated columns of each line: two texts, optionally after a group.

    Reads `.gz` too. Raises `FileError` for a damaged file and for a malformed line.
    """
    with reading(path):
        opened = gzip.open if path.suffix == ".gz" else open
        with opened(path, "rb") as file:
            data = file.read(MOST + 1)
        if len(data) > MOST:
            raise FileError(path, f"it has more than {MOST:,} bytes of text")
        text = data.decode("utf-8")
    rows = [line.split("\t") for line in text.rstrip("\n").split("\n")]
    for number, row in enumerate(rows, 1):
        if len(row) not in columns:
            wanted = " or ".join(map(str, columns))
            raise FileError(path, f"line {number} has {len(row)} columns, not {wanted}")
    return rows


def read_pairs(path: Path) -> list[TextPair]:
    """Return the texts of each row (see `read_rows`), normalised; incomplete rows are dropped."""
    pairs = ((normalise(row[-2]), normalise(row[-1])) for row in read_rows(path))
    return [(first, second) for first, second in pairs if first and second]


def both_ways(pairs: Iterable[TextPair], languages: Languages) -> list[TrainingExample]:
    """Return each pair as two examples, one per direction."""
    first, second = languages
    return [
        example
        for a, b in pairs
        for example in (TrainingExample(a, b, second), TrainingExample(b, a, first))
    ]


def read_back(path: Path) -> list[tuple[str, TextPair]]:
    """Return the language of the human text, and the texts of each row by `back-translate`."""
    return [
        (row[0], (normalise(row[1]), normalise(row[2]))) for row in read_rows(path, columns=(3,))
    ]
