"""The members of a room as its teacher sees them: listed without names, removed, and the wall.

The wall is what each member explores, which the teacher sees once she has opened it. A member sends
a link, so that nothing is drawn or run for it here. One entry is stored for each member, bounded in
bytes and in how often it may be sent, and all are deleted with the wall.
"""

import hashlib
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from app.http.problems import ProblemError
from app.rooms.open_rooms import Rooms
from app.rooms.room_document import Room, parts_of
from app.rooms.room_on_server import Hub
from app.rooms.rooms_across_servers import IDLE_SECONDS
from app.rooms.schemas import Work
from app.store.documents import dumped
from model.errors import InputError

HERE_SECONDS = 3 * IDLE_SECONDS  # since another server last saw a member that is still here


@dataclass(frozen=True)
class Present:
    """A member; `id` identifies it within the room's list and nowhere else.

    `network` counts the addresses that members came from, in the order in which they came.
    """

    id: str
    network: int
    joined: float
    here: bool
    answered: bool


async def listed(rooms: Rooms, hub: Hub, address: str) -> tuple[list[Present], int | None]:
    """Return the members of a room, the first to come first, and the number of a network.

    That is the one of `address`; None if no member came from it.
    """
    joined = await rooms.bus.fields(hub.code, "members")
    holders = await rooms.bus.holders(hub.code, "members")
    last_times, oldest = await rooms.seen(hub), time.time() - HERE_SECONDS
    question = hub.room.question
    parts = parts_of(question.n) if question else ()
    answered = {name for part in parts for name in await rooms.bus.fields(hub.code, part)}
    order = sorted(joined, key=lambda name: (float(joined[name]), name))
    networks = {holder: n for n, holder in enumerate(dict.fromkeys(map(holders.get, order)), 1)}
    present = [
        Present(
            id=identity_in(hub, name),
            network=networks[holders.get(name)],
            joined=float(joined[name]),
            here=last_times.get(name, 0) > oldest,
            answered=name in answered,
        )
        for name in order
    ]
    return present, networks.get(hub.holder(address))


async def close(rooms: Rooms, code: str, key: str, *, closed: bool) -> Room:
    """Close a room to newcomers, or open it again. Raises what `Rooms.change` raises."""
    return await rooms.change(
        code, key, lambda room: room if room.closed == closed else room.then(closed=closed)
    )


async def remove(rooms: Rooms, code: str, key: str, ids: Collection[str]) -> int:
    """Close a room and remove members with their answers; return how many were removed.

    An open room would let them in again at once. Raises what `Rooms.change` raises.
    """
    await close(rooms, code, key, closed=True)
    hub = await rooms.hub(code)
    names = await rooms.bus.fields(code, "members")
    gone = [name for name in names if identity_in(hub, name) in ids]
    if gone:
        await rooms.bus.remove(code, "members", gone)
        await rooms.bus.remove(code, WALL, gone)
        for n in range(1, hub.room.asked + 1):
            for part in parts_of(n):
                await rooms.bus.remove(code, part, gone)
        await rooms.change(code, key, lambda room: room.then(removals=room.removals + 1))
        await hub.carry_out_removals()
    return len(gone)


def identity_in(hub: Hub, member: str) -> str:
    """Return what identifies a member to the teacher; it is in no list of answers."""
    return hashlib.sha256(f"{hub.room.key} member {member}".encode()).hexdigest()[:12]


WALL = "work"

SECONDS = 1.0  # between two entries of a member


async def adjust_room(rooms: Rooms, code: str, key: str, changes: Mapping[str, Any]) -> Room:
    """Change who comes in, whether members explore, or whether the teacher sees what they explore.

    Raises what `Rooms.change` raises.
    """

    def make(room: Room) -> Room:
        is_new = any(getattr(room, name) != value for name, value in changes.items())
        return room.then(**changes) if is_new else room

    room = await rooms.change(code, key, make)
    if changes.get("wall") == "closed":
        await rooms.bus.remove(code, WALL, await rooms.bus.fields(code, WALL))
    return room


async def send_to_wall(
    rooms: Rooms, hub: Hub, member: str, link: str, nickname: str | None, address: str
) -> str:
    """Store what a member explores, instead of what it explored before; return the entry's id.

    Raises a 409 ProblemError if the wall is closed, a 429 one for entries in quick succession,
    InputError for a nickname that is not asked for, and what `Rooms.store` raises.
    """
    if hub.room.wall == "closed":
        raise ProblemError(409, "wall-closed", "the teacher does not see what members explore")
    if nickname is not None and hub.room.wall != "named":
        raise InputError("unknown-field", "nickname", "nickname is not asked for on this wall")
    hub.pace(f"wall {member}", SECONDS)
    entry = dumped({"link": link, "nickname": nickname, "at": time.time()})
    await rooms.store(hub, WALL, member, entry, address, document=None)
    return identity_on(hub, member)


async def works_on_wall(rooms: Rooms, hub: Hub) -> list[Work]:
    """Return what the members explore, in an order that stays the same."""
    entries = await rooms.bus.fields(hub.code, WALL)
    works = [
        Work(id=identity_on(hub, member), **orjson.loads(entry))
        for member, entry in entries.items()
    ]
    return sorted(works, key=lambda work: work.id)


def identity_on(hub: Hub, member: str) -> str:
    """Return what identifies a member on the wall, and nowhere else."""
    return hashlib.sha256(f"{hub.room.key} work {member}".encode()).hexdigest()[:12]
