"""The rooms of a server: opened, followed, controlled with a key, ended."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from secrets import token_hex
from typing import Self

import orjson

from app.http.limits import PerMinute, Shared
from app.http.problems import ProblemError
from app.http.route_dependencies import Services
from app.rooms.damaged_rooms import readable
from app.rooms.room_document import Counts, Room, hashed, is_code, new_code, new_key, opens
from app.rooms.room_on_server import LEFT_SECONDS, Hub
from app.rooms.rooms_across_servers import ROOM_BYTES, Bus, FullError, MemoryBus
from app.rooms.rooms_in_file import RoomsFile
from app.settings import Settings
from app.store.documents import dumped
from model.errors import Excess

ENDED_SECONDS = 60.0  # for which an ended room still says that it has ended
TRIES = 20  # of a change, against concurrent ones
SCREENS = 20  # streams per room and server that are no members
STALE_SECONDS = 15.0  # after which the counts of another server are ignored
MAX_RECORD = 2_000  # states of a record


@dataclass(frozen=True)
class RoomLimits:
    """Limits of rooms, from the settings."""

    rooms: int
    members: int
    seconds: float  # without a change
    changes: int  # per second
    questions: int = 200
    bytes: int = ROOM_BYTES  # that the bus counts

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Return the limits that the operator has set."""
        return cls(
            rooms=settings.max_rooms,
            members=settings.max_room_members,
            seconds=settings.room_hours * 3600,
            changes=settings.max_room_changes_per_second,
            questions=settings.max_room_questions,
            bytes=settings.max_room_bytes,
        )


class RoomRates:
    """How many rooms an address may open per minute, and how many wrong codes and keys try."""

    def __init__(self, settings: Settings) -> None:
        url = settings.rates_url
        self.openings = PerMinute(
            settings.max_rooms_per_minute, url, kind="too-many-rooms", counted="rooms"
        )
        self.tries = PerMinute(
            settings.max_room_tries_per_minute,
            url,
            kind="too-many-room-tries",
            counted="wrong codes and keys",
        )


