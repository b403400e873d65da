"""Background tasks, whose failures are logged, and threads for what would block the event loop.

AnyIO's threads are for waiting (files); these few are for computing. Work that takes seconds has
separate threads, so that work that takes milliseconds never waits behind it.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any, TypeVar

log = logging.getLogger(__name__)


async def repeat(work: Callable[[], Awaitable[object]], seconds: float) -> None:
    """Do something again and again, so many seconds after it ended or failed, until cancelled."""
    while True:
        try:
            await work()
        except Exception as error:  # of the moment, such as a full disk; or a bug
            log.error("%s failed and is repeated: %s", _name(work), _told(error))
        await asyncio.sleep(seconds)


def begin(work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
    """Run something as a task that logs its failure."""
    task = asyncio.create_task(work)
    task.add_done_callback(_log_failure)
    return task


@asynccontextmanager
async def running(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Run something beside the block, until it ends."""
    task = begin(work)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def _log_failure(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()):
        log.error("a task failed", exc_info=error)


def _name(work: Callable[..., object]) -> str:
    return getattr(work, "__qualname__", type(work).__name__)


def _told(error: Exception) -> str:
    """Return what of an error may be logged: its class, and of the system's errors the reason."""
    why = error.strerror if isinstance(error, OSError) else None
    return f"{type(error).__name__}{f': {why}' if why else ''}"


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
