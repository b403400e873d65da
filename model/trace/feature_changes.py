"""Changes of any tensor whose last axis is features: zeros, a factor, one value, an added vector.

Each acts on every number alone, so it can be restricted to some heads, rows or features, and its
result does not depend on padding or on other requests.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

# Tensors whose last axis is features, hidden units or channels, and that later values are computed
# from.
FEATURES = (
    *("embedding", "position", "input"),
    *("q", "k", "v", "mix"),
    *("hidden", "projected", "output", "residual", "norm"),
)
PATTERNS = tuple(f"*.{name}" for name in FEATURES)


@dataclass(frozen=True, eq=False)
class Added:
    """A vector (features,) that is added to rows."""

    value: Tensor


def scaled(value: Tensor, factor: float, _: Any) -> Tensor:
    """Multiply by a factor."""
    return value * factor


def filled(value: Tensor, number: float, _: Any) -> Tensor:
    """Set every number to one value."""
    return torch.full_like(value, number)


def moved(value: Tensor, added: Added, _: Any) -> Tensor:
    """Add a vector to each row."""
    return value + added.value.to(value.dtype)


def within(
    before: Tensor,
    after: Tensor,
    start: int,
    heads: Collection[int] | None,
    rows: Collection[int] | None,
    units: Collection[int] | None,
) -> Tensor:
    """Return `after` (H?, N, M) at the chosen heads, rows and features, `before` elsewhere.

    None chooses all of an axis. The first row is at position `start`; a row that is not there is
    left out.
    """
    for axis, first, chosen in ((-3, 0, heads), (-2, start, rows), (-1, 0, units)):
        if chosen is not None:
            at = torch.zeros(before.shape[axis], dtype=torch.bool, device=before.device)
            at[[one - first for one in chosen if 0 <= one - first < len(at)]] = True
            after = torch.where(at.view(-1, *[1] * (-1 - axis)), after, before)
    return after
