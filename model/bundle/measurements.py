"""Measurements that may be stored next to a bundle's weights.

means.safetensors     each head's mean output over training data
                      (`python -m model measure mean-outputs`)
report.json           what each head does, over many sentences (`python -m model measure heads`)
heads.json            how often each pattern holds (`python -m model measure corpus`), read by the
                      server without the weights
training.json         how it was trained (`python -m model train`)
learning.safetensors  attention at steps of the training run (`python -m model measure history`)
certainty.json        below which probability a written word is doubtful, and at which weight a
                      source word is not translated
                      (`python -m model measure certainty`)
zoo.json              what a model of the zoo learned, and how well (`python -m model zoo measure`)

Measured files contain the digest of the weights, and are rejected with other weights.

The history of training, `learning.safetensors`, has for each example and each snapshot the weights
of every attention, ``"{example}.{step}.encoder.0.self.weights"`` (head, query, key), as uint8 in
steps of 1/255. The metadata has a `Learning` under ``"learning"``. The server writes the file for a
model that is kept from a training run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor

from model.bundle.weights import TRAINING, Bundle
from model.errors import FileError
from model.file_reading import as_type, read_json, reading, tensor_shapes
from model.text.tokens import Token
from model.trace.attentions import Attentions
from model.transformer.config import ModelConfig


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
            f"{index}.{snapshot.step}.{attention.place}.weights": (
                attention.heads,
                len(example.tokens[attention.query]),
                len(example.tokens[attention.key]),
            )
            for index, example in enumerate(self.examples)
            for snapshot in self.snapshots
            for attention in attentions
        }
        if {name: tuple(value.shape) for name, value in self.weights.items()} != shapes:
            raise ValueError("the training history does not fit the model")
        if any(len(example.texts) != len(self.snapshots) for example in self.examples):
            raise ValueError("the training history lacks the texts of some snapshots")


def save(learning: Learning, path: Path) -> None:
    """Write a file that `load_learning` reads."""
    contents = {
        "digest": learning.digest,
        "snapshots": [asdict(snapshot) for snapshot in learning.snapshots],
        "examples": [asdict(example) for example in learning.examples],
    }
    metadata = {"learning": json.dumps(contents, ensure_ascii=False)}
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


MEANS = "means.safetensors"
LEARNING = "learning.safetensors"
REPORT = "report.json"
CERTAINTY = "certainty.json"
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
class AlignerRows:
    """A cross-attention head, and which of its rows belong to a written word."""

    layer: int
    head: int
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
class Certainty:
    """When the model is unsure, measured on dev sets by `python -m model measure certainty`."""

    word: float
    """A written word is doubtful if its probability, the lowest of its pieces, times the mean
    probability of the text's tokens (geometric) is at most this."""
    precision: float
    """Share of the doubtful words that are wrong."""
    recall: float
    """Share of the wrong words that are doubtful."""
    text: float
    """A text is improbable if the mean probability of its tokens (geometric) is at most this."""
    temperature: float
    """Divides the logits so that probabilities of the next token are calibrated."""
    source: float | None
    """A source word is passed over if no written token looks at it this much, by `aligner`; null:
    it is not known which words were not translated."""
    passed_over: tuple[str, ...] = ()
    """Words of a source, in lower case, that often need no translation."""
    aligner: AlignerRows | None = None
    """The head whose weights say at which source words it looked; null: the one that aligns best
    among those whose rows write."""
    untranslated: float | None = None
    """Share of the words that are passed over that are not translated."""
    unlike: Mapping[str, float] = field(default_factory=dict)
    """A text is unlike what the model was trained on if more than this share of the places within
    its words is cut by the tokenizer, by direction."""


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
    certainty: Certainty | None = None


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
        certainty_of(folder, bundle),
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
            {name: head[stored] for name, stored in ALIGNER.items()}
            for head in as_type(path, list[dict[str, Any]], best, "alignment.best")
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


def certainty_of(folder: Path, bundle: Bundle) -> Certainty | None:
    """Read when the model is unsure, if it was measured."""
    path = folder / CERTAINTY
    if not path.exists():
        return None
    stored = read_json(path)
    _of(path, "measure certainty", stored.get("digest"), bundle)
    with reading(path):
        figures = {name: stored["words"][name] for name in ("precision", "recall")}
        figures |= {name: stored[name] for name in ("word", "text")}
        figures["source"] = stored.get("source")
        figures |= {
            name: stored[name]
            for name in ("passed_over", "aligner", "unlike")
            if stored.get(name) is not None
        }
        if stored.get("untranslated"):
            figures["untranslated"] = stored["untranslated"]["words"]["precision"]
        figures["temperature"] = stored["calibration"]["temperature"]
    return as_type(path, Certainty, figures)


def _check_heads(path: Path, heads: Sequence[Aligner | Taught], config: ModelConfig) -> None:
    for head in heads:
        if not (0 <= head.layer < config.decoder_layers and 0 <= head.head < config.heads):
            raise FileError(path, f"the model has no head {head.head} in the layer {head.layer}")


def _of(path: Path, command: str, digest: str | None, bundle: Bundle) -> None:
    if digest != bundle.digest:
        raise FileError(path, f"measured on other weights; run {command} again")
