"""The training history in a bundle: `learning.safetensors`.

For each example and each snapshot it has the weights of every attention,
``"{example}.{step}.encoder.0.self.weights"`` (head, query, key), as uint8 in steps of 1/255. The
metadata has a `Learning` under ``"learning"``. `python -m model measure history` writes the file;
the server writes it for a model that is kept from a training run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor

from model.files import as_type, reading
from model.text.tokens import Token
from model.trace.attentions import Attentions


@dataclass(frozen=True)
class SnapshotScores:
    """The model at one step of its training, measured on the same dev pairs at every step."""

    step: int
    loss: float | None  # nats per token; None if training diverged
    bleu: Mapping[str, float]  # by direction, greedy decoding; empty for a model of the zoo's tasks
    accuracy: float | None = None  # for the zoo's tasks: share of answers that are entirely right


@dataclass(frozen=True)
class WatchedSentence:
    """A sentence, the trained model's translation, and each snapshot's translation."""

    source: str
    direction: str
    tokens: Mapping[str, Sequence[Token]]  # by text: the tokens that the model reads
    written: Sequence[Token]  # by the trained model: the tokens that the decoder's rows predict
    texts: Sequence[str]  # by snapshot


@dataclass(frozen=True)
class Learning:
    """The history of a training run."""

    digest: str  # of the trained model's bundle
    snapshots: Sequence[SnapshotScores]
    examples: Sequence[WatchedSentence]
    weights: Mapping[str, Tensor]  # "{example}.{step}.{place}.weights": (H, N, M), uint8

    def of(self, example: int) -> dict[str, Tensor]:
        """Return the weights of one example, ``"{step}.{place}.weights"``."""
        prefix = f"{example}."
        return {
            name.removeprefix(prefix): value
            for name, value in self.weights.items()
            if name.startswith(prefix)
        }

    def check(self, attentions: Attentions) -> None:
        """Raise `ValueError` if the history's attentions are not the model's."""
        shapes = {
            f"{index}.{snapshot.step}.{one.place}.weights": (
                one.heads,
                len(example.tokens[one.query]),
                len(example.tokens[one.key]),
            )
            for index, example in enumerate(self.examples)
            for snapshot in self.snapshots
            for one in attentions
        }
        if {name: tuple(value.shape) for name, value in self.weights.items()} != shapes:
            raise ValueError("the training history does not fit the model")
        if any(len(example.texts) != len(self.snapshots) for example in self.examples):
            raise ValueError("the training history lacks the texts of some snapshots")


def save(learning: Learning, path: Path) -> None:
    """Write a file that `load_learning` reads."""
    told = {
        "digest": learning.digest,
        "snapshots": [asdict(snapshot) for snapshot in learning.snapshots],
        "examples": [asdict(example) for example in learning.examples],
    }
    metadata = {"learning": json.dumps(told, ensure_ascii=False)}
    save_file(dict(learning.weights), path, metadata)


def load_learning(path: Path) -> Learning:
    """Read `learning.safetensors`. Raises `FileError` for any other file."""
    with reading(path):
        with safe_open(path, framework="pt") as opened:
            stored: dict[str, Any] = json.loads((opened.metadata() or {})["learning"])
        return Learning(
            as_type(path, str, stored["digest"], "digest"),
            as_type(path, list[SnapshotScores], stored["snapshots"], "snapshots"),
            as_type(path, list[WatchedSentence], stored["examples"], "examples"),
            load_file(path),
        )
