"""A cache that keeps one value for a few seconds and computes it once for concurrent callers.

A cache in memory, limited by its bytes; the least recently used values are evicted first.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

from cachetools import LRUCache

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
