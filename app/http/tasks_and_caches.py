"""Background tasks, whose failures are logged, and threads for what would block the event loop.

AnyIO's threads are for waiting (files); these few are for computing. Work that takes seconds has
separate threads, so that work that takes milliseconds never waits behind it.

A cache that keeps one value for a few seconds and computes it once for concurrent callers.

A cache in memory, limited by its bytes; the least recently used values are evicted first.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Hashable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any, Generic, TypeVar

from cachetools import LRUCache

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


Value = TypeVar("Value")


class Recent(Generic[Value]):
    """A value that is at most `seconds` old."""

    def __init__(self, seconds: float, find: Callable[[], Awaitable[Value]]) -> None:
        self.seconds = seconds
        self._find = find
        self._lock = asyncio.Lock()
        self._found: tuple[float, Value] | None = None

    async def get(self) -> Value:
        """Return the value, computed anew if too old; concurrent callers share one computation.

        Raises what `find` raises. If the caller that computes it is cancelled, the next one does.
        """
        async with self._lock:
            if self._found is None or time.monotonic() - self._found[0] > self.seconds:
                self._found = None
                value = await self._find()
                self._found = time.monotonic(), value
            return self._found[1]


SHARE = 4  # a value may take at most 1/4 of the cache


class ByteCache(Generic[Value]):
    """Values by key, for one event loop. `size` returns the bytes of a value.

    `on_lookup` is called for each `find` with whether the value was cached.
    """

    def __init__(
        self,
        max_bytes: int,
        size: Callable[[Value], int],
        on_lookup: Callable[[bool], None] = lambda hit: None,
    ) -> None:
        self.size = size
        self.on_lookup = on_lookup
        self.largest = max_bytes // SHARE
        self._kept: LRUCache[Hashable, Value] = LRUCache(max(1, max_bytes), getsizeof=size)
        self._coming: dict[Hashable, asyncio.Future[Value]] = {}

    @property
    def bytes(self) -> int:
        """The bytes of all cached values."""
        return int(self._kept.currsize)

    def get(self, key: Hashable) -> Value | None:
        """Return the value under a key, or None."""
        return self._kept.get(key)

    def keep(self, key: Hashable, value: Value) -> None:
        """Cache a value, unless it is too large."""
        if self.size(value) <= self.largest:
            self._kept[key] = value

    def drop(self, key: Hashable) -> None:
        """Remove a key."""
        self._kept.pop(key, None)

    async def find(self, key: Hashable, make: Callable[[], Awaitable[Value]]) -> Value:
        """Return the cached value, or make it once for all concurrent callers.

        A caller that is cancelled does not stop the others. Raises what `make` raises; failures are
        not cached.
        """
        cached, coming = self._kept.get(key), self._coming.get(key)
        self.on_lookup(cached is not None or coming is not None)
        if cached is not None:
            return cached
        if coming is None:
            coming = self._coming[key] = asyncio.ensure_future(self._made(key, make))
            coming.add_done_callback(_seen)
        return await asyncio.shield(coming)

    async def _made(self, key: Hashable, make: Callable[[], Awaitable[Value]]) -> Value:
        try:
            value = await make()
            self.keep(key, value)
            return value
        finally:
            del self._coming[key]


def _seen(coming: asyncio.Future[Value]) -> None:
    """Retrieve a failure that no one waits for, so that asyncio does not report it."""
    if not coming.cancelled():
        coming.exception()
