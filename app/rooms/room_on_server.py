"""A room as one server sees it: its newest document, and the members that this server serves."""

import asyncio
import hashlib
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import orjson

from app.http.problems import ProblemError
from app.http.tasks_and_caches import begin
from app.rooms.room_document import Counts, Room
from app.rooms.rooms_across_servers import Bus
from app.store.storage_errors import StorageError

AGAIN_SECONDS = 1.0  # before listening again after a failure of the bus
PING_SECONDS, PING = 15.0, b": ping\n\n"
STOP_SECONDS = 0.2
ABSENT_SECONDS = 10.0  # between two polls of a member that is still there
LEFT_SECONDS = 600.0  # after which a member has left, and its place is free for others


@dataclass
class _Member:
    streams: int = 0
    exploring: bool = False
    left: float = 0.0
    seq: int = 0  # of the newest document that it was sent


class Hub:
    """The newest document of a room, which never becomes older, and who watches it here.

    `ended` is called once when the room has ended.
    """

    def __init__(
        self, bus: Bus, code: str, document: bytes, ended: Callable[[], None] = lambda: None
    ) -> None:
        self.code = code
        self.document = document
        self.room = Room.load(document)
        self.event = self._event()
        self.known: set[str] = set()  # members that have a place, of those that came to this server
        self.screens: Counter[str] = Counter()  # streams without a member, by their holder
        self._last_times: dict[str, float] = {}  # when each member last sent something of a kind
        self.closing = False  # whether the server is told to stop
        self._bus = bus
        self._ended = ended
        self._changed = asyncio.Event()
        self._members: dict[str, _Member] = {}
        self._seen: dict[str, float] = {}  # when each member was last here, by the clock
        self._removals = self.room.removals  # that this server has carried out
        self._feeding: asyncio.Task[None] | None = None

    def holder(self, address: str) -> str:
        """Return what stands for an address in this room, and in no other; "" for none."""
        text = f"{self.room.key} {address}"
        return hashlib.sha256(text.encode()).hexdigest()[:16] if address else ""

    def pace(self, name: str, seconds: float) -> None:
        """Note that something is sent. Raises a 429 ProblemError if it was sent just before."""
        now = time.monotonic()
        if now - self._last_times.get(name, -seconds) < seconds:
            detail = f"at most one of a member every {seconds:g} seconds"
            headers = {"Retry-After": str(round(seconds))}
            raise ProblemError(429, "room-changes", detail, headers=headers)
        self._last_times[name] = now

    def learn(self, document: bytes | None) -> None:
        """Take over a document if it is newer; None means that the room has ended."""
        if document == self.document:
            return
        if document is None:
            room = self.room if self.room.over else self.room.then(over=True)
        else:
            room = Room.load(document)
        if room.seq <= self.room.seq:
            return
        self.document, self.room = document or room.dumped(), room
        self.event = self._event()
        self.wake()

    def wake(self) -> None:
        """Wake all that wait for a change."""
        self._changed.set()
        self._changed = asyncio.Event()

    async def refresh(self) -> None:
        """Read the document from the bus, and who was removed. Raises StorageError."""
        self.learn(await self._bus.read(self.code))
        await self.carry_out_removals()

    async def carry_out_removals(self) -> None:
        """Forget the members that were removed since the last time; their streams end."""
        if (removals := self.room.removals) != self._removals:
            self.known &= {*await self._bus.fields(self.code, "members")}
            self._removals = removals
            self.wake()

    def removed(self, member: str | None) -> bool:
        """Return whether a member has no place, or no longer; a screen needs none."""
        return member is not None and member not in self.known

    async def after(self, seq: int, seconds: float, member: str | None = None) -> bool:
        """Wait until the document is newer than `seq`, or the member is removed.

        Return whether it is newer.
        """
        try:
            async with asyncio.timeout(seconds):
                while self.room.seq <= seq and not (self.room.over or self.closing):
                    if self.removed(member):
                        break
                    await self._changed.wait()
        except TimeoutError:
            pass
        return self.room.seq > seq

    async def events(self, member: str | None = None) -> AsyncIterator[bytes]:
        """Yield server-sent events: the present document, then the newest after each change.

        A slow reader skips the documents in between; without a change, comments show that the
        stream is alive. Ends with the room, or when the member is removed. A member is in step once
        its connection has taken the newest document.
        """
        seq = 0
        while True:
            changed = await self.after(seq, PING_SECONDS, member)
            if self.removed(member):
                return
            if changed:
                seq = self.room.seq
                yield self.event
                self.sent(member, seq)
            elif self.room.over or self.closing:
                return
            else:
                yield PING

    @contextmanager
    def present(self, member: str | None, exploring: bool, holder: str = "") -> Iterator[None]:
        """Count a member as present; None is a screen, which is no member."""
        if member is None:
            self.screens[holder] += 1
            try:
                yield
            finally:
                self.screens[holder] -= 1
            return
        presence = self._members.setdefault(member, _Member())
        presence.streams += 1
        presence.exploring = exploring
        try:
            yield
        finally:
            presence.streams -= 1
            presence.left = time.monotonic()
            self._seen[member] = time.time()

    def sent(self, member: str | None, seq: int) -> None:
        """Note that a member, if it is present, has the document of this number."""
        if member is not None and (presence := self._members.get(member)):
            presence.seq = seq

    def counts(self) -> Counts:
        """Count the members that are present here."""
        oldest = time.monotonic() - ABSENT_SECONDS
        self._members = {
            name: presence
            for name, presence in self._members.items()
            if presence.streams or presence.left > oldest
        }
        following = [presence for presence in self._members.values() if not presence.exploring]
        return Counts(
            following=len(following),
            in_step=sum(presence.seq == self.room.seq for presence in following),
            exploring=len(self._members) - len(following),
            seq=self.room.seq,
            at=time.time(),
        )

    def admit(self, member: str) -> None:
        """Note that a member has a place."""
        self.known.add(member)
        self._seen[member] = time.time()

    def seen(self) -> dict[str, float]:
        """Return when each member was last here, of those who are here or left lately.

        Others must be admitted again, since someone else may have their place by then.
        """
        now = time.time()
        self._seen |= dict.fromkeys(
            (n for n, presence in self._members.items() if presence.streams), now
        )
        self._seen = {n: last for n, last in self._seen.items() if now - last < LEFT_SECONDS}
        self.known &= self._seen.keys()
        return self._seen

    def feed(self, server: str) -> None:
        """Start to follow the bus, until the room ends; does nothing if already started."""
        if self._feeding is None or self._feeding.done():
            self._feeding = begin(self._feed(server))

    async def stop(self) -> None:
        """Stop following the bus."""
        # redis-py can lose a cancellation that comes while it subscribes.
        while self._feeding and not self._feeding.done():
            self._feeding.cancel()
            await asyncio.wait([self._feeding], timeout=STOP_SECONDS)

    async def _feed(self, server: str) -> None:
        while not self.room.over:
            try:
                await self._listen(server)
            except StorageError:
                await asyncio.sleep(AGAIN_SECONDS)
        self._ended()

    async def _listen(self, server: str) -> None:
        async with self._bus.listen(self.code) as documents:
            await self.refresh()  # what was published before
            async for document in documents:
                if document:
                    self.learn(document)
                    await self.carry_out_removals()
                else:
                    await self._tell(server)
                if self.room.over:
                    return

    async def _tell(self, server: str) -> None:
        """Read the document in case a message was lost, and tell the other servers who is here."""
        await self.refresh()
        counts = self.counts().model_dump_json().encode()
        await self._bus.write(self.code, "servers", server, counts)
        await self._bus.write(self.code, "seen", server, orjson.dumps(self.seen()))

    def _event(self) -> bytes:
        """Return the server-sent event of the document, encoded once for all members."""
        return f"data: {self.room.seen().model_dump_json()}\n\n".encode()
