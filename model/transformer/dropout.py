"""Dropout (section 5.4) with fewer random numbers.

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
