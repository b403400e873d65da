"""An attention over a long text, of which any slice of the weights can be computed or pooled.

    weights(i, j) = exp(score(i, j) − logsumexp_i) where the rule allows j, else 0

Vectors are kept in float32, or as 16-bit integers times a step per channel.

In pictures of it, every cell pools many weights. Rows are pooled first, while a block of scores is
in the processor's cache, then keys. Only the pooled numbers are exponentiated. Heads are computed
side by side on the CPU, each on one thread. The matrices of one head are computed in blocks that
are too small to be worth sharing: PyTorch's own threads gain nothing (2 cores: 154 ms on one
thread, 159 ms on two, 105 ms with a head on each).

Shapes: H heads, G heads of keys, N queries, M keys, d channels; R × C cells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from threading import Barrier

import torch
from torch import Tensor
from torch.nn import functional as F

from model.long.flash_kernels import Rule, Scored, capped
from model.progress import go_on

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


def each_head(work: Callable[[int], Tensor], heads: int, device: torch.device) -> list[Tensor]:
    """Return the results of `work` for each head. Raises what `work` raises."""
    threads = torch.get_num_threads()
    if threads == 1 or device.type != "cpu":
        return [work(head) for head in range(heads)]
    inference = torch.is_inference_mode_enabled()
    contexts = [copy_context() for _ in range(heads)]

    def one(head: int) -> Tensor:
        with torch.inference_mode(inference):
            return contexts[head].run(work, head)

    return list(_pool(threads).map(one, range(heads)))


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """Return threads on which PyTorch starts no further ones."""
    begun = Barrier(threads + 1)

    def begin() -> None:
        torch.set_num_threads(1)  # for this thread, and for all that start before it is set back
        begun.wait()

    pool = ThreadPoolExecutor(threads, thread_name_prefix="head", initializer=begin)
    for _ in range(threads):
        pool.submit(lambda: None)
    begun.wait()
    torch.set_num_threads(threads)
    return pool


ROWS = 128  # rows whose scores are computed at once


def span(length: int, cells: int) -> int:
    """Return the number of tokens per cell, so that at most `cells` cells cover all tokens."""
    return max(1, -(-length // cells))


def overview(attention: LongAttention, cells: int) -> Tensor:
    """Return the largest weight in every cell (H, R, C), for all heads; NaN if all is hidden."""
    heads, n, m = attention.shape
    rows, keys = slice(0, n), slice(0, m)
    spans = span(n, cells), span(m, cells)

    def one(head: int) -> Tensor:
        return largest(attention.head(head), rows, keys, spans)

    return torch.stack(each_head(one, heads, attention.logsumexp.device))


def largest(head: LongHead, rows: slice, keys: slice, spans: tuple[int, int]) -> Tensor:
    """Return the largest weight in every cell of `spans` tokens (R, C); NaN if all is hidden."""
    tall, wide = spans
    shape = -(-(rows.stop - rows.start) // tall), -(-(keys.stop - keys.start) // wide)
    logs = torch.full(shape, -torch.inf, device=head.q.device)
    for block in _blocks(rows, tall):
        band = _within(head.attention.rule.band(block), keys, wide)
        if band.start >= band.stop:
            continue
        pooled = _pooled(_pooled(head.logs(block, band), 0, tall), 1, wide)
        first_cell = (block.start - rows.start) // tall, (band.start - keys.start) // wide
        logs[
            first_cell[0] : first_cell[0] + len(pooled),
            first_cell[1] : first_cell[1] + pooled.shape[1],
        ] = pooled
    return logs.exp().masked_fill(logs == -torch.inf, torch.nan)


def grouped(head: LongHead, rows: Sequence[int], keys: Sequence[int]) -> Tensor:
    """Return how much groups of tokens attend to other groups (R, C).

    Groups are between neighbouring edges in `rows` and `keys`. A cell is the mean over a group's
    rows of the sum of their weights on a group's keys; NaN if all of it is hidden.
    """
    whole = slice(keys[0], keys[-1])
    means, visible = list[Tensor](), list[Tensor]()
    ends = torch.tensor(keys, device=head.q.device) - keys[0]
    for first, last in pairwise(rows):
        sums = head.q.new_zeros(whole.stop - whole.start, dtype=torch.float64)
        open_ = torch.zeros_like(sums)
        for block in _blocks(slice(first, last), 1):
            band = _within(head.attention.rule.band(block), whole, 1)
            if band.start >= band.stop:
                continue
            band_keys = slice(band.start - whole.start, band.stop - whole.start)
            logs = head.logs(block, band)
            sums[band_keys] += logs.exp().sum(0)
            open_[band_keys] += (logs > -torch.inf).any(0)
        means.append(_between(sums, ends) / (last - first))
        visible.append(_between(open_, ends) > 0)
    return torch.stack(means).float().masked_fill(~torch.stack(visible), torch.nan)


def _between(values: Tensor, ends: Tensor) -> Tensor:
    """Sum values between neighbouring ends."""
    total = F.pad(values.cumsum(0), (1, 0))[ends]
    return total[1:] - total[:-1]


def _blocks(rows: slice, tall: int) -> Iterator[slice]:
    """Yield blocks of about `ROWS` rows that contain whole cells."""
    step = max(1, ROWS // tall) * tall
    for start in range(rows.start, rows.stop, step):
        go_on()
        yield slice(start, min(start + step, rows.stop))


def _within(band: slice, keys: slice, wide: int) -> slice:
    """Return the part of a band among these keys, extended to whole cells."""
    start = max(band.start, keys.start)
    start -= (start - keys.start) % wide
    stop = min(band.stop, keys.stop)
    return slice(start, min(keys.stop, stop + (keys.start - stop) % wide))


def _pooled(logs: Tensor, dim: int, size: int) -> Tensor:
    """Return the maximum of every `size` values along an axis; the last may be of fewer."""
    if size == 1:
        return logs
    missing = -logs.shape[dim] % size
    if missing:
        logs = F.pad(logs, (0, missing) if dim == 1 else (0, 0, 0, missing), value=-torch.inf)
    shape = [*logs.shape[:dim], -1, size, *logs.shape[dim + 1 :]]
    return logs.reshape(shape).amax(dim + 1)
