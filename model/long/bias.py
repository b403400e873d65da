"""Biases added to the scores, stored by offset if they depend only on it."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Bias:
    """A bias (H, N, M), stored in full or as a table (H, N + M − 1) by key − query."""

    table: Tensor
    queries: int | None  # None: stored in full

    @classmethod
    def of(cls, bias: Tensor) -> Bias | None:
        """Store a bias (H or 1, N, M), such as T5's relative positions; return None if all zero."""
        if not bias.any():
            return None
        if torch.equal(bias[:, 1:, 1:], bias[:, :-1, :-1]):
            # The first column from bottom to top, then the first row.
            table = torch.cat([bias[:, :, 0].flip(1), bias[:, 0, 1:]], dim=1)
            return cls(table.clone(), bias.shape[1])
        return cls(bias.clone(), None)

    @property
    def bytes(self) -> int:
        """Memory of its tensor."""
        return self.table.nbytes

    def __call__(self, heads: slice, rows: slice, keys: slice) -> Tensor:
        """Return the bias of some heads (heads, rows, keys)."""
        table = self.table if self.table.shape[0] == 1 else self.table[heads]
        if self.queries is None:
            return table[:, rows, keys]
        row = torch.arange(rows.start, rows.stop, device=table.device)
        key = torch.arange(keys.start, keys.stop, device=table.device)
        return table[:, key - row[:, None] + self.queries - 1]
