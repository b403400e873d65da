"""A trained model as one folder: config, tokenizer, weights, card. JSON and safetensors only.

config.json          languages, name and hyperparameters
tokenizer.json       vocabulary and its rules
weights.safetensors  parameters, half precision by default
README.md            the model card: data, licences, metrics, limits
means.safetensors    each head's mean output over training data (`python -m model.means`); optional
learning.safetensors attention at steps of the training run (`python -m model.learning`); optional
report.json          what each head does, over many sentences (`python -m model.report`); optional
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor

from model.config import ModelConfig
from model.tokens import Tokenizer
from model.transformer import Transformer

CHECKPOINTS = Path(__file__).parent / "checkpoints"
CONFIG, TOKENIZER, WEIGHTS, CARD = (
    "config.json",
    "tokenizer.json",
    "weights.safetensors",
    "README.md",
)
MEANS = "means.safetensors"
LEARNING = "learning.safetensors"
REPORT = "report.json"


@dataclass(frozen=True)
class Aligner:
    """The head of the cross attention that is nearest to alignments made by people."""

    layer: int
    head: int
    error_rate: float  # AER, on pairs that it was not chosen by


@dataclass(frozen=True)
class Bundle:
    """What a folder holds, read and put together."""

    name: str
    languages: tuple[str, ...]
    model: Transformer
    tokenizer: Tokenizer
    digest: str
    card: str
    means: Mapping[str, Tensor] = field(default_factory=dict)  # "encoder.1.self.mix": (H, d_k)
    aligner: Aligner | None = None


def digest_of(folder: Path) -> str:
    """SHA-256 (hex) of everything that decides what the model answers.

    Not of the means, which only `mean` uses: they name the digest of the weights that they are of.
    """
    digest = hashlib.sha256()
    for name in (CONFIG, TOKENIZER, WEIGHTS):
        digest.update(hashlib.sha256((folder / name).read_bytes()).digest())
    return digest.hexdigest()


def save_bundle(
    folder: Path,
    weights: Mapping[str, Tensor],
    config: ModelConfig,
    tokenizer: Tokenizer,
    name: str,
    dtype: torch.dtype = torch.float16,
) -> None:
    """Writes everything but the card, which `python -m model.figures` writes from measurements."""
    folder.mkdir(parents=True, exist_ok=True)
    described = {
        "name": name,
        "languages": list(tokenizer.languages),
        "config": config.to_json(),
    }
    (folder / CONFIG).write_text(json.dumps(described, indent=2, ensure_ascii=False) + "\n")
    tokenizer.save(folder / TOKENIZER)
    stored = {key: value.to(dtype).contiguous() for key, value in weights.items()}
    save_file(stored, folder / WEIGHTS)


def load_bundle(folder: Path, device: str | torch.device = "cpu") -> Bundle:
    """Reads a folder; the weights become float32.

    Raises `FileNotFoundError` for a folder that is no bundle and `ValueError` where its parts do
    not fit each other.
    """
    for name in (CONFIG, TOKENIZER, WEIGHTS):
        if not (folder / name).is_file():
            raise FileNotFoundError(f"{folder} is not a model bundle: it has no {name}")
    described = json.loads((folder / CONFIG).read_text())
    config = ModelConfig.from_json(described["config"])
    tokenizer = Tokenizer.load(folder / TOKENIZER)
    if len(tokenizer) != config.vocabulary:
        raise ValueError(
            f"{folder}: the tokenizer has {len(tokenizer)} subwords, the config says "
            f"{config.vocabulary}"
        )
    model = Transformer(config)
    try:
        model.load_state_dict(load_file(folder / WEIGHTS))  # copies into float32
    except RuntimeError as error:
        raise ValueError(f"{folder}: the weights do not fit the config: {error}") from error
    card = folder / CARD
    digest = digest_of(folder)
    return Bundle(
        name=described["name"],
        languages=tuple(described["languages"]),
        model=model.to(device).eval(),
        tokenizer=tokenizer,
        digest=digest,
        card=card.read_text() if card.is_file() else "",
        means=_means(folder / MEANS, digest, config, device),
        aligner=_aligner(folder / REPORT, digest),
    )


def _aligner(path: Path, digest: str) -> Aligner | None:
    """The best head for alignment, if a report lies beside the weights and says one."""
    if not path.is_file():
        return None
    report = json.loads(path.read_text(encoding="utf-8"))
    if report["digest"] != digest:
        raise ValueError(f"{path}: the report is of other weights; run model.report again")
    if not report["alignment"]:
        return None
    best = report["alignment"]["best"]
    return Aligner(best["layer"], best["head"], best["reported on"])


def _means(
    path: Path, digest: str, config: ModelConfig, device: str | torch.device
) -> dict[str, Tensor]:
    """The means that lie beside the weights, if any do."""
    if not path.is_file():
        return {}
    with safe_open(path, framework="pt", device=str(device)) as file:
        if (file.metadata() or {}).get("digest") != digest:
            raise ValueError(f"{path}: the means are of other weights; run model.means again")
        found: dict[str, Tensor] = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    if any(mean.shape != (config.heads, config.d_k) for mean in found.values()):
        raise ValueError(f"{path}: the means do not fit the config")
    return found
