"""Where rooms are stored, and how servers learn of their changes.

A room is a document and some tables (`part`) of fields, which all expire together. `replace` is a
compare-and-set, so that two writers cannot overwrite each other; `put` can also require the present
document, so that nothing is stored in a room that has changed or ended.

A field has a holder: the digest of the address that stored it. Of rooms, of the fields of a part
and of the bytes of a room, one holder may have half of what the others leave free
(`app.http.rate_limits`). What a server stores itself has the holder "", which may have all of it.
"""

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Literal, Protocol

from app.http.rate_limits import fair_share
from app.rooms.rooms_in_file import Field, RoomsFile, StoredRoom

IDLE_SECONDS = 5.0
SWEEP_SECONDS = 60.0  # between two deletions of what has expired
ROOM_BYTES = 16_000_000  # of the fields of a room
Limited = Literal["rooms", "fields", "bytes"]


class FullError(Exception):
    """A holder has its share of `limited`: it has `mine`, and all others have `others`."""

    def __init__(self, limited: Limited, mine: int, theirs: int) -> None:
        super().__init__(f"no {limited} are free")
        self.limited, self.mine, self.others = limited, mine, theirs


class Bus(Protocol):
    """Storage and notification. All methods raise StorageError if the storage fails."""

    async def create(
        self, code: str, document: bytes, seconds: float, limit: int, holder: str = ""
    ) -> bool:
        """Store a new room; return False if the code is in use.

        Raises FullError if the holder has its share of `limit` rooms.
        """

    async def read(self, code: str) -> bytes | None:
        """Return a room's document; None if there is no such room."""

    async def replace(self, code: str, old: bytes, new: bytes, seconds: float) -> bool:
        """Replace the document if it is `old`, renew its life and tell listeners."""

    async def put(
        self,
        code: str,
        part: str,
        name: str,
        value: bytes,
        *,
        holder: str = "",
        document: bytes | None = None,
    ) -> bool:
        """Set a field; return False if there is no such room or its document is another one.

        Raises FullError if the holder has its share of the room's bytes.
        """

    async def admit(
        self, code: str, part: str, name: str, value: bytes, limit: int, holder: str = ""
    ) -> bool:
        """Add a field, or leave one that exists as it is; return False if there is no such room.

        Raises what `put` raises, and FullError if the holder has its share of `limit` fields.
        """

    async def write(self, code: str, part: str, name: str, value: bytes) -> bool:
        """Set a field of the server's own, which is not counted; False if there is no such room."""

    async def fields(self, code: str, part: str) -> dict[str, bytes]:
        """Return all fields of a part."""

    async def holders(self, code: str, part: str) -> dict[str, str]:
        """Return the holder of each field of a part."""

    async def count(self, code: str, part: str) -> int:
        """Return the number of fields of a part."""

    async def remove(self, code: str, part: str, names: Iterable[str]) -> None:
        """Remove fields; what they took is free again."""

    def listen(self, code: str) -> AbstractAsyncContextManager[AsyncIterator[bytes | None]]:
        """Listen to new documents of a room; None after `IDLE_SECONDS` without one.

        Some documents may be missed, and they may be out of order.
        """

    async def close(self) -> None:
        """Disconnect."""


def share_of(holder: str, limit: int, theirs: int) -> int:
    """Return how much of `limit` a holder may have while the others have `theirs`."""
    return fair_share(limit, theirs) if holder else max(0, limit - theirs)


@dataclass
class _Kept:
    document: bytes
    until: float
    holder: str
    parts: dict[str, dict[str, Field]] = field(default_factory=lambda: defaultdict(dict))
    held: Counter[str] = field(default_factory=Counter)  # bytes by holder

    def set(self, part: str, name: str, new: Field) -> None:
        """Set a field, and count its bytes instead of those of an earlier one."""
        self.drop(part, name)
        self.parts[part][name] = new
        self.held[new.holder] += new.size

    def drop(self, part: str, name: str) -> None:
        """Remove a field, if it is there."""
        if gone := self.parts[part].pop(name, None):
            self.held[gone.holder] -= gone.size


