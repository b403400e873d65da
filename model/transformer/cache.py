"""A cache of keys and values, so that a decoding step computes only the new token."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

KeysValues = tuple[Tensor, Tensor]  # k and v, (B, H, M, d_k) each


class LayerCache:
    """The cache of a decoder layer: its own keys grow with every token, the source's do not."""

    def __init__(self) -> None:
        self.own: KeysValues | None = None
        self.source: KeysValues | None = None

    def grow(self, project: Callable[[], KeysValues]) -> KeysValues:
        """Project the new tokens and return their keys and values after all earlier ones."""
        k, v = project()
        if self.own is not None:
            k, v = torch.cat([self.own[0], k], dim=2), torch.cat([self.own[1], v], dim=2)
        self.own = (k, v)
        return self.own

    def once(self, project: Callable[[], KeysValues]) -> KeysValues:
        """Project the encoder's output the first time and return the same result afterwards."""
        if self.source is None:
            k, v = project()
            # Contiguous by head: otherwise the matrix product of each step copies them.
            self.source = (k.contiguous(), v.contiguous())
        return self.source

    def select(self, rows: Tensor, sources: bool = True) -> None:
        """Reorder the batch: row i becomes a copy of row `rows[i]`.

        With `sources` False, each row keeps its source's keys and values.
        """
        if self.own is not None:
            self.own = (self.own[0][rows], self.own[1][rows])
        if sources and self.source is not None:
            self.source = (self.source[0][rows], self.source[1][rows])


class Cache:
    """The decoder's cache: a `LayerCache` per layer, and how many tokens have been read."""

    def __init__(self, layers: int) -> None:
        self.layers = [LayerCache() for _ in range(layers)]
        self.length = 0

    def select(self, rows: Tensor, sources: bool = True) -> None:
        """Reorder the batch (see `LayerCache.select`)."""
        for layer in self.layers:
            layer.select(rows, sources)
