"""The members of a room as its teacher sees them: listed without names, and removed."""

import hashlib
import time
from collections.abc import Collection
from dataclasses import dataclass

from app.rooms import wall
from app.rooms.asking import parts_of
from app.rooms.open_rooms import Rooms
from app.rooms.room_document import Room
from app.rooms.room_on_server import Hub
from app.rooms.rooms_across_servers import IDLE_SECONDS

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
        await rooms.bus.remove(code, wall.PART, gone)
        for n in range(1, hub.room.asked + 1):
            for part in parts_of(n):
                await rooms.bus.remove(code, part, gone)
        await rooms.change(code, key, lambda room: room.then(removals=room.removals + 1))
        await hub.carry_out_removals()
    return len(gone)


def identity_in(hub: Hub, member: str) -> str:
    """Return what identifies a member to the teacher; it is in no list of answers."""
    return hashlib.sha256(f"{hub.room.key} member {member}".encode()).hexdigest()[:12]
