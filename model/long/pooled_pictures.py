"""Pictures of an attention over a long text, in which every cell pools many weights.

Rows are pooled first, while a block of scores is in the processor's cache, then keys. Only the
pooled numbers are exponentiated.

Heads are computed side by side on the CPU, each on one thread. The matrices of one head are
computed in blocks that are too small to be worth sharing: PyTorch's own threads gain nothing
(2 cores: 154 ms on one thread, 159 ms on two, 105 ms with a head on each).

Shapes: H heads, R × C cells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import cache
from itertools import pairwise
from threading import Barrier

import torch
from torch import Tensor
from torch.nn import functional as F

from model.long.attention import LongAttention, LongHead
from model.progress import go_on


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
