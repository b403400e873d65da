"""Dropout (section 5.4) from few random numbers.

On a CPU torch draws one number per entry, which takes a good part of a training step. One byte per
entry is enough, and one draw gives eight of them (`make bench` compares).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

LEVELS = 256


def keep(shape: torch.Size, p: float) -> Tensor:
    """Return a mask, true with probability 1 − p, p rounded to 256ths; drawn on the CPU."""
    entries = shape.numel()
    draws = torch.empty(-(-entries // 8), dtype=torch.int64).random_(-(2**63), None)
    return (draws.view(torch.uint8)[:entries] >= round(p * LEVELS)).view(shape)


class Dropout(nn.Module):
    """Zeroes a share p of the entries during training, and scales the others by 1 / (1 − p)."""

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        """Any shape; the same shape."""
        if not self.training or self.p == 0:
            return x
        if x.device.type != "cpu":
            return F.dropout(x, self.p)
        return x * keep(x.shape, self.p) * (LEVELS / (LEVELS - round(self.p * LEVELS)))
