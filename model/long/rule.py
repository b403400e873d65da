"""Masks that are evaluated block by block instead of as an N × M tensor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

BLOCK = 256  # rows evaluated at once


@dataclass(eq=False)
class Rule:
    """A mask as a function: `allows(rows, keys)` is true where a row may attend to a key.

    `rows` and `keys` are slices with both ends; the result is boolean, (rows, keys).
    """

    allows: Callable[[slice, slice], Tensor]
    queries: int
    keys: int

    @classmethod
    def all(cls, queries: int, keys: int, device: torch.device) -> Rule:
        """Return the rule that hides nothing."""
        one = torch.ones((1, 1), dtype=torch.bool, device=device)

        def allows(rows: slice, keys: slice) -> Tensor:
            return one.expand(rows.stop - rows.start, keys.stop - keys.start)

        return cls(allows, queries, keys)

    @cached_property
    def _bands(self) -> tuple[list[tuple[int, int]], bool, bool]:
        """Return the allowed keys of each block, and whether the rule is open or causal."""
        bands, open_, causal = list[tuple[int, int]](), True, self.queries == self.keys
        for start in range(0, self.queries, BLOCK):
            rows = slice(start, min(start + BLOCK, self.queries))
            mask = self.allows(rows, slice(0, self.keys))
            seen = mask.any(0).nonzero()
            bands.append((int(seen[0]), int(seen[-1]) + 1) if len(seen) else (0, 0))
            open_ = open_ and bool(mask.all())
            if causal:
                at = torch.arange(self.keys, device=mask.device)
                causal = torch.equal(mask, at <= at[rows, None])
        return bands, open_, causal

    @property
    def open(self) -> bool:
        """Whether every query may attend to every key."""
        return self._bands[1]

    @property
    def causal(self) -> bool:
        """Whether every query may attend to exactly the keys up to its own position."""
        return self._bands[2]

    def band(self, rows: slice) -> slice:
        """Return the range of keys that contains all keys to which any of the rows may attend."""
        if self.open:
            return slice(0, self.keys)
        if self.causal:
            return slice(0, rows.stop)
        found = [
            band
            for band in self._bands[0][rows.start // BLOCK : (rows.stop - 1) // BLOCK + 1]
            if band[1]
        ]
        return slice(min((a for a, _ in found), default=0), max((b for _, b in found), default=0))

    def mask(self, rows: slice, keys: slice) -> Tensor | None:
        """Return the mask (rows, keys); None if it hides nothing."""
        if self.open or (self.causal and keys.stop <= rows.start + 1):
            return None
        return self.allows(rows, keys)

    def hide(self, scores: Tensor, rows: slice, keys: slice) -> Tensor:
        """Set masked scores (rows, keys) to −inf, in place."""
        free = min(rows.start + 1, keys.stop) - keys.start if self.causal else 0
        free = max(0, free)  # the first keys, which all rows may attend to
        mask = self.mask(rows, slice(keys.start + free, keys.stop))
        if mask is not None:
            scores[:, free:].masked_fill_(~mask, -torch.inf)
        return scores
