"""Why scores are divided by √d_k (section 3.2.1, footnote 4), measured on random vectors.

The components of queries and keys are independent with mean 0 and variance 1, so q · k has variance
d_k. With scores that large a softmax gives nearly all weight to one key, and its gradient vanishes.

Shapes: S samples, one query each, K keys, d_k channels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from model.transformer.scoring import SCORINGS, Scoring

WIDTHS = tuple(2**power for power in range(10))  # 1 to 512
SAMPLES = 200
PARTS = {"dot": "dot", "scaled": "scaled-dot"}


@dataclass(frozen=True)
class Scaling:
    """The results of a scoring at each of `WIDTHS`, as float64 arrays."""

    scores: Any
    """(width, K) of the first sample."""
    weights: Any
    """(width, K) of the first sample."""
    spread: Any
    """(width,) standard deviation of all scores."""
    largest: Any
    """(width,) mean over samples of the largest weight."""
    gradient: Any
    """(width,) mean over samples of the Frobenius norm of ∂ weights / ∂ scores."""


def scaling(keys: int, seed: int) -> dict[str, Scaling]:
    """Return the results of `dot` and `scaled` scoring on the same vectors, for `keys` keys."""
    rows: dict[str, list[dict[str, Tensor]]] = {name: [] for name in PARTS}
    for width in WIDTHS:
        q, k = drawn(width, keys, seed)
        for name, part in PARTS.items():
            rows[name].append(_measured(SCORINGS[part](1, width), q, k))
    return {
        name: Scaling(
            **{key: torch.stack([row[key] for row in by_width]).numpy() for key in by_width[0]}
        )
        for name, by_width in rows.items()
    }


def drawn(width: int, keys: int, seed: int) -> tuple[Tensor, Tensor]:
    """Return seeded queries (S, 1, d_k) and keys (S, K, d_k): standard normal, float64."""
    generator = torch.Generator().manual_seed(seed)
    shape = (SAMPLES, 1 + keys, width)
    vectors = torch.randn(shape, generator=generator, dtype=torch.float64)
    return vectors[:, :1], vectors[:, 1:]


def _measured(scoring: Scoring, q: Tensor, k: Tensor) -> dict[str, Tensor]:
    scores = scoring(q[:, None], k[:, None])[:, 0, 0]  # (S, K)
    weights = scores.softmax(dim=-1)
    jacobian = softmax_jacobian(scores)
    return {
        "scores": scores[0],
        "weights": weights[0],
        "spread": scores.std(correction=0),
        "largest": weights.amax(dim=-1).mean(),
        "gradient": jacobian.flatten(1).norm(dim=-1).mean(),
    }


def softmax_jacobian(scores: Tensor) -> Tensor:
    """Return ∂ softmax(scores)_i / ∂ scores_j by autograd: (S, K) -> (S, K, K)."""
    with torch.enable_grad():
        scores = scores.clone().requires_grad_()
        weights = scores.softmax(dim=-1)
        rows = [
            torch.autograd.grad(weights[:, i].sum(), scores, retain_graph=True)[0]  # (S, K)
            for i in range(weights.shape[-1])
        ]
    return torch.stack(rows, dim=1)
