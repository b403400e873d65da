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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from safetensors import safe_open
from torch import Tensor

from model.bundle.history import Learning, load_learning
from model.bundle.weights import TRAINING, Bundle
from model.errors import FileError
from model.files import as_type, read_json, reading, tensor_shapes
from model.transformer.config import ModelConfig

MEANS = "means.safetensors"
LEARNING = "learning.safetensors"
REPORT = "report.json"
ZOO = "zoo.json"
# The names of an aligner's fields in the report.
ALIGNER = {"layer": "layer", "head": "head", "error_rate": "reported on", "rows": "rows"}
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
    """Read the measurements that exist.

    Raises `FileError` for those that are damaged, or of other weights.
    """
    return Measured(
        means_of(folder, bundle),
        aligners_of(folder, bundle),
        taught_of(folder, bundle.model.config),
        learning_of(folder, bundle),
        zoo_entry_of(folder, bundle),
    )


def means_of(folder: Path, bundle: Bundle) -> dict[str, Tensor]:
    """Read the means stored next to the weights, if any."""
    path, config = folder / MEANS, bundle.model.config
    if not path.exists():
        return {}
    with reading(path), safe_open(path, framework="pt", device=str(bundle.device)) as file:
        _of(path, "measure mean-outputs", (file.metadata() or {}).get("digest"), bundle)
        for name, (_, shape) in tensor_shapes(path).items():
            heads = config.heads_of.get(name.partition(".")[0])
            if heads is None or shape != (heads, config.d_model // heads):
                raise FileError(path, "the means do not fit the config")
        return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118


def aligners_of(folder: Path, bundle: Bundle) -> tuple[Aligner, ...]:
    """Return the best aligning head for each kind of rows, best first, if there is a report."""
    path, config = folder / REPORT, bundle.model.config
    if not path.exists():
        return ()
    report = report_of(folder, bundle)
    with reading(path):
        best = report["alignment"]["best"] if report["alignment"] else []
    if isinstance(best, dict):
        raise FileError(path, "it was written by an earlier version; run measure heads again")
    with reading(path):
        plain = [
            {name: one[stored] for name, stored in ALIGNER.items()}
            for one in as_type(path, list[dict[str, Any]], best, "alignment.best")
        ]
    aligners = as_type(path, tuple[Aligner, ...], plain, "alignment.best")
    _check_heads(path, aligners, config)
    return aligners


def report_of(folder: Path, bundle: Bundle) -> dict[str, Any]:
    """Read the report on the heads. Raises `FileError` without one, and for other weights'."""
    path = folder / REPORT
    report = read_json(path)
    _of(path, "measure heads", report.get("digest"), bundle)
    return report


def taught_of(folder: Path, config: ModelConfig) -> tuple[Taught, ...]:
    """Return the heads supervised by a guide, if the bundle says how it was trained."""
    path = folder / TRAINING
    if not path.exists():
        return ()
    taught = as_type(path, tuple[Taught, ...], read_json(path).get("taught", []), "taught")
    _check_heads(path, taught, config)
    return taught


def learning_of(folder: Path, bundle: Bundle) -> Learning | None:
    """Read the training history, if it is stored."""
    path = folder / LEARNING
    if not path.exists():
        return None
    learning = load_learning(path)
    _of(path, "measure history", learning.digest, bundle)
    return learning


def zoo_entry_of(folder: Path, bundle: Bundle) -> ZooEntry | None:
    """Read the entry of a model of the zoo; None for any other model."""
    path = folder / ZOO
    if not path.exists():
        return None
    results = read_json(path)
    with reading(path):
        digests = [seed["digest"] for seed in results["seeds"]]
    entry = as_type(path, ZooEntry, results)
    if bundle.digest not in digests:
        _of(path, f"zoo measure {entry.name}", None, bundle)
    return entry


def _check_heads(path: Path, heads: Sequence[Aligner | Taught], config: ModelConfig) -> None:
    for one in heads:
        if not (0 <= one.layer < config.decoder_layers and 0 <= one.head < config.heads):
            raise FileError(path, f"the model has no head {one.head} in the layer {one.layer}")


def _of(path: Path, command: str, digest: str | None, bundle: Bundle) -> None:
    if digest != bundle.digest:
        raise FileError(path, f"measured on other weights; run {command} again")
