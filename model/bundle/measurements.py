"""What may lie beside a bundle's weights, measured of them.

means.safetensors     each head's mean output over training data
                      (`python -m model measure mean-outputs`)
report.json           what each head does, over many sentences (`python -m model measure heads`)
training.json         how it was trained (`python -m model train`)
learning.safetensors  attention at steps of the training run (`python -m model measure history`)
zoo.json              what a model of the zoo learned, and how well (`python -m model zoo measure`)

Those that were measured name the digest of the weights that they are of, and are refused beside
others.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from safetensors import safe_open
from torch import Tensor

from model.bundle.history import Learning, load_learning
from model.bundle.weights import TRAINING, Bundle

MEANS = "means.safetensors"
LEARNING = "learning.safetensors"
REPORT = "report.json"
ZOO = "zoo.json"
# Which rows of cross attention align a word: those that write it, or those that read it, one later.
WRITES, READS = "writes", "reads"


@dataclass(frozen=True)
class Aligner:
    """The head of the cross attention that is nearest to alignments made by people, by its rows."""

    layer: int
    head: int
    error_rate: float
    """AER on pairs that it was not chosen by, 0 to 1."""
    rows: Literal["writes", "reads"]
    """Those that write a word, or those that read it, one later."""


@dataclass(frozen=True)
class Taught:
    """A head of the cross attention that training asked to align, by its rows, from a step on."""

    layer: int
    head: int
    rows: Literal["writes", "reads"]
    """Those that write a word, or those that read it, one later."""
    since: int
    """The step of the training from which on it did."""


@dataclass(frozen=True)
class ZooEntry:
    """What a model of the zoo learned, and how its recipe differs from the plain one."""

    name: str
    """Its line of the zoo's table."""
    task: str
    changed: Mapping[str, str | int | float]
    """Options of the model or of its training, by name; none for the plain model of a task."""


@dataclass(frozen=True)
class Measured:
    """What is known of a model beyond its weights; nothing of it changes what it answers."""

    means: Mapping[str, Tensor] = field(default_factory=dict)  # "encoder.1.self.mix": (H, d_k)
    aligners: tuple[Aligner, ...] = ()
    taught: tuple[Taught, ...] = ()
    learning: Learning | None = None
    zoo: ZooEntry | None = None


def load_measured(folder: Path, bundle: Bundle) -> Measured:
    """Whatever of it is there; raises `ValueError` for what is of other weights."""
    return Measured(
        means_of(folder, bundle),
        aligners_of(folder, bundle),
        taught_of(folder),
        learning_of(folder, bundle),
        zoo_entry_of(folder, bundle),
    )


def means_of(folder: Path, bundle: Bundle) -> dict[str, Tensor]:
    """The means that lie beside the weights, if any do."""
    path, config = folder / MEANS, bundle.model.config
    if not path.is_file():
        return {}
    with safe_open(path, framework="pt", device=str(bundle.device)) as file:
        _of(path, "measure mean-outputs", (file.metadata() or {}).get("digest"), bundle)
        found: dict[str, Tensor] = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    if any(mean.shape != (config.heads, config.d_k) for mean in found.values()):
        raise ValueError(f"{path}: the means do not fit the config")
    return found


def aligners_of(folder: Path, bundle: Bundle) -> tuple[Aligner, ...]:
    """The best head for alignment by each kind of rows, the better first, if a report has them."""
    path = folder / REPORT
    if not path.is_file():
        return ()
    report = json.loads(path.read_text(encoding="utf-8"))
    _of(path, "measure heads", report["digest"], bundle)
    found = report["alignment"]["best"] if report["alignment"] else []
    if isinstance(found, dict):
        raise ValueError(f"{path}: it is of an earlier version; run measure heads again")
    return tuple(
        Aligner(best["layer"], best["head"], best["reported on"], best["rows"]) for best in found
    )


def taught_of(folder: Path) -> tuple[Taught, ...]:
    """The heads that a guide taught, if the bundle says how it was trained."""
    path = folder / TRAINING
    if not path.is_file():
        return ()
    training = json.loads(path.read_text(encoding="utf-8"))
    return tuple(Taught(**one) for one in training.get("taught", []))


def learning_of(folder: Path, bundle: Bundle) -> Learning | None:
    """How the model was learned, if that was kept."""
    path = folder / LEARNING
    if not path.is_file():
        return None
    found = load_learning(path)
    _of(path, "measure history", found.digest, bundle)
    return found


def zoo_entry_of(folder: Path, bundle: Bundle) -> ZooEntry | None:
    """What a model of the zoo learned; None for any other model."""
    path = folder / ZOO
    if not path.is_file():
        return None
    found = json.loads(path.read_text(encoding="utf-8"))
    if bundle.digest not in [seed["digest"] for seed in found["seeds"]]:
        raise ValueError(f"{path}: it is of other weights; run zoo measure {found['name']} again")
    return ZooEntry(found["name"], found["task"], found["changed"])


def _of(path: Path, command: str, digest: str | None, bundle: Bundle) -> None:
    if digest != bundle.digest:
        raise ValueError(f"{path}: it is of other weights; run {command} again")
