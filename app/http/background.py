"""Work beside the requests: a failure of it is logged, and never the last that is seen of it."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

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
