"""A trained model as one folder: config, tokenizer, weights, card. JSON and safetensors only.

config.json          name, languages with their scripts, and hyperparameters
tokenizer.json       vocabulary and its rules
weights.safetensors  parameters, half precision by default
README.md            the model card: data, licences, metrics, limits
training.json        how it was trained; used here only for its directions, if not all
SHA256SUMS           digests of the first three files (`sha256sum --check`)

Measurements may be stored next to the weights (`model.bundle.measurements`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import permutations
from math import prod
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from model.errors import FileError
from model.file_reading import (
    CONFIG_BYTES,
    TOKENIZER_BYTES,
    as_type,
    check_size,
    read_json,
    read_text,
    reading,
    tensor_shapes,
)
from model.text.tokens import Tokenizer
from model.text.writing_systems import Detector, usual
from model.transformer.config import ModelConfig
from model.transformer.stacks import Transformer

CHECKPOINTS = Path(__file__).parents[1] / "checkpoints"
CONFIG, TOKENIZER, WEIGHTS, CARD, SUMS, TRAINING = (
    "config.json",
    "tokenizer.json",
    "weights.safetensors",
    "README.md",
    "SHA256SUMS",
    "training.json",
)


FLOATS = {"F16", "BF16", "F32", "F64"}
WIDEST = 8  # bytes of a number
MAX_PAGE_BYTES = 16_000_000  # of weights that a page loads (docs/site.md)
HEADER_BYTES = 100_000_000  # the largest header of safetensors


@dataclass(frozen=True)
class Described:
    """The contents of `config.json`."""

    name: str
    languages: list[str]
    config: dict[str, Any]
    scripts: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Bundle:
    """The contents of a bundle's folder."""

    name: str
    languages: tuple[str, ...]
    directions: tuple[str, ...]  # trained directions, such as "en-zh"
    model: Transformer
    tokenizer: Tokenizer
    digest: str
    card: str
    detector: Detector

    @property
    def device(self) -> torch.device:
        """The device of the weights."""
        return self.model.embedding.weight.device


def digest_of(folder: Path) -> str:
    """Return the SHA-256 (hex) of everything that determines the model's output.

    Measurements are not included, since they contain the digest of their weights.
    """
    return _digest_of(_sums(folder))


def _sums(folder: Path) -> dict[str, str]:
    return {name: _sum(folder / name) for name in (CONFIG, TOKENIZER, WEIGHTS)}


def _sum(path: Path) -> str:
    with reading(path), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _digest_of(sums: Mapping[str, str]) -> str:
    return hashlib.sha256(b"".join(bytes.fromhex(digest) for digest in sums.values())).hexdigest()


def write_sums(folder: Path) -> None:
    """Write SHA256SUMS, against which the bundle is checked when it is opened."""
    lines = [f"{digest}  {name}\n" for name, digest in _sums(folder).items()]
    (folder / SUMS).write_text("".join(lines), encoding="utf-8")


def _check(folder: Path, sums: Mapping[str, str]) -> None:
    """Raise `FileError` for a file that does not match SHA256SUMS; a bundle may have none."""
    listed = folder / SUMS
    if not listed.exists():
        return
    for line in read_text(listed).splitlines():
        expected, _, name = line.partition("  ")
        if (actual := sums.get(name)) != expected:
            raise FileError(
                folder / name,
                f"its SHA-256 is {actual}, but {SUMS} has {expected}: the file was modified or "
                "truncated",
            )


def save_bundle(
    folder: Path,
    weights: Mapping[str, Tensor],
    config: ModelConfig,
    tokenizer: Tokenizer,
    name: str,
    dtype: torch.dtype = torch.float16,
) -> None:
    """Write everything but the card, which `python -m model measure scores` writes.

    Keys have no bias in a bundle. The softmax cancels it, whatever it is,

        softmax_j(q · (k_j + b)) = softmax_j(q · k_j + q · b) = softmax_j(q · k_j),

    so the weights are the same up to rounding, and scores are not shown with a meaningless offset.
    """
    folder.mkdir(parents=True, exist_ok=True)
    described = {
        "name": name,
        "languages": list(tokenizer.languages),
        "scripts": {language: usual(language) for language in tokenizer.languages},
        "config": config.to_json(),
    }
    (folder / CONFIG).write_text(json.dumps(described, indent=2, ensure_ascii=False) + "\n")
    tokenizer.save(folder / TOKENIZER)
    plain = {
        name: torch.zeros_like(value) if name.endswith("W_k.bias") else value
        for name, value in weights.items()
    }
    stored = {name: value.to(dtype).contiguous() for name, value in plain.items()}
    save_file(stored, folder / WEIGHTS)
    lines = [f"{sum_}  {name}\n" for name, sum_ in _sums(folder).items()]
    (folder / SUMS).write_text("".join(lines))


