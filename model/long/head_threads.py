"""Heads computed side by side on the CPU: each on one thread.

The matrices of one head are computed in blocks that are too small to be worth sharing: PyTorch's
own threads gain nothing (2 cores: 154 ms on one thread, 159 ms on two, 105 ms with a head on each).
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import cache
from threading import Barrier

import torch
from torch import Tensor


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
