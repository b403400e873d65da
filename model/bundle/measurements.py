"""Measurements that may be stored next to a bundle's weights.

means.safetensors     each head's mean output over training data
                      (`python -m model measure mean-outputs`)
report.json           what each head does, over many sentences (`python -m model measure heads`)
heads.json            how often each pattern holds (`python -m model measure corpus`), read by the
                      server without the weights
training.json         how it was trained (`python -m model train`)
learning.safetensors  attention at steps of the training run (`python -m model measure history`)
zoo.json              what a model of the zoo learned, and how well (`python -m model zoo measure`)

Measured files contain the digest of the weights, and are rejected with other weights.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from safetensors import safe_open
from torch import Tensor

from model.bundle.history import Learning, load_learning
from model.bundle.weights import TRAINING, Bundle

MEANS = "means.safetensors"
LEARNING = "learning.safetensors"
REPORT = "report.json"
ZOO = "zoo.json"
# Which rows of cross-attention align a word: those that write it, or the next ones, which read it.
WRITES, READS = "writes", "reads"


@dataclass(frozen=True)
class Aligner:
    """The cross-attention head closest to human word alignment, for one kind of rows."""

    layer: int
    head: int
    error_rate: float
    """AER on pairs that were not used to choose it, 0 to 1."""
    rows: Literal["writes", "reads"]
    """Rows that write a word, or the next ones, which read it."""


@dataclass(frozen=True)
class Taught:
    """A cross-attention head that training supervised to align, by its rows, from a step on."""

    layer: int
    head: int
    rows: Literal["writes", "reads"]
    """Rows that write a word, or the next ones, which read it."""
    since: int
    """The training step from which it was supervised."""


@dataclass(frozen=True)
class ZooEntry:
    """The task of a model of the zoo, and how its recipe differs from the task's plain model."""

    name: str
    """Name in the zoo's table."""
    task: str
    changed: Mapping[str, str | int | float]
    """Options of the model or of its training, by name; empty for the plain model of a task."""


@dataclass(frozen=True)
class Measured:
    """Measurements of a model; none of them changes its replies."""

    means: Mapping[str, Tensor] = field(default_factory=dict)  # "encoder.1.self.mix": (H, d_k)
    aligners: tuple[Aligner, ...] = ()
    taught: tuple[Taught, ...] = ()
    learning: Learning | None = None
    zoo: ZooEntry | None = None


def load_measured(folder: Path, bundle: Bundle) -> Measured:
    """Read the measurements that exist; raises `ValueError` for those of other weights."""
    return Measured(
        means_of(folder, bundle),
        aligners_of(folder, bundle),
        taught_of(folder),
        learning_of(folder, bundle),
        zoo_entry_of(folder, bundle),
    )


def means_of(folder: Path, bundle: Bundle) -> dict[str, Tensor]:
    """Read the means stored next to the weights, if any."""
    path, config = folder / MEANS, bundle.model.config
    if not path.is_file():
        return {}
    with safe_open(path, framework="pt", device=str(bundle.device)) as file:
        _of(path, "measure mean-outputs", (file.metadata() or {}).get("digest"), bundle)
        found: dict[str, Tensor] = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    heads = {name: config.heads_of[name.partition(".")[0]] for name in found}
    if any(found[name].shape != (h, config.d_model // h) for name, h in heads.items()):
        raise ValueError(f"{path}: the means do not fit the config")
    return found


def aligners_of(folder: Path, bundle: Bundle) -> tuple[Aligner, ...]:
    """Return the best aligning head for each kind of rows, best first, if there is a report."""
    if not (folder / REPORT).is_file():
        return ()
    report = report_of(folder, bundle)
    found = report["alignment"]["best"] if report["alignment"] else []
    if isinstance(found, dict):
        told = "it was written by an earlier version; run measure heads again"
        raise ValueError(f"{folder / REPORT}: {told}")
    return tuple(
        Aligner(best["layer"], best["head"], best["reported on"], best["rows"]) for best in found
    )


def report_of(folder: Path, bundle: Bundle) -> dict[str, Any]:
    """Read the report on the heads.

    Raises `FileNotFoundError` without one, and `ValueError` for that of other weights.
    """
    path = folder / REPORT
    report: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    _of(path, "measure heads", report["digest"], bundle)
    return report


def taught_of(folder: Path) -> tuple[Taught, ...]:
    """Return the heads supervised by a guide, if the bundle says how it was trained."""
    path = folder / TRAINING
    if not path.is_file():
        return ()
    training = json.loads(path.read_text(encoding="utf-8"))
    return tuple(Taught(**one) for one in training.get("taught", []))


def learning_of(folder: Path, bundle: Bundle) -> Learning | None:
    """Read the training history, if it is stored."""
    path = folder / LEARNING
    if not path.is_file():
        return None
    found = load_learning(path)
    _of(path, "measure history", found.digest, bundle)
    return found


def zoo_entry_of(folder: Path, bundle: Bundle) -> ZooEntry | None:
    """Read the entry of a model of the zoo; None for any other model."""
    path = folder / ZOO
    if not path.is_file():
        return None
    found = json.loads(path.read_text(encoding="utf-8"))
    if bundle.digest not in [seed["digest"] for seed in found["seeds"]]:
        command = f"zoo measure {found['name']}"
        raise ValueError(f"{path}: measured on other weights; run {command} again")
    return ZooEntry(found["name"], found["task"], found["changed"])


def _of(path: Path, command: str, digest: str | None, bundle: Bundle) -> None:
    if digest != bundle.digest:
        raise ValueError(f"{path}: measured on other weights; run {command} again")
