"""Gathers what an index records, sentence by sentence."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model.corpus.index import SCALE, write_index
from model.corpus.row_patterns import row_flags
from model.explain.patterns import Axes
from model.text.tokens import Token


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
        found = {
            "weight": (largest * SCALE).round().clamp(0, SCALE).to(torch.uint8),
            "key": key.to(torch.uint16),
            "flags": row_flags(weights, axes, mask).to(torch.uint16),
        }
        for name, rows in found.items():
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
        known = self._numbers
        numbers = [known.setdefault((one.text, one.special), len(known)) for one in tokens]
        return np.array(numbers, dtype=np.uint32)
