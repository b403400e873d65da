"""An index of attention rows: for every row of every head its largest weight, and its patterns.

A folder of NumPy arrays that are read by memory mapping, so that a search reads one head:

heads.json                    what each head does over these sentences (`write_survey`)
index.json                    digest of the model, tokens by number, and the texts of each attention
sentences.jsonl               {"source", "direction"?, "target"?}, one per line
sentences.starts.npy          (S + 1) byte offsets of the lines
{text}.tokens.npy             (R) numbers of tokens, sentence after sentence
{text}.starts.npy             (S + 1) index of each sentence's first token
{place}.weight.npy            (H, R) largest weight of each row · 255, uint8
{place}.key.npy               (H, R) its key, counted within the sentence, uint16
{place}.flags.npy             (H, R) patterns that hold (`model.corpus.row_patterns`), uint16

Shapes: S sentences, R tokens of a text, H heads. The rows of a cross-attention are those of the
text "written": each stands for the token that it writes. 5 bytes per row and head.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model.corpus.row_patterns import row_flags
from model.errors import FileError
from model.explain.patterns import Axes
from model.file_reading import as_type, read_json, reading
from model.text.tokens import Token

INDEX, HEADS, SENTENCES = "index.json", "heads.json", "sentences.jsonl"
SCALE = 255  # of weights
WRITTEN = "written"


@dataclass(frozen=True)
class Head:
    """The rows of one head, each (R)."""

    weight: NDArray[np.uint8]
    key: NDArray[np.uint16]
    flags: NDArray[np.uint16]


@dataclass(frozen=True)
class About:
    """The contents of `index.json`."""

    digest: str
    vocabulary: list[str]
    """Distinct texts of tokens; special tokens and the others are kept apart."""
    special: list[int]
    axes: Mapping[str, tuple[str, str]]
    """The texts of the queries and of the keys, by attention."""


class Index:
    """An index in a folder. Raises `FileError` if the folder has none, or one of damaged files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        path = folder / INDEX
        if not path.is_file():
            raise FileError(folder, f"it has no index: it has no {INDEX}")
        about = as_type(path, About, read_json(path))
        self.digest, self.vocabulary = about.digest, about.vocabulary
        self.special, self.axes = frozenset(about.special), about.axes

    def __len__(self) -> int:
        """Return the number of sentences."""
        return len(self._offsets) - 1

    def sentence(self, number: int) -> dict[str, str]:
        """Return the texts of a sentence as in a request."""
        line = self._lines[self._offsets[number] : self._offsets[number + 1]].tobytes()
        with reading(self.folder / SENTENCES):
            texts: dict[str, str] = json.loads(line)
        return texts

    def tokens(self, text: str) -> NDArray[np.uint32]:
        """Return the numbers of all tokens of a text (R)."""
        numbers: NDArray[np.uint32] = self._array(f"{text}.tokens")
        return numbers

    def starts(self, text: str) -> NDArray[np.int64]:
        """Return where each sentence starts among the tokens of a text (S + 1)."""
        starts: NDArray[np.int64] = self._array(f"{text}.starts")
        return starts

    def head(self, place: str, head: int) -> Head:
        """Return the rows of a head. Raises `KeyError` for one that does not exist."""
        if place not in self.axes:
            raise KeyError(place)
        arrays = [self._array(f"{place}.{name}") for name in ("weight", "key", "flags")]
        if not 0 <= head < len(arrays[0]):
            raise KeyError(head)
        return Head(*(array[head] for array in arrays))

    @cached_property
    def _offsets(self) -> NDArray[np.int64]:
        offsets: NDArray[np.int64] = self._array("sentences.starts")
        return offsets

    @cached_property
    def _lines(self) -> NDArray[np.uint8]:
        path = self.folder / SENTENCES
        with reading(path):
            return np.memmap(path, np.uint8, mode="r")

    def _array(self, name: str) -> Any:
        path = self.folder / f"{name}.npy"
        with reading(path):
            return np.load(path, mmap_mode="r", allow_pickle=False)


