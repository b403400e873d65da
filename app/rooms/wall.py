"""The wall: what each member explores, which the teacher sees once she has opened it.

A member sends a link, so that nothing is drawn or run for it here. One entry is stored for each
member, bounded in bytes and in how often it may be sent, and all are deleted with the wall.
"""

import hashlib
import time
from collections.abc import Mapping
from typing import Any

import orjson

from app.http.problems import ProblemError
from app.rooms.open_rooms import Rooms
from app.rooms.room_document import Room
from app.rooms.room_on_server import Hub
from app.rooms.schemas import Work
from app.store.documents import dumped
from model.errors import InputError

PART = "work"
SECONDS = 1.0  # between two entries of a member


async def adjust(rooms: Rooms, code: str, key: str, changes: Mapping[str, Any]) -> Room:
    """Change who comes in, whether members explore, or whether the teacher sees what they explore.

    Raises what `Rooms.change` raises.
    """

    def make(room: Room) -> Room:
        is_new = any(getattr(room, name) != value for name, value in changes.items())
        return room.then(**changes) if is_new else room

    room = await rooms.change(code, key, make)
    if changes.get("wall") == "closed":
        await rooms.bus.remove(code, PART, await rooms.bus.fields(code, PART))
    return room


async def send(
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
    await rooms.store(hub, PART, member, entry, address, document=None)
    return identity_on(hub, member)


async def listed(rooms: Rooms, hub: Hub) -> list[Work]:
    """Return what the members explore, in an order that stays the same."""
    entries = await rooms.bus.fields(hub.code, PART)
    works = [
        Work(id=identity_on(hub, member), **orjson.loads(entry))
        for member, entry in entries.items()
    ]
    return sorted(works, key=lambda work: work.id)


def identity_on(hub: Hub, member: str) -> str:
    """Return what identifies a member on the wall, and nowhere else."""
    return hashlib.sha256(f"{hub.room.key} work {member}".encode()).hexdigest()[:12]