class Rooms:
    """Rooms on a bus; `hub` gives the one that this server keeps up to date."""

    def __init__(self, bus: Bus, limits: RoomLimits) -> None:
        self.bus = bus
        self.limits = limits
        self._hubs: dict[str, Hub] = {}
        self._changes: dict[str, list[float]] = {}
        self._server = token_hex(4)
        self._closing = False

    async def create(self, link: str, holder: str = "") -> tuple[str, str, Room]:
        """Open a room; return its code, its key and its document.

        `holder` stands for the address that opens it. Raises a 503 ProblemError if there are as
        many rooms as allowed, or if the holder has its share of them.
        """
        key = new_key()
        room = Room(link=link, key=hashed(key), created=time.time())
        document = room.dumped()
        for _ in range(TRIES):
            code = new_code()
            try:
                created = await self.bus.create(
                    code, document, self.limits.seconds, self.limits.rooms, holder
                )
            except FullError as full:
                detail = _refusal(full, self.limits.rooms, "rooms")
                headers = {"Retry-After": "60"}
                raise ProblemError(503, "rooms-full", detail, headers=headers) from None
            if created:
                await self._note(code, room)
                return code, key, room
        raise RuntimeError("no free code found")

    async def hub(self, code: str) -> Hub:
        """Return a room's hub. Raises a 404 ProblemError if there is no such room."""
        hub = self._hubs.get(code)
        if hub is None:
            document = await self.bus.read(code) if is_code(code) else None
            if document is None:
                raise unknown_room()
            hub = Hub(self.bus, code, document, lambda: self._forget(code))
            if not hub.room.over:
                hub = self._hubs.setdefault(code, hub)
            hub.closing = self._closing
        if hub.room.over:
            raise unknown_room()
        hub.feed(self._server)
        return hub

    async def join(self, code: str, member: str | None, address: str = "") -> Hub:
        """Return a room's hub for a member, who becomes known to the room.

        Raises a 404 ProblemError if there is no such room, a 409 one if it is full, if the address
        has its share of it, or if it is closed to newcomers.
        """
        hub = await self.hub(code)
        await hub.refresh()  # the member may have seen a newer document on another server
        if hub.room.over:
            raise unknown_room()
        if member is None:
            if why := Shared(SCREENS, "screens").refusal(
                hub.screens.elements(), hub.holder(address)
            ):
                raise _room_full(why, SCREENS, "screens")
        elif member not in hub.known:
            await self._admit(hub, member, hub.holder(address))
            hub.admit(member)
        return hub

    async def _admit(self, hub: Hub, member: str, holder: str) -> None:
        """Give a member a place, unless it has one. Raises what `join` raises."""
        limit = 0 if hub.room.closed else self.limits.members
        try:
            admitted = await self._enter(hub, member, limit, holder)
        except FullError as full:
            if hub.room.closed:
                detail = "the room is closed to newcomers"
                raise ProblemError(409, "room-closed", detail) from None
            if full.limited == "bytes":
                raise _no_space(full, self.limits.bytes) from None
            why = _refusal(full, limit, "members")
            raise _room_full(why, limit, "members") from None
        if not admitted:
            await hub.refresh()
            raise unknown_room()

    async def _enter(self, hub: Hub, member: str, limit: int, holder: str) -> bool:
        """Give a member a place, if need be that of one who has left. Raises FullError."""
        now = f"{time.time():.3f}".encode()
        try:
            return await self.bus.admit(hub.code, "members", member, now, limit, holder)
        except FullError:
            gone = [] if hub.room.closed else await self._left(hub)
            if not gone:
                raise
            await self.bus.remove(hub.code, "members", gone)
            return await self.bus.admit(hub.code, "members", member, now, limit, holder)

    async def _left(self, hub: Hub) -> list[str]:
        """Return the members that no server has seen for a while."""
        last_times = await self.seen(hub)
        oldest = time.time() - LEFT_SECONDS
        joined = await self.bus.fields(hub.code, "members")
        return [
            name
            for name, joined_at in joined.items()
            if max(float(joined_at), last_times.get(name, 0)) < oldest
        ]

    async def seen(self, hub: Hub) -> dict[str, float]:
        """Return when each member was last here, as all servers know."""
        by_server = [
            orjson.loads(document)
            for document in (await self.bus.fields(hub.code, "seen")).values()
        ]
        times: dict[str, float] = {}
        for seen_by_server in (*by_server, hub.seen()):
            times |= {name: max(last, times.get(name, 0)) for name, last in seen_by_server.items()}
        return times

    def knows(self, code: str, member: str | None) -> bool:
        """Return whether this server has seen the member in the room."""
        return code in self._hubs and member in self._hubs[code].known

    async def store(
        self,
        hub: Hub,
        part: str,
        name: str,
        value: bytes,
        address: str = "",
        *,
        document: bytes | None,
    ) -> bool:
        """Store something in a room; False if it has gone, or has another document than this.

        Raises a 507 ProblemError if the address has its share of the room's bytes.
        """
        holder = hub.holder(address)
        try:
            return await self.bus.put(hub.code, part, name, value, holder=holder, document=document)
        except FullError as full:
            raise _no_space(full, self.limits.bytes) from None

    async def change(
        self, code: str, key: str, make: Callable[[Room], Room], *, drivers: bool = False
    ) -> Room:
        """Replace the document by the one that `make` returns for it, given the room's key.

        With `drivers`, the key of the driver's seat is accepted too. Raises what `hub` raises, a
        403 ProblemError for a wrong key, a 429 one for too many changes, and what `make` raises.
        """
        hub = await self.hub(code)
        for tried in range(TRIES):
            await hub.refresh()  # another server may have changed it just now
            if hub.room.over:
                raise unknown_room()
            check_key(hub.room, key, drivers=drivers)
            if not tried:
                self._pace(code)
            old, before, room = hub.document, hub.room, make(hub.room)
            if room is before:
                return room
            document = room.dumped()
            seconds = ENDED_SECONDS if room.over else self.limits.seconds
            if await self.bus.replace(code, old, document, seconds):
                hub.learn(document)
                if room.link != before.link:
                    await self._note(code, room)
                return room
        raise ProblemError(
            503, "busy", "the room is changed too often", headers={"Retry-After": "1"}
        )

    async def owned(self, code: str, key: str) -> Hub:
        """Return a room's hub, given its key. Raises what `change` raises for a wrong key."""
        hub = await self.hub(code)
        check_key(hub.room, key, drivers=False)
        return hub

    async def counts(self, hub: Hub) -> Counts:
        """Count the members that are present, on all servers."""
        here_counts = hub.counts()
        stored = await self.bus.fields(hub.code, "servers")
        by_server = [here_counts]
        for server, document in stored.items():
            counts = Counts.model_validate_json(document)
            if server != self._server and here_counts.at - counts.at < STALE_SECONDS:
                by_server.append(counts)
        return Counts(
            following=sum(server_counts.following for server_counts in by_server),
            in_step=sum(
                server_counts.in_step
                for server_counts in by_server
                if server_counts.seq == here_counts.seq
            ),
            exploring=sum(server_counts.exploring for server_counts in by_server),
            seq=here_counts.seq,
            at=here_counts.at,
        )

    async def record(self, hub: Hub) -> list[dict[str, object]]:
        """Return all links that the room was shown, in order, with times."""
        noted = await self.bus.fields(hub.code, "record")
        return [orjson.loads(noted[name]) for name in sorted(noted, key=int)]

    def hang_up(self) -> None:
        """End all streams: they would last as long as the rooms."""
        self._closing = True
        for hub in self._hubs.values():
            hub.closing = True
            hub.wake()

    async def close(self) -> None:
        """Stop following the rooms and disconnect from the bus."""
        await asyncio.gather(*(hub.stop() for hub in self._hubs.values()))
        await self.bus.close()

    async def _note(self, code: str, room: Room) -> None:
        value = dumped({"seq": room.seq, "at": time.time(), "link": room.link})
        with suppress(FullError):  # the record has a gap, and the lesson goes on
            await self.bus.admit(code, "record", str(room.seq), value, MAX_RECORD)

    def _pace(self, code: str) -> None:
        """Count a change. Raises a 429 ProblemError beyond the limit."""
        now = time.monotonic()
        recent = [moment for moment in self._changes.get(code, []) if now - moment < 1]
        if len(recent) >= self.limits.changes:
            detail = f"at most {self.limits.changes} changes of a room per second"
            headers = {"Retry-After": "1"}
            raise ProblemError(429, "room-changes", detail, headers=headers)
        self._changes[code] = [*recent, now]

    def _forget(self, code: str) -> None:
        """Keep nothing of a room that has ended: who knew it, and what it showed."""
        for by_code in (self._hubs, self._changes):
            by_code.pop(code, None)


