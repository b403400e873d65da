"""Attention weights from the outputs of a model that does not use the attention interface."""

from __future__ import annotations

import torch
from torch import Tensor


def is_scores(found: Tensor) -> bool:
    """Return whether a model reports scores before the softmax as its weights.

    ProphetNet does. In a probe with padding, scores are negative where a key is masked.
    """
    return bool((found < 0).any())


def as_weights(found: Tensor, keys: int, *, scores: bool, banded: bool) -> Tensor:
    """Convert what a model reports to weights (B, H, N, M).

    If `scores`, a softmax is applied. If `banded`, the input has the form of LED and Longformer,
    (B, H, N, w + 1): the weights of keys i − w/2 to i + w/2 for query i.
    """
    if scores:
        return found.softmax(dim=-1)
    return _unbanded(found, keys) if banded else found


def _unbanded(found: Tensor, keys: int) -> Tensor:
    batch, heads, queries, width = found.shape
    key = torch.arange(queries)[:, None] + torch.arange(width) - width // 2  # (N, w + 1)
    inside = ((key >= 0) & (key < keys)).to(found.device)
    key = key.clamp(0, keys - 1).to(found.device).expand(batch, heads, -1, -1)
    full = torch.zeros(batch, heads, queries, keys, dtype=found.dtype, device=found.device)
    return full.scatter_add(-1, key, found.where(inside, 0))
