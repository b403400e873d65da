"""Cross-entropy with label smoothing (section 5.4)."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional as F


def wanted(written: Tensor, vocabulary: int, smoothing: float) -> Tensor:
    """Return the target distributions: ids (N,) -> (N, V) float64.

    The written token gets 1 − ε, and ε is spread over the whole vocabulary, including that token
    (Szegedy et al. 2016, section 7).
    """
    return F.one_hot(written, vocabulary).double() * (1 - smoothing) + smoothing / vocabulary


def cross_entropies(logits: Tensor, written: Tensor, smoothing: float) -> Tensor:
    """Return the smoothed cross-entropy of each row: (N, V) and ids (N,) -> (N,)."""
    return F.cross_entropy(logits, written, reduction="none", label_smoothing=smoothing)
