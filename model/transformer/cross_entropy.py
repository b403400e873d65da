"""Cross-entropy with label smoothing (section 5.4)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

CHUNK = 256  # rows of logits at a time


def wanted(written: Tensor, vocabulary: int, smoothing: float) -> Tensor:
    """Return the target distributions: ids (N,) -> (N, V) float64.

    The written token gets 1 − ε, and ε is spread over the whole vocabulary, including that token
    (Szegedy et al. 2016, section 7).
    """
    return F.one_hot(written, vocabulary).double() * (1 - smoothing) + smoothing / vocabulary


class _CrossEntropy(torch.autograd.Function):
    """Computes loss and gradients together, in chunks of rows that fit the processor's cache.

    With p = softmax(l), V words and smoothing ε, the loss of a row is

        −log p_y + ε l_y − ε/V Σ l,  and its gradient with respect to l is  p − (1 − ε) 1_y − ε/V.
    """

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, embedding: Tensor, written: Tensor, smoothing: float
    ) -> Tensor:
        share = smoothing / len(embedding)
        summed = embedding.sum(dim=0)
        loss = -share * (x @ summed).sum()
        grad_x = torch.empty_like(x)
        grad_embedding = torch.zeros_like(embedding)
        parts = (torch.split(whole, CHUNK) for whole in (x, written[:, None], grad_x))
        for rows, ids, into in zip(*parts, strict=True):
            logits = rows @ embedding.T
            probabilities = logits.softmax(dim=-1)
            right = probabilities.gather(1, ids)
            tiny = torch.finfo(right.dtype).tiny
            loss += (smoothing * logits.gather(1, ids) - right.clamp(min=tiny).log()).sum()
            probabilities.scatter_(1, ids, right - (1 - smoothing))
            torch.mm(probabilities, embedding, out=into)
            grad_embedding.addmm_(probabilities.T, rows)
        grad_x -= share * summed
        grad_embedding -= share * x.sum(dim=0)
        ctx.save_for_backward(grad_x / len(x), grad_embedding / len(x))
        return loss / len(x)

    @staticmethod
    def backward(ctx: Any, *outer: Tensor) -> tuple[Tensor, Tensor, None, None]:
        grad_x, grad_embedding = ctx.saved_tensors
        return grad_x * outer[0], grad_embedding * outer[0], None, None


def cross_entropy(x: Tensor, embedding: Tensor, written: Tensor, smoothing: float) -> Tensor:
    """Return the mean smoothed cross-entropy of logits x Eᵀ, without storing all logits.

    `x` (N, d_model), `embedding` (V, d_model), `written` ids (N,) -> (). Equal to
    `F.cross_entropy(x @ embedding.T, written, label_smoothing=smoothing)`, and faster on a CPU
    (`make bench` prints by how much).
    """
    found: Tensor = _CrossEntropy.apply(x, embedding, written, smoothing)  # type: ignore[no-untyped-call]
    return found


def cross_entropies(logits: Tensor, written: Tensor, smoothing: float) -> Tensor:
    """Return the smoothed cross-entropy of each row: (N, V) and ids (N,) -> (N,).

    Their mean is `cross_entropy`, except where a probability is too small for its dtype:
    `cross_entropy` then uses the smallest number.
    """
    return F.cross_entropy(logits, written, reduction="none", label_smoothing=smoothing)