@asynccontextmanager
async def open_rooms(services: Services) -> AsyncIterator[None]:
    """Open the rooms of this server, or those that it shares with others."""
    settings = services[Settings]
    limits = RoomLimits.of(settings)
    rooms = Rooms(_bus(settings, limits.bytes), limits)
    services.add(rooms)
    services.add(RoomRates(settings))
    services.on_shutdown(rooms.hang_up)
    try:
        yield
    finally:
        await rooms.close()


def _bus(settings: Settings, room_bytes: int) -> Bus:
    url = settings.rooms_url
    if url is None:
        file = RoomsFile.open(settings.data_dir / "rooms.db")
        return MemoryBus(room_bytes, file=file, readable=readable)
    from app.rooms.rooms_in_redis import RedisBus  # imports redis, which only several servers need

    return RedisBus(url, room_bytes)


def unknown_room() -> ProblemError:
    """Return the same problem for a code that was never given, has ended or is none."""
    detail = "there is no room with this code, or it has ended"
    return ProblemError(404, "unknown-room", detail, field="code")


def check_key(room: Room, key: str, *, drivers: bool) -> None:
    """Raise a 403 ProblemError unless the key is the room's or, with `drivers`, the driver's."""
    if not (opens(key, room.key) or (drivers and opens(key, room.driver))):
        raise ProblemError(403, "wrong-room-key", "the key does not match the room")


def _refusal(full: FullError, limit: int, unit: str) -> str:
    why = Shared(limit, unit).refusal_of(full.mine, full.others)
    return why or f"of at most {limit} {unit}, {full.mine + full.others} are in use"


def _room_full(why: str, limit: int, unit: str) -> ProblemError:
    return ProblemError(409, "room-full", why, excess=Excess(limit, unit))


def _no_space(full: FullError, limit: int) -> ProblemError:
    detail = _refusal(full, limit, "bytes of a room")
    excess, headers = Excess(limit, "bytes"), {"Retry-After": "60"}
    return ProblemError(507, "room-out-of-space", detail, headers=headers, excess=excess)
