"""Scoring (section 3.2.1): how well a query and a key fit.

A scoring is a part of the shape `Scoring(q, k) -> scores` and one line in `SCORINGS`.

Shapes: B batch, H heads, N queries, M keys, d_k channels of a head.
"""

from __future__ import annotations

import math

from torch import Tensor, nn


class Scoring(nn.Module):
    """The part's call shape: `q` (B, H, N, d_k), `k` (B, H, M, d_k) -> scores (B, H, N, M).

    What it learns are parameters of its own, made and initialised in `__init__`.
    """

    fusible = False  # scores are `scale` · q·k, as in torch's fused kernel
    scale = 1.0

    def __init__(self, heads: int, d_k: int) -> None:
        super().__init__()

    def forward(self, q: Tensor, k: Tensor) -> Tensor:
        """The scores, before positions and mask."""
        raise NotImplementedError


class ScaledDot(Scoring):
    """Q Kᵀ / √d_k: products of unit size whatever d_k is (Vaswani et al. 2017, equation 1)."""

    fusible = True

    def __init__(self, heads: int, d_k: int) -> None:
        super().__init__(heads, d_k)
        self.root = math.sqrt(d_k)
        self.scale = 1 / self.root

    def forward(self, q: Tensor, k: Tensor) -> Tensor:
        """(B, H, N, M)."""
        return q @ k.transpose(-2, -1) / self.root


class Dot(Scoring):
    """Q Kᵀ as it is (Luong et al. 2015, equation 8, "dot")."""

    fusible = True

    def forward(self, q: Tensor, k: Tensor) -> Tensor:
        """(B, H, N, M)."""
        return q @ k.transpose(-2, -1)


SCORINGS: dict[str, type[Scoring]] = {
    "scaled-dot": ScaledDot,
    "dot": Dot,
}
