"""A reward for heads that attend to different places.

Most heads of a translation model can be removed one by one (Michel et al. 2019, arXiv:1905.10650):
several do the same. Li et al. 2018, Multi-Head Attention with Disagreement Regularization
(arXiv:1810.10183), reward heads of a layer for differing. Here the reward is the generalised
Jensen–Shannon divergence of their rows (Lin 1991, Divergence measures based on the Shannon
entropy, equation 5.1):

    JSD = H(mean of the heads' rows) − mean of H(each head's row)

It grows when heads attend to different keys and when each attends to few. It says nothing about
which keys: no head is taught where to look.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


def head_divergence(layers: Sequence[Tensor], real: Tensor) -> Tensor:
    """Return the divergence of the heads of a layer, in nats; the mean over rows and layers.

    `layers` are attention weights (B, H, N, M), `real` (B, N) is false for rows that are padding.
    At least 0 (all heads alike), at most the logarithm of H or of the number of keys.
    """
    found = []
    for weights in layers:
        rows = entropy(weights.float().mean(dim=1)) - entropy(weights.float()).mean(dim=1)  # (B, N)
        found.append(rows[real].mean())
    return torch.stack(found).mean()


def entropy(p: Tensor) -> Tensor:
    """Return the entropy −Σ p ln p of the last axis, in nats; 0 ln 0 = 0."""
    nats: Tensor = torch.special.entr(p.clamp(min=1e-9))  # at 0 its slope is infinite
    return nats.sum(dim=-1)
