"""The rooms of a server: opened, followed, controlled with a key, ended."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from secrets import token_hex

import orjson

from app.http.problems import ProblemError
from app.rooms.bus import Bus, FullError
from app.rooms.codes import hashed, is_code, new_code, new_key, opens
from app.rooms.hub import Hub
from app.rooms.room import Counts, Room
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


class Rooms:
    """Rooms on a bus; `hub` gives the one that this server keeps up to date."""

    def __init__(self, bus: Bus, limits: RoomLimits) -> None:
        self.bus = bus
        self.limits = limits
        self._hubs: dict[str, Hub] = {}
        self._known: dict[str, set[str]] = {}
        self._changes: dict[str, list[float]] = {}
        self._server = token_hex(4)
        self._closing = False

    async def create(self, link: str) -> tuple[str, str, Room]:
        """Open a room; return its code, its key and its document.

        Raises a 503 ProblemError if there are as many rooms as allowed.
        """
        key = new_key()
        room = Room(link=link, key=hashed(key), created=time.time())
        document = room.dumped()
        for _ in range(TRIES):
            code = new_code()
            try:
                made = await self.bus.create(code, document, self.limits.seconds, self.limits.rooms)
            except FullError:
                detail = f"this server has {self.limits.rooms} rooms, the most that it allows"
                headers = {"Retry-After": "60"}
                raise ProblemError(503, "rooms-full", detail, headers=headers) from None
            if made:
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

    async def join(self, code: str, member: str | None) -> Hub:
        """Return a room's hub for a member, who becomes known to the room.

        Raises a 404 ProblemError if there is no such room, a 409 one if it is full.
        """
        hub = await self.hub(code)
        await hub.refresh()  # the member may have seen a newer document on another server
        if hub.room.over:
            raise unknown_room()
        known = self._known.setdefault(code, set())
        if member is None:
            if hub.watchers >= SCREENS:
                raise _room_full(SCREENS, "screens")
        elif member not in known:
            now = str(round(time.time())).encode()
            if not await self.bus.admit(code, "members", member, now, self.limits.members):
                await hub.refresh()
                if hub.room.over:
                    raise unknown_room()
                raise _room_full(self.limits.members, "members")
            known.add(member)
        return hub

    def knows(self, code: str, member: str | None) -> bool:
        """Return whether this server has seen the member in the room."""
        return member is not None and member in self._known.get(code, ())

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
        own = hub.counts()
        others = await self.bus.fields(hub.code, "servers")
        found = [own]
        for server, told in others.items():
            counts = Counts.model_validate_json(told)
            if server != self._server and own.at - counts.at < STALE_SECONDS:
                found.append(counts)
        return Counts(
            following=sum(one.following for one in found),
            in_step=sum(one.in_step for one in found if one.seq == own.seq),
            exploring=sum(one.exploring for one in found),
            seq=own.seq,
            at=own.at,
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
        value = orjson.dumps({"seq": room.seq, "at": time.time(), "link": room.link})
        await self.bus.admit(code, "record", str(room.seq), value, MAX_RECORD)

    def _pace(self, code: str) -> None:
        """Count a change. Raises a 429 ProblemError beyond the limit."""
        now = time.monotonic()
        recent = [at for at in self._changes.get(code, []) if now - at < 1]
        if len(recent) >= self.limits.changes:
            detail = f"at most {self.limits.changes} changes of a room per second"
            headers = {"Retry-After": "1"}
            raise ProblemError(429, "room-changes", detail, headers=headers)
        self._changes[code] = [*recent, now]

    def _forget(self, code: str) -> None:
        """Keep nothing of a room that has ended: who knew it, and what it showed."""
        for kept in (self._hubs, self._known, self._changes):
            kept.pop(code, None)


def unknown_room() -> ProblemError:
    """Return the same problem for a code that was never given, has ended or is none."""
    detail = "there is no room with this code, or it has ended"
    return ProblemError(404, "unknown-room", detail, field="code")


def check_key(room: Room, key: str, *, drivers: bool) -> None:
    """Raise a 403 ProblemError unless the key is the room's or, with `drivers`, the driver's."""
    if not (opens(key, room.key) or (drivers and opens(key, room.driver))):
        raise ProblemError(403, "wrong-room-key", "the key does not match the room")


def _room_full(most: int, unit: str) -> ProblemError:
    detail = f"a room may have at most {most} {unit}"
    return ProblemError(409, "room-full", detail, excess=Excess(most, unit))
