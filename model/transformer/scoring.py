"""Scoring functions (section 3.2.1): how well a query and a key match.

A scoring is a part with the signature `Scoring(q, k) -> scores` and one line in `SCORINGS`.

Shapes: B batch, H heads, N queries, M keys, d_k channels of a head.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Protocol

import torch
from torch import Tensor, nn

from model.trace.tensor_tap import CHANNEL, HEAD


class Scoring(Protocol):
    """The call signature: `q` (B, H, N, d_k), `k` (B, H, M, d_k) -> scores (B, H, N, M).

    A scoring with parameters is also an `nn.Module`, initialises them itself, and names
    their axes in `learns`.
    """

    learns: Mapping[str, tuple[str, ...]]

    fusible: bool  # scores are `scale` · q·k, as in torch's fused kernel
    scale: float

    def __init__(self, heads: int, d_k: int) -> None: ...

    def __call__(self, q: Tensor, k: Tensor) -> Tensor: ...


class ScaledDot:
    """Q Kᵀ / √d_k: products of unit size for any d_k (Vaswani et al. 2017, equation 1)."""

    learns: Mapping[str, tuple[str, ...]] = {}
    fusible = True

    def __init__(self, heads: int, d_k: int) -> None:
        self.root = math.sqrt(d_k)
        self.scale = 1 / self.root

    def __call__(self, q: Tensor, k: Tensor) -> Tensor:
        return q @ k.transpose(-2, -1) / self.root


class Dot:
    """Q Kᵀ without scaling (Luong et al. 2015, equation 8, "dot")."""

    learns: Mapping[str, tuple[str, ...]] = {}
    fusible = True
    scale = 1.0

    def __init__(self, heads: int, d_k: int) -> None:
        pass

    def __call__(self, q: Tensor, k: Tensor) -> Tensor:
        return q @ k.transpose(-2, -1)


class Additive(nn.Module):
    """w · tanh(q_i + k_j), with one w per head (Bahdanau et al. 2015, appendix A.1.2).

    Their W_a s and U_a h are our q and k. Initial scores are as large as those of `ScaledDot`.
    """

    learns: Mapping[str, tuple[str, ...]] = {"w": (HEAD, CHANNEL)}
    fusible = False
    scale = 1.0

    def __init__(self, heads: int, d_k: int) -> None:
        super().__init__()
        self.w = nn.Parameter(torch.randn(heads, d_k) * d_k**-0.5)

    def forward(self, q: Tensor, k: Tensor) -> Tensor:
        """Return scores: `q` (B, H, N, d_k), `k` (B, H, M, d_k) -> (B, H, N, M)."""
        return self.of(q[..., :, None, :] + k[..., None, :, :])

    def of(self, sums: Tensor) -> Tensor:
        """Return scores of the sums of queries and keys: (B, H, N, M, d_k) -> (B, H, N, M)."""
        scores: Tensor = torch.einsum("bhnmd,hd->bhnm", sums.tanh(), self.w)
        return scores


class AdditiveBias(Additive):
    """w · tanh(q_i + k_j + b), with one w and one b per head; b starts at zero."""

    learns: Mapping[str, tuple[str, ...]] = {"w": (HEAD, CHANNEL), "b": (HEAD, CHANNEL)}

    def __init__(self, heads: int, d_k: int) -> None:
        super().__init__(heads, d_k)
        self.b = nn.Parameter(torch.zeros(heads, d_k))

    def of(self, sums: Tensor) -> Tensor:
        """Return scores of the sums of queries and keys: (B, H, N, M, d_k) -> (B, H, N, M)."""
        return super().of(sums + self.b[:, None, None])


SCORINGS: dict[str, type[Scoring]] = {
    "scaled-dot": ScaledDot,
    "dot": Dot,
    "additive": Additive,
    "additive-bias": AdditiveBias,
}
