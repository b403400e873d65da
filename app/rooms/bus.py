"""Where rooms are stored, and how servers learn of their changes.

A room is a document and some tables (`part`) of fields, which all expire together. `replace` is a
compare-and-set, so that two writers cannot overwrite each other; `put` also requires the present
document, so that nothing is stored in a room that has changed or ended.
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Protocol

IDLE_SECONDS = 5.0
SWEEP_SECONDS = 60.0  # between two deletions of what has expired


class FullError(Exception):
    """There are as many rooms as allowed."""


class Bus(Protocol):
    """Storage and notification. All methods raise StorageError if the storage fails."""

    async def create(self, code: str, document: bytes, seconds: float, most: int) -> bool:
        """Store a new room; return False if the code is in use.

        Raises FullError if there are `most` rooms.
        """

    async def read(self, code: str) -> bytes | None:
        """Return a room's document; None if there is no such room."""

    async def replace(self, code: str, old: bytes, new: bytes, seconds: float) -> bool:
        """Replace the document if it is `old`, renew its life and tell listeners."""

    async def put(self, code: str, document: bytes, part: str, name: str, value: bytes) -> bool:
        """Set a field if the room's document is this one."""

    async def write(self, code: str, part: str, name: str, value: bytes) -> bool:
        """Set a field of a room that exists, whatever its document."""

    async def admit(self, code: str, part: str, name: str, value: bytes, most: int) -> bool:
        """Set a field of a room that exists, unless it is new and the part has `most` fields."""

    async def fields(self, code: str, part: str) -> dict[str, bytes]:
        """Return all fields of a part."""

    async def count(self, code: str, part: str) -> int:
        """Return the number of fields of a part."""

    async def remove(self, code: str, part: str, name: str) -> None:
        """Remove a field."""

    def listen(self, code: str) -> AbstractAsyncContextManager[AsyncIterator[bytes | None]]:
        """Listen to new documents of a room; None after `IDLE_SECONDS` without one.

        Some documents may be missed, and they may be out of order.
        """

    async def close(self) -> None:
        """Disconnect."""


@dataclass
class _Kept:
    document: bytes
    until: float
    parts: dict[str, dict[str, bytes]] = field(default_factory=lambda: defaultdict(dict))


class MemoryBus:
    """The rooms of a single server."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._rooms: dict[str, _Kept] = {}
        self._listeners: dict[str, set[asyncio.Queue[bytes]]] = defaultdict(set)
        self._sweeping: asyncio.TimerHandle | None = None

    async def create(self, code: str, document: bytes, seconds: float, most: int) -> bool:
        self._sweep()
        if len(self._rooms) >= most:
            raise FullError
        if code in self._rooms:
            return False
        self._rooms[code] = _Kept(document, self._clock() + seconds)
        return True

    async def read(self, code: str) -> bytes | None:
        kept = self._find(code)
        return kept.document if kept else None

    async def replace(self, code: str, old: bytes, new: bytes, seconds: float) -> bool:
        kept = self._find(code)
        if kept is None or kept.document != old:
            return False
        kept.document, kept.until = new, self._clock() + seconds
        for queue in self._listeners.get(code, ()):
            if queue.full():
                queue.get_nowait()  # only the last document matters
            queue.put_nowait(new)
        return True

    async def put(self, code: str, document: bytes, part: str, name: str, value: bytes) -> bool:
        kept = self._find(code)
        if kept is None or kept.document != document:
            return False
        kept.parts[part][name] = value
        return True

    async def write(self, code: str, part: str, name: str, value: bytes) -> bool:
        kept = self._find(code)
        if kept:
            kept.parts[part][name] = value
        return kept is not None

    async def admit(self, code: str, part: str, name: str, value: bytes, most: int) -> bool:
        kept = self._find(code)
        if kept is None or (name not in kept.parts[part] and len(kept.parts[part]) >= most):
            return False
        kept.parts[part][name] = value
        return True

    async def fields(self, code: str, part: str) -> dict[str, bytes]:
        kept = self._find(code)
        return dict(kept.parts.get(part, {})) if kept else {}

    async def count(self, code: str, part: str) -> int:
        kept = self._find(code)
        return len(kept.parts.get(part, {})) if kept else 0

    async def remove(self, code: str, part: str, name: str) -> None:
        kept = self._find(code)
        if kept:
            kept.parts[part].pop(name, None)

    @asynccontextmanager
    async def listen(self, code: str) -> AsyncIterator[AsyncIterator[bytes | None]]:
        queue: asyncio.Queue[bytes] = asyncio.Queue(1)
        self._listeners[code].add(queue)
        try:
            yield _documents(queue)
        finally:
            self._listeners[code].discard(queue)
            if not self._listeners[code]:
                del self._listeners[code]

    async def close(self) -> None:
        if self._sweeping:
            self._sweeping.cancel()

    def _sweep(self) -> None:
        """Delete the rooms that have expired, now and at intervals."""
        if self._sweeping:
            self._sweeping.cancel()
        now = self._clock()
        self._rooms = {name: one for name, one in self._rooms.items() if one.until > now}
        self._sweeping = asyncio.get_running_loop().call_later(SWEEP_SECONDS, self._sweep)

    def _find(self, code: str) -> _Kept | None:
        kept = self._rooms.get(code)
        return kept if kept and kept.until > self._clock() else None


async def _documents(queue: "asyncio.Queue[bytes]") -> AsyncIterator[bytes | None]:
    while True:
        try:
            async with asyncio.timeout(IDLE_SECONDS):
                document = await queue.get()
        except TimeoutError:
            yield None
        else:
            yield document
