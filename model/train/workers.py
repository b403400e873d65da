"""Parallel work in processes of one thread each: small models gain nothing from more threads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, TypeVar

import torch

Result = TypeVar("Result")


def spread(
    work: Callable[..., Result], tasks: Iterable[Sequence[Any]], jobs: int
) -> Iterator[Result]:
    """Yield ``work(*task)`` of every task, in order; `jobs` at a time, on one thread each.

    With one job the work runs in this process, otherwise in spawned processes.
    """
    if jobs == 1:
        for task in tasks:
            yield _alone(work, task)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        for future in [pool.submit(_alone, work, task) for task in tasks]:
            yield future.result()


def _alone(work: Callable[..., Result], task: Sequence[Any]) -> Result:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return work(*task)
    finally:
        torch.set_num_threads(threads)
