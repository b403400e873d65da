"""Weights and mix of attention on a CPU without scores; of a large one, block by block of rows.

    weights = softmax(q · k · scale), a fully masked row is zeros          mix = weights · v

Weights replace their scores in place. In a large attention, scores exist for one block of rows of
one head at a time, small enough for the processor's cache, and keys that no row of a block may
attend to are skipped. So each weight is written to memory once, instead of a score, a masked score
and a weight.

Shapes: B batch, H heads, G heads of keys and values, N queries, M keys, d channels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

LARGE = 1 << 16  # weights of a head; with fewer, computing all heads at once is as fast
CACHED = 1 << 18  # scores of a block that hides nothing, 1 MB
BLOCK = 128  # rows of a block that hides some keys: the fewer rows, the more keys to skip


def attention(
    q: Tensor, k: Tensor, v: Tensor, allowed: Tensor, scale: float
) -> tuple[Tensor, Tensor]:
    """Return weights (B, H, N, M) and mix (B, H, N, d_v) in float32, without gradients.

    q (B, H, N, d), k (B, G, M, d), v (B, G, M, d_v), allowed (B, N, M), true = may attend.
    """
    some = _in_blocks if q.shape[2] * k.shape[2] >= LARGE else _at_once
    return some(q, k, v, allowed, scale)


def _at_once(
    q: Tensor, k: Tensor, v: Tensor, allowed: Tensor, scale: float
) -> tuple[Tensor, Tensor]:
    shape = *q.shape[:3], k.shape[2]
    group = q.shape[1] // k.shape[1]
    q, k, v = (
        one.repeat_interleave(times, dim=1).flatten(0, 1) if times > 1 else one.flatten(0, 1)
        for one, times in ((q, 1), (k, group), (v, group))
    )
    weights = q.new_empty(len(q), *shape[2:])
    torch.baddbmm(weights, q, k.mT, beta=0, alpha=scale, out=weights)
    full = weights.view(shape)
    if not (mask := allowed.numpy()).all():
        full.masked_fill_(~allowed[:, None], -torch.inf)
    torch.softmax(weights, -1, out=weights)
    if not mask.any(axis=-1).all():
        full.masked_fill_(~allowed.any(-1)[:, None, :, None], 0)
    return full, (weights @ v).view(*shape[:3], -1)


def _in_blocks(
    q: Tensor, k: Tensor, v: Tensor, allowed: Tensor, scale: float
) -> tuple[Tensor, Tensor]:
    (batch, heads, queries, _), keys = q.shape, k.shape[2]
    group = heads // k.shape[1]
    # NumPy asks for large pages, and they come zeroed: masked weights need no write.
    weights = torch.from_numpy(np.zeros((batch, heads, queries, keys), np.float32))
    mix = q.new_zeros(batch, heads, queries, v.shape[3])
    scratch = q.new_empty(max(CACHED, BLOCK * keys))
    for row in range(batch):
        blocks = list(_blocks(allowed[row]))
        for head in range(heads):
            of_k, of_v = k[row, head // group], v[row, head // group]
            for block in blocks:
                at = row, head, block.rows
                found = weights[at][:, block.keys]
                block.write(found, q[at], of_k[block.keys], scale, scratch)
                torch.mm(found, of_v[block.keys], out=mix[at])
    return weights, mix


@dataclass(frozen=True)
class Block:
    """A range of rows, the range of keys that any of them may attend to, and what they may not."""

    rows: slice
    keys: slice
    partly: slice  # of these keys: the range of those hidden from some row
    hidden: Tensor  # (rows, partly), true = may not attend
    empty: Tensor | None  # (rows, 1), true = may not attend to any key; None: there is no such row

    def write(self, found: Tensor, q: Tensor, k: Tensor, scale: float, scratch: Tensor) -> None:
        """Write the weights (rows, keys) of queries (rows, d) and keys (keys, d)."""
        scores = scratch[: found.numel()].view(found.shape)
        torch.addmm(scores, q, k.T, beta=0, alpha=scale, out=scores)
        scores[:, self.partly].masked_fill_(self.hidden, -torch.inf)
        torch.softmax(scores, -1, out=found)
        if self.empty is not None:
            found.masked_fill_(self.empty, 0)


def _blocks(allowed: Tensor) -> Iterator[Block]:
    """Yield the blocks of a mask (N, M), without those whose rows may not attend to any key."""
    mask: NDArray[np.bool_] = allowed.numpy()
    step = max(BLOCK, CACHED // mask.shape[1]) if mask.all() else BLOCK
    for start in range(0, len(mask), step):
        part = mask[start : start + step]
        (some,) = np.nonzero(part.any(axis=0))
        if not len(some):
            continue
        keys = slice(int(some[0]), int(some[-1]) + 1)
        (hidden,) = np.nonzero(~part[:, keys].all(axis=0))
        partly = slice(int(hidden[0]), int(hidden[-1]) + 1) if len(hidden) else slice(0, 0)
        empty = ~part.any(axis=1, keepdims=True)
        yield Block(
            slice(start, start + len(part)),
            keys,
            partly,
            torch.from_numpy(~part[:, keys][:, partly]),
            torch.from_numpy(empty) if empty.any() else None,
        )
