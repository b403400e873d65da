"""Finds the rotary positions of a model of `transformers`.

A rotation acts on pairs of channels (a, b), at position p by the angle p · θ:

    (x_a, x_b) → scale · (x_a cos pθ − x_b sin pθ, x_a sin pθ + x_b cos pθ)

Models differ in which channels form a pair (neighbours, or i and i + r/2 of the first r channels),
in θ, and in the scale (YaRN). Source: Su et al. 2021, "RoFormer", equations 15 and 34.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

FREQUENCIES, SCALE = "inv_freq", "attention_scaling"


@dataclass(frozen=True, eq=False)
class Rotation:
    """θ of each pair (P,), the channels of each pair (P, 2), and the scale."""

    theta: Tensor
    pairs: Tensor
    scale: float

    def __call__(self, x: Tensor, first: int = 0) -> Tensor:
        """Rotate vectors (heads, N, d) of positions `first` to `first` + N − 1."""
        at = torch.arange(first, first + x.shape[1], device=x.device)
        angles = at[:, None] * self.theta  # (N, P)
        cos, sin = angles.cos() * self.scale, angles.sin() * self.scale
        left, right = self.pairs.T
        a, b = x[..., left], x[..., right]
        out = x.clone()
        out[..., left], out[..., right] = a * cos - b * sin, a * sin + b * cos
        return out


def rotations(model: nn.Module) -> Iterator[Rotation]:
    """Yield the rotations that a model may use, in both arrangements of pairs."""
    for module in model.modules():
        for name, theta in module.named_buffers(recurse=False):
            if name.endswith(FREQUENCIES) and "original" not in name:
                scale = _scale(module, name)
                yield from (Rotation(theta, pairs, scale) for pairs in _pairs(len(theta)))


def _scale(module: Any, name: str) -> float:
    """Return the scale that belongs to frequencies, such as those of one type of layer."""
    own = name.removesuffix(FREQUENCIES) + SCALE
    return float(getattr(module, own, getattr(module, SCALE, 1.0)) or 1.0)


def _pairs(count: int) -> tuple[Tensor, Tensor]:
    channels = torch.arange(2 * count)
    return channels.view(2, count).T, channels.view(count, 2)