class MemoryBus:
    """The rooms of a single server, and a file from which it has them again after a restart.

    What a server notes of itself (`write`) is not in the file.
    """

    def __init__(
        self,
        room_bytes: int = ROOM_BYTES,
        clock: Callable[[], float] = time.monotonic,
        file: RoomsFile | None = None,
    ) -> None:
        self._bytes, self._clock, self._file = room_bytes, clock, file
        self._rooms: dict[str, _Kept] = {}
        self._listeners: dict[str, set[asyncio.Queue[bytes]]] = defaultdict(set)
        self._sweeping: asyncio.TimerHandle | None = None
        if file:
            self._take_up(file)

    def _take_up(self, file: RoomsFile) -> None:
        """Have the rooms of a file, and delete those that expire."""
        for stored in file.rooms():
            room = _Kept(stored.document, self._clock() + stored.seconds, stored.holder)
            for part, name, content in file.fields(stored.code):
                room.set(part, name, content)
            self._rooms[stored.code] = room
        self._sweep()

    async def create(
        self, code: str, document: bytes, seconds: float, limit: int, holder: str = ""
    ) -> bool:
        self._sweep()
        _check("rooms", (room.holder for room in self._rooms.values()), holder, limit)
        if code in self._rooms:
            return False
        self._rooms[code] = _Kept(document, self._clock() + seconds, holder)
        if self._file:
            self._file.keep(StoredRoom(code, document, seconds, holder))
        return True

    async def read(self, code: str) -> bytes | None:
        room = self._find(code)
        return room.document if room else None

    async def replace(self, code: str, old: bytes, new: bytes, seconds: float) -> bool:
        room = self._find(code)
        if room is None or room.document != old:
            return False
        room.document, room.until = new, self._clock() + seconds
        if self._file:
            self._file.keep(StoredRoom(code, new, seconds, room.holder))
        for queue in self._listeners.get(code, ()):
            if queue.full():
                queue.get_nowait()  # only the last document matters
            queue.put_nowait(new)
        return True

    async def put(
        self,
        code: str,
        part: str,
        name: str,
        value: bytes,
        *,
        holder: str = "",
        document: bytes | None = None,
    ) -> bool:
        room = self._find(code)
        if room is None or document not in (None, room.document):
            return False
        new, before = Field(value, holder, len(name) + len(value)), room.parts[part].get(name)
        bytes_by_holder = Counter(room.held)
        if before:
            bytes_by_holder[before.holder] -= before.size
        mine, theirs = bytes_by_holder[holder], bytes_by_holder.total() - bytes_by_holder[holder]
        grows = mine + new.size > room.held[holder]
        if grows and mine + new.size > share_of(holder, self._bytes, theirs):
            raise FullError("bytes", mine, theirs)
        room.set(part, name, new)
        if self._file:
            self._file.set(code, part, name, new)
        return True

    async def admit(
        self, code: str, part: str, name: str, value: bytes, limit: int, holder: str = ""
    ) -> bool:
        room = self._find(code)
        if room is None:
            return False
        if name in room.parts[part]:
            return True
        _check("fields", (stored.holder for stored in room.parts[part].values()), holder, limit)
        return await self.put(code, part, name, value, holder=holder)

    async def write(self, code: str, part: str, name: str, value: bytes) -> bool:
        room = self._find(code)
        if room:
            room.set(part, name, Field(value))
        return room is not None

    async def fields(self, code: str, part: str) -> dict[str, bytes]:
        return {name: stored.value for name, stored in self._part(code, part).items()}

    async def holders(self, code: str, part: str) -> dict[str, str]:
        return {name: stored.holder for name, stored in self._part(code, part).items()}

    async def count(self, code: str, part: str) -> int:
        return len(self._part(code, part))

    async def remove(self, code: str, part: str, names: Iterable[str]) -> None:
        room, gone = self._find(code), list(names)
        if room:
            for name in gone:
                room.drop(part, name)
            if self._file:
                self._file.drop(code, part, gone)

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
        if self._file:
            self._file.close()

    def _sweep(self) -> None:
        """Delete the rooms that have expired, now and at intervals."""
        if self._sweeping:
            self._sweeping.cancel()
        now = self._clock()
        expired = [code for code, room in self._rooms.items() if room.until <= now]
        for code in expired:
            del self._rooms[code]
        if self._file and expired:
            self._file.delete(expired)
        self._sweeping = asyncio.get_running_loop().call_later(SWEEP_SECONDS, self._sweep)

    def _find(self, code: str) -> _Kept | None:
        room = self._rooms.get(code)
        return room if room and room.until > self._clock() else None

    def _part(self, code: str, part: str) -> dict[str, Field]:
        room = self._find(code)
        return room.parts.get(part, {}) if room else {}


def _check(limited: Limited, holders: Iterable[str], holder: str, limit: int) -> None:
    """Raise FullError if a holder has its share of what these holders have one each of."""
    counts = Counter(holders)
    mine, theirs = counts[holder], counts.total() - counts[holder]
    if mine + 1 > share_of(holder, limit, theirs):
        raise FullError(limited, mine, theirs)


async def _documents(queue: "asyncio.Queue[bytes]") -> AsyncIterator[bytes | None]:
    while True:
        try:
            async with asyncio.timeout(IDLE_SECONDS):
                document = await queue.get()
        except TimeoutError:
            yield None
        else:
            yield document
