"""Threads for work that would block the event loop.

AnyIO's threads are for waiting (files); these few are for computing. Work that takes seconds has
separate threads, so that work that takes milliseconds never waits behind it.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

SMALL = 16_384  # bytes: compressing or hashing fewer takes less than switching threads
LARGE = 1_000_000  # bytes: compressing them takes tens of milliseconds and more
THREADS = 2  # of each kind

Result = TypeVar("Result")

_short = ThreadPoolExecutor(THREADS, thread_name_prefix="short")
_long = ThreadPoolExecutor(THREADS, thread_name_prefix="long")


async def off_loop(
    work: Callable[..., Result], *arguments: object, size: int | None = None
) -> Result:
    """Return the result of `work(*arguments)`, which processes `size` bytes (None: many).

    Small work runs at once on the event loop. Cancelling the caller does not stop the work.
    """
    if size is not None and size <= SMALL:
        return work(*arguments)
    pool = _short if size is not None and size <= LARGE else _long
    return await asyncio.get_running_loop().run_in_executor(pool, work, *arguments)
