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
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from model.text.detect import Detector, usual
from model.text.tokens import Tokenizer
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
    return {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest()
        for name in (CONFIG, TOKENIZER, WEIGHTS)
    }


def _digest_of(sums: Mapping[str, str]) -> str:
    return hashlib.sha256(b"".join(bytes.fromhex(one) for one in sums.values())).hexdigest()


def _check(folder: Path, sums: Mapping[str, str]) -> None:
    """Raise `ValueError` for a file that does not match SHA256SUMS; a bundle may have none."""
    told = folder / SUMS
    if not told.is_file():
        return
    for line in told.read_text().splitlines():
        expected, _, name = line.partition("  ")
        if (found := sums.get(name)) != expected:
            raise ValueError(
                f"{folder / name}: its SHA-256 is {found}, but {SUMS} has {expected}: the file was "
                "modified or truncated"
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

    Raises `FileNotFoundError` for a folder that is not a bundle, and `ValueError` if its parts do
    not fit together, or have changed since they were written.
    """
    for name in (CONFIG, TOKENIZER, WEIGHTS):
        if not (folder / name).is_file():
            raise FileNotFoundError(f"{folder} is not a model bundle: it has no {name}")
    sums = _sums(folder)
    _check(folder, sums)
    described = json.loads((folder / CONFIG).read_text())
    config = ModelConfig.from_json(described["config"])
    tokenizer = Tokenizer.load(folder / TOKENIZER)
    if len(tokenizer) != config.vocabulary:
        raise ValueError(
            f"{folder}: the tokenizer has {len(tokenizer)} subwords, but the config has "
            f"{config.vocabulary}"
        )
    model = Transformer(config)
    try:
        model.load_state_dict(load_file(folder / WEIGHTS))  # copies into float32
    except RuntimeError as error:
        raise ValueError(f"{folder}: the weights do not fit the config: {error}") from error
    card = folder / CARD
    languages = tuple(described["languages"])
    return Bundle(
        name=described["name"],
        languages=languages,
        directions=_directions(folder, languages),
        model=model.to(device).eval(),
        tokenizer=tokenizer,
        digest=_digest_of(sums),
        card=card.read_text() if card.is_file() else "",
        detector=Detector(languages, described.get("scripts", {})),
    )


def _directions(folder: Path, languages: tuple[str, ...]) -> tuple[str, ...]:
    """Return the directions in the training record, or all between two languages."""
    every = tuple(f"{source}-{target}" for source, target in permutations(languages, 2))
    path = folder / TRAINING
    if not path.is_file():
        return every
    trained = json.loads(path.read_text(encoding="utf-8")).get("directions", every)
    if not trained or not {*trained} <= {*every}:
        raise ValueError(f"{path}: directions must be some of {', '.join(every)}, not {trained}")
    return tuple(one for one in every if one in trained)
