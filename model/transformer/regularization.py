"""Regularization (section 5.4): dropout, also of whole heads, and label smoothing.

On a CPU, torch draws one number per entry, which takes a large part of a training step. One byte
per entry is enough, and one draw gives eight bytes (`make bench` compares both).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

LEVELS = 256


def keep(shape: torch.Size, p: float) -> Tensor:
    """Draw a mask on the CPU, true with probability 1 − p, where p is rounded to 256ths."""
    entries = shape.numel()
    draws = torch.empty(-(-entries // 8), dtype=torch.int64).random_(-(2**63), None)
    return (draws.view(torch.uint8)[:entries] >= round(p * LEVELS)).view(shape)


class Dropout(nn.Module):
    """Zeroes a share p of the entries during training, and scales the others by 1 / (1 − p)."""

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        """Apply dropout to a tensor of any shape."""
        if not self.training or self.p == 0:
            return x
        if x.device.type != "cpu":
            return F.dropout(x, self.p)
        return x * keep(x.shape, self.p) * (LEVELS / (LEVELS - round(self.p * LEVELS)))


class HeadDropout(nn.Module):
    """Drops whole heads during training, each with probability p, for each sentence separately.

    The other heads of that sentence are scaled by h / (number kept). Their factors always sum to h,
    so by symmetry the expectation of each is exactly 1. If all heads are drawn, none is dropped.

    Source: Zhou et al. 2020, Scheduled DropHead (arXiv:2004.13342), without its schedule.
    """

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, mix: Tensor) -> Tensor:
        """Apply head dropout to what the heads read: (B, H, N, d_k) -> (B, H, N, d_k)."""
        if not self.training or self.p == 0:
            return mix
        kept = torch.rand(mix.shape[:2], device=mix.device) >= self.p
        kept |= ~kept.any(dim=1, keepdim=True)
        factors = kept * (mix.shape[1] / kept.sum(dim=1, keepdim=True))
        return (mix * factors[:, :, None, None]).to(mix.dtype)


def wanted(written: Tensor, vocabulary: int, smoothing: Tensor) -> Tensor:
    """Return the target distributions: ids (N,) -> (N, V) float64.

    The written token gets 1 − ε, and ε is spread over the whole vocabulary, including that token
    (Szegedy et al. 2016, section 7).
    """
    is_written = torch.arange(vocabulary) == written[:, None]
    return is_written.double() * (1 - smoothing) + smoothing / vocabulary