def load_bundle(folder: Path, device: str | torch.device = "cpu") -> Bundle:
    """Read a folder; the weights become float32.

    Nothing is built before the sizes in the config are known to be those of the weights. Raises
    `FileError` for a folder that is not a bundle, and for a file that is damaged, has changed since
    it was written, or does not fit the others.
    """
    for name in (CONFIG, TOKENIZER, WEIGHTS):
        if not (folder / name).is_file():
            raise FileError(folder, f"it is not a model bundle: it has no {name}")
    described, config = _described(folder / CONFIG)
    expected = _shapes(config)
    check_size(folder / TOKENIZER, TOKENIZER_BYTES)
    check_size(folder / WEIGHTS, sum(map(prod, expected.values())) * WIDEST + HEADER_BYTES)
    sums = _sums(folder)
    _check(folder, sums)
    tokenizer = Tokenizer.load(folder / TOKENIZER)
    _check_tokenizer(folder, tokenizer, described, config)
    _check_weights(folder / WEIGHTS, expected)
    model = Transformer(config)
    with reading(folder / WEIGHTS):
        model.load_state_dict(load_file(folder / WEIGHTS))  # copies into float32
    card, languages = folder / CARD, tuple(described.languages)
    with reading(folder / CONFIG):
        detector = Detector(languages, described.scripts)
    return Bundle(
        name=described.name,
        languages=languages,
        directions=_directions(folder, languages),
        model=model.to(device).eval(),
        tokenizer=tokenizer,
        digest=_digest_of(sums),
        card=read_text(card) if card.is_file() else "",
        detector=detector,
    )


def _described(path: Path) -> tuple[Described, ModelConfig]:
    described = as_type(path, Described, read_json(path, CONFIG_BYTES))
    as_type(path, ModelConfig, described.config, "config")
    with reading(path):
        return described, ModelConfig.from_json(described.config)


def _shapes(config: ModelConfig) -> dict[str, tuple[int, ...]]:
    """Return the shapes of a model's weights; takes no memory for them."""
    with torch.device("meta"):
        model = Transformer(config)
    return {name: tuple(value.shape) for name, value in model.state_dict().items()}


def _check_tokenizer(
    folder: Path, tokenizer: Tokenizer, described: Described, config: ModelConfig
) -> None:
    path = folder / TOKENIZER
    if len(tokenizer) != config.vocabulary:
        raise FileError(
            path,
            f"it has {len(tokenizer)} subwords, but the config has {config.vocabulary}",
        )
    if {*described.languages} != {*tokenizer.languages} or not described.languages:
        languages = ", ".join(tokenizer.languages) or "none"
        raise FileError(folder / CONFIG, f"languages must be those of the tokenizer: {languages}")


def _check_weights(path: Path, expected: Mapping[str, tuple[int, ...]]) -> None:
    """Raise `FileError` if the header has other tensors than the config asks for."""
    stored = tensor_shapes(path)
    for name in sorted({*expected, *stored}):
        kind, shape = stored.get(name, ("", None))
        if shape != expected.get(name):
            raise FileError(
                path,
                f"the weights do not fit the config: {name[:100]} has the shape {shape}, but the "
                f"config asks for {expected.get(name)}",
            )
        if kind not in FLOATS:
            raise FileError(path, f"{name} has numbers of the type {kind}, not one of floats")


def _directions(folder: Path, languages: tuple[str, ...]) -> tuple[str, ...]:
    """Return the directions in the training record, or all between two languages."""
    directions = tuple(f"{source}-{target}" for source, target in permutations(languages, 2))
    path = folder / TRAINING
    if not path.is_file():
        return directions
    trained = as_type(
        path, list[str], read_json(path).get("directions", [*directions]), "directions"
    )
    if not trained or not {*trained} <= {*directions}:
        raise FileError(
            path, f"directions must be some of {', '.join(directions)}, not {trained[:9]}"
        )
    return tuple(direction for direction in directions if direction in trained)
