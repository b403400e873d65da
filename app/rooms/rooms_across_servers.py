"""Where rooms are stored, and how servers learn of their changes.

A room is a document and some tables (`part`) of fields, which all expire together. `replace` is a
compare-and-set, so that two writers cannot overwrite each other; `put` can also require the present
document, so that nothing is stored in a room that has changed or ended.

A field has a holder: the digest of the address that stored it. Of rooms, of the fields of a part
and of the bytes of a room, one holder may have half of what the others leave free
(`app.http.limits`). What a server stores itself has the holder "", which may have all of it.
"""

import asyncio
import logging
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Literal, Protocol

from app.http.limits import fair_share
from app.rooms.rooms_in_file import Field, PlacedField, RoomsFile, StoredRoom

IDLE_SECONDS = 5.0
SWEEP_SECONDS = 60.0  # between two deletions of what has expired
BEHIND_SECONDS = 5.0  # between two tries to write what could not be written
ROOM_BYTES = 16_000_000  # of the fields of a room
Limited = Literal["rooms", "fields", "bytes"]
Readable = Callable[[bytes, Sequence[PlacedField]], Sequence[PlacedField] | None]

log = logging.getLogger(__name__)


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

    What a server notes of itself (`write`) is not in the file. A room of which a change could not
    be written is left in the file as it was, and written as a whole once that is possible: the file
    never has half of a change.
    """

    def __init__(
        self,
        room_bytes: int = ROOM_BYTES,
        clock: Callable[[], float] = time.monotonic,
        file: RoomsFile | None = None,
        readable: Readable = lambda _, fields: fields,
    ) -> None:
        """`readable` returns which fields of a stored room are well; None if the room is not."""
        self._bytes, self._clock, self._file = room_bytes, clock, file
        self._readable = readable
        self._behind: set[str] = set()  # rooms of which the file lacks a change
        self._catching_up: asyncio.TimerHandle | None = None
        self._rooms: dict[str, _Kept] = {}
        self._listeners: dict[str, set[asyncio.Queue[bytes]]] = defaultdict(set)
        self._sweeping: asyncio.TimerHandle | None = None
        if file:
            self._take_up(file)

    def _take_up(self, file: RoomsFile) -> None:
        """Have the rooms of a file without what is damaged, and delete those that expire."""
        for stored in file.rooms():
            fields = [*file.fields(stored.code)]
            intact = self._readable(stored.document, fields)
            if intact is None:
                log.error("a room has ended: its document is damaged")
            else:
                room = _Kept(stored.document, self._clock() + stored.seconds, stored.holder)
                for part, name, content in intact:
                    room.set(part, name, content)
                self._rooms[stored.code] = room
            if intact != fields:
                self._behind.add(stored.code)
        self._catch_up()
        self._sweep()

    def _write(self, code: str, write: Callable[[RoomsFile], bool]) -> None:
        """Write a change of a room, unless the file lacks an earlier one: then the whole, later."""
        if self._file and (code in self._behind or not write(self._file)):
            self._behind.add(code)
            self._catch_up_later()

    def _catch_up(self) -> None:
        """Write the rooms of which the file lacks a change; delete those that have gone."""
        self._catching_up = None
        for code in [*self._behind]:
            if not self._write_whole(code):
                self._catch_up_later()
                return  # what fails for one fails for the others
            self._behind.discard(code)

    def _write_whole(self, code: str) -> bool:
        assert self._file
        room = self._rooms.get(code)
        if room is None:
            return self._file.delete([code])
        stored = StoredRoom(code, room.document, room.until - self._clock(), room.holder)
        fields = [
            (part, name, content)
            for part, contents in room.parts.items()
            for name, content in contents.items()
            if content.size  # what a server notes of itself has none
        ]
        return self._file.rewrite(stored, fields)

    def _catch_up_later(self) -> None:
        if self._catching_up is None:
            loop = asyncio.get_running_loop()
            self._catching_up = loop.call_later(BEHIND_SECONDS, self._catch_up)

    async def create(
        self, code: str, document: bytes, seconds: float, limit: int, holder: str = ""
    ) -> bool:
        self._sweep()
        _check("rooms", (room.holder for room in self._rooms.values()), holder, limit)
        if code in self._rooms:
            return False
        self._rooms[code] = _Kept(document, self._clock() + seconds, holder)
        stored = StoredRoom(code, document, seconds, holder)
        self._write(code, lambda file: file.keep(stored))
        return True

    async def read(self, code: str) -> bytes | None:
        room = self._find(code)
        return room.document if room else None

    async def replace(self, code: str, old: bytes, new: bytes, seconds: float) -> bool:
        room = self._find(code)
        if room is None or room.document != old:
            return False
        room.document, room.until = new, self._clock() + seconds
        stored = StoredRoom(code, new, seconds, room.holder)
        self._write(code, lambda file: file.keep(stored))
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
        self._write(code, lambda file: file.set(code, part, name, new))
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
            self._write(code, lambda file: file.drop(code, part, gone))

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
        if self._file:
            self._catch_up()
            self._file.close()
        for timer in (self._sweeping, self._catching_up):
            if timer:
                timer.cancel()

    def _sweep(self) -> None:
        """Delete the rooms that have expired, now and at intervals."""
        if self._sweeping:
            self._sweeping.cancel()
        now = self._clock()
        expired = [code for code, room in self._rooms.items() if room.until <= now]
        for code in expired:
            del self._rooms[code]
        if self._file and expired and not self._file.delete(expired):
            self._behind.update(expired)
            self._catch_up_later()
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
