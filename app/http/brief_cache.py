"""A cache that keeps one value for a few seconds and computes it once for concurrent callers."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

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
