"""An attention over a long text, of which any slice of the weights can be computed.

    weights(i, j) = exp(score(i, j) − logsumexp_i) where the rule allows j, else 0

Vectors are kept in float32, or as 16-bit integers times a step per channel.

Shapes: H heads, G heads of keys, N queries, M keys, d channels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from model.long.flash_kernels import Rule, Scored, capped

LARGEST = torch.iinfo(torch.int16).max


@dataclass(frozen=True, eq=False)
class Stored:
    """The vectors of each head (H, N, d), each number within half a step of the original.

    float16 takes the same memory, but keeps only 11 bits of each number; for the queries and keys
    of SmolLM2 its errors are eight times as large.
    """

    numbers: Tensor  # (H, N, d), int16 or float32
    steps: Tensor | None  # (H, 1, d); None for float32

    @classmethod
    def of(cls, x: Tensor, dtype: torch.dtype) -> Stored:
        """Store copies of vectors (H, N, d) as `torch.int16` or `torch.float32`."""
        if dtype != torch.int16:
            whole = torch.contiguous_format
            return cls(x.to(dtype, copy=True, memory_format=whole), None)
        largest = torch.maximum(x.amax(1, keepdim=True), -x.amin(1, keepdim=True)).float()
        steps = largest.clamp_min(torch.finfo(torch.float32).tiny * LARGEST) / LARGEST
        return cls((x / steps).round_().to(torch.int16).contiguous(), steps)

    def __getitem__(self, head: int) -> Tensor:
        """Return the vectors of a head (N, d) in float32."""
        numbers = self.numbers[head].float()
        return numbers if self.steps is None else numbers * self.steps[head]

    @property
    def shape(self) -> torch.Size:
        """Heads, tokens and channels."""
        return self.numbers.shape

    @property
    def bytes(self) -> int:
        """The memory that it takes."""
        return self.numbers.nbytes + (0 if self.steps is None else self.steps.nbytes)


@dataclass(frozen=True, eq=False)
class LongAttention:
    """One attention of a pass. Slices must have both ends; tensors are on the model's device."""

    q: Stored  # (H, N, d)
    k: Stored  # (G, M, d)
    logsumexp: Tensor  # (H, N), including the sink
    scored: Scored
    over: Mapping[str, str]  # the texts of the query and the key axis

    @classmethod
    def keep(
        cls,
        q: Tensor,
        k: Tensor,
        logsumexp: Tensor,
        scored: Scored,
        over: Mapping[str, str],
        dtype: torch.dtype,
    ) -> LongAttention:
        """Keep copies of q and k as `torch.int16` or `torch.float32` (see `Stored`).

        A vector that all keys share adds the same to every score of a row and to its log-sum-exp,
        so it is left out where numbers are rounded: smaller ones are rounded less.
        """
        if scored.cap is None and dtype == torch.int16:
            shared = k.mean(dim=1, keepdim=True)  # (G, 1, d)
            heads = q.shape[0] // k.shape[0]
            k = k - shared
            logsumexp = logsumexp - scored.scale * (q * shared.repeat_interleave(heads, dim=0)).sum(
                -1
            )
        return cls(Stored.of(q, dtype), Stored.of(k, dtype), logsumexp.contiguous(), scored, over)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of heads, queries and keys."""
        return self.q.shape[0], self.q.shape[1], self.k.shape[1]

    @property
    def bytes(self) -> int:
        """The memory that it takes."""
        bias = self.scored.bias.bytes if self.scored.bias else 0
        return self.q.bytes + self.k.bytes + self.logsumexp.nbytes + bias

    @property
    def rule(self) -> Rule:
        """Which keys a query may attend to."""
        return self.scored.rule

    def head(self, head: int) -> LongHead:
        """Return one head, with q and k in float32."""
        group = head * self.k.shape[0] // self.q.shape[0]
        return LongHead(self, head, self.q[head], self.k[group])


@dataclass(frozen=True, eq=False)
class LongHead:
    """One head of an attention."""

    attention: LongAttention
    index: int
    q: Tensor  # (N, d)
    k: Tensor  # (M, d)

    @cached_property
    def _plain(self) -> bool:
        return self.attention.scored.cap is None and self.attention.scored.bias is None

    @cached_property
    def _queries(self) -> Tensor:
        """q · scale with −logsumexp as an extra channel: times keys with a 1, they give logs."""
        sums = self.attention.logsumexp[self.index]
        return torch.cat([self.q * self.attention.scored.scale, -sums[:, None]], dim=1)

    @cached_property
    def _keys(self) -> Tensor:
        return torch.cat([self.k, self.k.new_ones(len(self.k), 1)], dim=1).T

    def logs(self, rows: slice, keys: slice) -> Tensor:
        """Return the logarithms of weights (rows, keys); −inf where the rule hides a key."""
        scored = self.attention.scored
        if self._plain:
            logs = self._queries[rows] @ self._keys[:, keys]
        else:
            logs = capped(self.q[rows] @ self.k[keys].T * scored.scale, scored.cap)
            if scored.bias is not None:
                bias = scored.bias(slice(self.index, self.index + 1), rows, keys)
                logs = logs + bias[0].float()
            logs = logs - self.attention.logsumexp[self.index, rows, None]
        return scored.rule.hide(logs, rows, keys)

    def weights(self, rows: slice, keys: slice) -> Tensor:
        """Return weights (rows, keys); 0 where the rule hides a key."""
        return self.logs(rows, keys).exp()
