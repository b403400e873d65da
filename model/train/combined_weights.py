"""Weights made of trained ones: the mean of several models, and heads merged in pairs."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor

from model.bundle.measurements import LEARNING, Learning, load_learning, report_of, save
from model.bundle.weights import TOKENIZER, TRAINING, WEIGHTS, load_bundle, save_bundle
from model.transformer.attention import MultiHeadAttention
from model.transformer.config import ModelConfig
from model.transformer.positions import POSITIONS


def average(paths: Sequence[Path]) -> dict[str, Tensor]:
    """Return the mean of the weights in several files (section 6.1 of the paper)."""
    total = {name: value.double() for name, value in load_file(paths[0]).items()}
    for path in paths[1:]:
        for name, value in load_file(path).items():
            total[name] += value
    return {name: (value / len(paths)).float() for name, value in total.items()}


def average_bundles(folder: Path, paths: Sequence[Path]) -> None:
    """Write the mean of several bundles as one; the training record is that of the first.

    Raises `ValueError` if one has another shape or vocabulary than the first.
    """
    bundles = [load_bundle(path) for path in paths]
    first = bundles[0]
    for path, bundle in zip(paths, bundles, strict=True):
        same_tokens = (path / TOKENIZER).read_bytes() == (paths[0] / TOKENIZER).read_bytes()
        if not same_tokens or bundle.model.config != first.model.config:
            raise ValueError(f"{path} has another shape or vocabulary than {paths[0]}")
    mean = average([path / WEIGHTS for path in paths])
    save_bundle(folder, mean, first.model.config, first.tokenizer, first.name)
    if (paths[0] / TRAINING).is_file():
        shutil.copyfile(paths[0] / TRAINING, folder / TRAINING)


def merge_bundle(folder: Path, path: Path) -> None:
    """Write a bundle with its encoder's heads merged by their cost in its report, to train on.

    The training record comes along, and the history with the heads that keep their pattern.

    Raises `ValueError` if its heads cannot be merged, and `FileError` if it has no report, or one
    of other weights.
    """
    bundle = load_bundle(path)
    kept_heads: dict[str, list[int]] = {}
    config = merged_config(bundle.model.config)
    told = report_of(path, bundle)["heads"]
    cost = {(head["attention"], head["head"]): head["zero"] for head in told}
    parts = bundle.model.encoder.modules()
    attentions = [part for part in parts if isinstance(part, MultiHeadAttention)]
    for number, attention in enumerate(attentions):
        place = f"encoder.{number}.self"
        costs = [cost[place, head] for head in range(attention.heads)]
        kept_heads[place] = merge_heads(attention, costs)
    weights = bundle.model.state_dict()
    save_bundle(folder, weights, config, bundle.tokenizer, bundle.name, torch.float32)
    if (path / TRAINING).is_file():
        shutil.copyfile(path / TRAINING, folder / TRAINING)
    if (path / LEARNING).is_file():
        learning = with_heads(load_learning(path / LEARNING), kept_heads)
        save(replace(learning, digest=load_bundle(folder).digest), folder / LEARNING)


def merged_config(config: ModelConfig) -> ModelConfig:
    """Return the config of the merged model.

    Raises `ValueError` for an odd number of heads, and for scores or positions that d_k changes.
    """
    heads = config.heads_of["encoder"]
    if heads % 2:
        raise ValueError(f"{heads} encoder heads cannot be merged in pairs")
    if not config.fusible or POSITIONS[config.positions].pairs == "d_k":
        parts = f"scoring {config.scoring} and positions {config.positions}"
        raise ValueError(f"heads with {parts} cannot be merged: their scores depend on d_k")
    return replace(config, encoder_heads=heads // 2)


@torch.no_grad()
def merge_heads(attention: MultiHeadAttention, costs: list[float]) -> list[int]:
    """Merge heads in pairs, in place: the costliest with the one that costs least, and so on.

    A merged head has the first one's weights and both values: its queries are the first one's,
    scaled for 2 d_k channels, and zeros. `costs` has a number for each head. Return the first ones.
    """
    old = attention.heads
    order = sorted(range(old), key=lambda head: -costs[head])
    pairs = list(zip(order[: old // 2], reversed(order[old // 2 :]), strict=True))
    d_k = attention.W_q.out_features // old
    channels = torch.tensor([head * d_k + c for pair in pairs for head in pair for c in range(d_k)])
    from_first = (torch.arange(len(channels)) // d_k % 2 == 0).to(
        attention.W_q.weight
    )  # (d_model,)
    scaling = type(attention.scoring)
    scale = from_first * scaling(old, d_k).scale / scaling(old // 2, 2 * d_k).scale
    for projection in (attention.W_q, attention.W_k, attention.W_v):
        for part in (projection.weight, projection.bias):
            if part is not None:
                part.copy_(part[channels])
    for part in (attention.W_q.weight, attention.W_q.bias):
        if part is not None:
            part.mul_(scale if part.dim() == 1 else scale[:, None])
    attention.W_o.weight.copy_(attention.W_o.weight[:, channels])
    attention.heads, attention.scoring = old // 2, scaling(old // 2, 2 * d_k)
    return [first for first, _ in pairs]


def with_heads(learning: Learning, kept_heads: Mapping[str, list[int]]) -> Learning:
    """Return a history with only some heads of some attentions, in this order."""
    weights = dict(learning.weights)
    for name, value in weights.items():
        place = name.split(".", 2)[2].removesuffix(".weights")
        if place in kept_heads:
            weights[name] = value[kept_heads[place]]
    return replace(learning, weights=weights)
