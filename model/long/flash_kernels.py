"""Attention that also returns the log-sum-exp of each row, from which weights follow by slice.

    mix = softmax(cap(q · k · scale) + bias) · v          logsumexp_i = log Σ_j exp(score_ij)

torch's flash kernels compute both without the N × M weights. Masks are rules that are evaluated
block by block, and biases are stored by offset if they depend only on it. Masks other than causal,
and biases, are passed to the kernels in blocks of rows; values of a different width are padded with
zeros; a sink is applied to the result. Soft-capped scores are computed explicitly, in blocks of
rows.

Shapes: H heads, G heads of keys and values (H is a multiple), N queries, M keys, d channels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor
from torch.nn import functional as F

from model.progress import go_on

BAND = 256  # rows of a mask evaluated at once
BLOCK = 256  # rows of an attention computed at once


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
        true = torch.ones((1, 1), dtype=torch.bool, device=device)

        def allows(rows: slice, keys: slice) -> Tensor:
            return true.expand(rows.stop - rows.start, keys.stop - keys.start)

        return cls(allows, queries, keys)

    @cached_property
    def _bands(self) -> tuple[list[tuple[int, int]], bool, bool]:
        """Return the allowed keys of each block, and whether the rule is open or causal."""
        bands, open_, causal = list[tuple[int, int]](), True, self.queries == self.keys
        for start in range(0, self.queries, BAND):
            rows = slice(start, min(start + BAND, self.queries))
            mask = self.allows(rows, slice(0, self.keys))
            visible = mask.any(0).nonzero()
            bands.append((int(visible[0]), int(visible[-1]) + 1) if len(visible) else (0, 0))
            open_ = open_ and bool(mask.all())
            if causal:
                key = torch.arange(self.keys, device=mask.device)
                causal = torch.equal(mask, key <= key[rows, None])
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
        bands = [
            band
            for band in self._bands[0][rows.start // BAND : (rows.stop - 1) // BAND + 1]
            if band[1]
        ]
        return slice(min((a for a, _ in bands), default=0), max((b for _, b in bands), default=0))

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


# From this version the CPU's kernel takes heads that share keys; that of 2.6 reads past them.
SHARED_KEYS = "2.13"
ALIGNED = 8  # on GPUs, an additive mask must be a slice of a tensor whose width is a multiple of 8


@dataclass(frozen=True, eq=False)
class Scored:
    """How to compute the scores of an attention from q · k."""

    rule: Rule
    scale: float
    cap: float | None = None  # scores are cap · tanh(q · k · scale / cap)
    bias: Bias | None = None  # added after the cap
    sink: Tensor | None = None  # (H,), a score in each row's sum that belongs to no key


def flash_attention(q: Tensor, k: Tensor, v: Tensor, scored: Scored) -> tuple[Tensor, Tensor]:
    """Return mix (H, N, d_v) and the log-sum-exp (H, N).

    q (H, N, d), k (G, M, d), v (G, M, d_v). For a row that may not attend to any key, both are 0.
    """
    width = max(q.shape[-1], v.shape[-1])
    mix, sums = _unsunk(_widened(q, width), _widened(k, width), _widened(v, width), scored)
    mix = mix[..., : v.shape[-1]]
    if scored.sink is None:
        return mix, sums
    with_sink = torch.logaddexp(sums, scored.sink.float()[:, None])
    return mix * (sums - with_sink).exp()[..., None], with_sink


def _widened(x: Tensor, width: int) -> Tensor:
    """Return x with zeros as further channels, which change neither products nor the mix."""
    return x if x.shape[-1] == width else F.pad(x, (0, width - x.shape[-1]))


def _unsunk(q: Tensor, k: Tensor, v: Tensor, scored: Scored) -> tuple[Tensor, Tensor]:
    """Return mix (H, N, d) and log-sum-exp (H, N) without the sink: at once, or in blocks."""
    rule, rows = scored.rule, slice(0, q.shape[1])
    if scored.cap is None and scored.bias is None and (rule.open or rule.causal):
        return _fused(q, k, v, scored, rows, slice(0, k.shape[1]), causal=not rule.open)
    compute = _explicit if scored.cap is not None else _fused
    mix, sums = torch.zeros_like(q), q.new_zeros(q.shape[:2], dtype=torch.float32)
    for start in range(0, rows.stop, BLOCK):
        go_on()
        block = slice(start, min(start + BLOCK, rows.stop))
        keys = rule.band(block)
        if keys.start < keys.stop:
            block_result = compute(q[:, block], k[:, keys], v[:, keys], scored, block, keys)
            mix[:, block], sums[:, block] = block_result
    return mix, sums


def _fused(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    scored: Scored,
    rows: slice,
    keys: slice,
    *,
    causal: bool = False,
) -> tuple[Tensor, Tensor]:
    """Run torch's kernel for some rows."""
    added = None if causal else _added(scored, rows, keys, q)
    batched = [tensor[None] for tensor in (q, k, v)]
    heads = q.shape[0] // k.shape[0]
    if q.device.type != "cpu" or torch.__version__ < SHARED_KEYS:
        batched[1:] = [tensor.repeat_interleave(heads, dim=1) for tensor in batched[1:]]
    if q.device.type == "cpu":
        mix, sums = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(
            *batched, is_causal=causal, attn_mask=added, scale=scored.scale
        )
        return mix[0], sums[0]
    if added is not None:
        added = _aligned(added.expand(1, q.shape[0], -1, -1))
    mix, sums, *_ = torch.ops.aten._scaled_dot_product_efficient_attention(
        *batched, added, compute_log_sumexp=True, is_causal=causal, scale=scored.scale
    )
    return mix[0], sums[0, :, : q.shape[1]]


def _aligned(added: Tensor) -> Tensor:
    wide = F.pad(added, (0, -added.shape[-1] % ALIGNED))
    return wide[..., : added.shape[-1]]


def _added(scored: Scored, rows: slice, keys: slice, like: Tensor) -> Tensor | None:
    """Return the mask and the bias as one additive mask (1, H or 1, rows, keys)."""
    mask = scored.rule.mask(rows, keys)
    if scored.bias is not None:
        bias = scored.bias(slice(None), rows, keys).to(like.dtype)[None]
        return bias if mask is None else bias.masked_fill(~mask, -torch.inf)
    if mask is None:
        return None
    return torch.zeros_like(mask, dtype=like.dtype).masked_fill_(~mask, -torch.inf)[None, None]


def _explicit(
    q: Tensor, k: Tensor, v: Tensor, scored: Scored, rows: slice, keys: slice
) -> tuple[Tensor, Tensor]:
    """Compute some rows step by step."""
    heads = q.shape[0] // k.shape[0]
    k, v = k.repeat_interleave(heads, dim=0), v.repeat_interleave(heads, dim=0)
    scores = capped(q @ k.mT * scored.scale, scored.cap)
    if (added := _added(scored, rows, keys, q)) is not None:
        scores = scores + added[0]
    sums = scores.float().logsumexp(-1)
    sums = sums.where(sums > -torch.inf, 0.0)
    return (scores - sums[..., None]).exp().to(v.dtype) @ v, sums


def capped(scores: Tensor, cap: float | None) -> Tensor:
    """Return cap · tanh(scores / cap), or the scores themselves without a cap."""
    return scores if cap is None else torch.tanh(scores / cap) * cap