def write_index(
    folder: Path,
    about: Mapping[str, Any],
    sentences: list[dict[str, str]],
    arrays: Mapping[str, NDArray[Any]],
) -> None:
    """Write the files of an index; `arrays` are named as the files without `.npy`."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [(json.dumps(sentence, ensure_ascii=False) + "\n").encode() for sentence in sentences]
    starts = np.cumsum([0, *map(len, lines)], dtype=np.int64)
    for name, array in {**arrays, "sentences.starts": starts}.items():
        np.save(folder / f"{name}.npy", array, allow_pickle=False)
    (folder / SENTENCES).write_bytes(b"".join(lines))
    (folder / INDEX).write_text(json.dumps(about, ensure_ascii=False) + "\n", encoding="utf-8")


class Gathered:
    """The rows of every attention so far; `axes` are the texts of its queries and keys."""

    def __init__(self, axes: Mapping[str, tuple[str, str]]) -> None:
        self.axes = axes
        self.sentences: list[dict[str, str]] = []
        self._numbers: dict[tuple[str, bool], int] = {}  # of tokens, by text and whether special
        self._tokens: dict[str, list[NDArray[Any]]] = defaultdict(list)
        self._rows: dict[str, list[NDArray[Any]]] = defaultdict(list)

    def add_sentence(self, sentence: dict[str, str], texts: Mapping[str, Sequence[Token]]) -> None:
        """Start a sentence with its texts in tokens, "written" among them where words are."""
        self.sentences.append(sentence)
        # In the same order in every process, so that the same sentences have the same index.
        for text in dict.fromkeys(text for axes in self.axes.values() for text in axes):
            self._tokens[text].append(self._numbered(texts[text]))

    def add_rows(self, place: str, weights: Tensor, axes: Axes, mask: Tensor) -> None:
        """Add an attention of the last sentence: weights (H, N, M), mask (N, M)."""
        largest, key = weights.max(-1)
        arrays = {
            "weight": (largest * SCALE).round().clamp(0, SCALE).to(torch.uint8),
            "key": key.to(torch.uint16),
            "flags": row_flags(weights, axes, mask).to(torch.uint16),
        }
        for name, rows in arrays.items():
            self._rows[f"{place}.{name}"].append(rows.numpy())

    def rows(self, name: str) -> NDArray[Any]:
        """Return an array of all rows so far (H, R), such as "encoder.0.self.flags"."""
        return np.concatenate(self._rows[name], axis=1)

    def counts(self) -> dict[str, int]:
        """Return the number of tokens of each text."""
        return {text: sum(map(len, parts)) for text, parts in self._tokens.items()}

    def write(self, folder: Path, digest: str) -> None:
        """Write the index into a folder."""
        arrays: dict[str, NDArray[Any]] = {name: self.rows(name) for name in self._rows}
        for text, parts in self._tokens.items():
            arrays[f"{text}.tokens"] = np.concatenate(parts)
            arrays[f"{text}.starts"] = np.cumsum([0, *map(len, parts)], dtype=np.int64)
        about = {
            "digest": digest,
            "axes": {place: list(axes) for place, axes in self.axes.items()},
            "vocabulary": [text for text, _ in self._numbers],
            "special": [number for (_, special), number in self._numbers.items() if special],
        }
        write_index(folder, about, self.sentences, arrays)

    def _numbered(self, tokens: Iterable[Token]) -> NDArray[np.uint32]:
        numbers_ = self._numbers
        numbers = [
            numbers_.setdefault((token.text, token.special), len(numbers_)) for token in tokens
        ]
        return np.array(numbers, dtype=np.uint32)


@dataclass(frozen=True)
class SurveyedHead:
    """What is always read of a head; the rest depends on what was measured."""

    place: str
    head: int
    described: list[tuple[str, float]]


def read_survey(folder: Path, digest: str) -> dict[str, Any] | None:
    """Return the survey in a folder; None if there is none, or one of other weights.

    Raises `FileError` for one that is damaged.
    """
    path = folder / HEADS
    if not path.exists():
        return None
    survey = read_json(path)
    if survey.get("digest") != digest:
        return None
    as_type(path, list[SurveyedHead], survey.get("heads"), "heads")
    return survey


def write_survey(folder: Path, survey: dict[str, Any]) -> None:
    """Write a survey, one head per line."""
    heads = ",\n".join(
        json.dumps(head, ensure_ascii=False, allow_nan=False) for head in survey["heads"]
    )
    about = {name: value for name, value in survey.items() if name != "heads"}
    text = json.dumps(about, ensure_ascii=False, allow_nan=False)
    folder.mkdir(parents=True, exist_ok=True)
    content = f'{text[:-1]}, "heads": [\n{heads}\n]}}\n'
    (folder / HEADS).write_text(content, encoding="utf-8")
