"""Members of a room who come, read, go away without a word and come back.

The servers' counts are compared with a model of who is present.
"""

import asyncio
import json
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from app.http.problems import ProblemError
from app.rooms.open_rooms import STALE_SECONDS, RoomLimits, Rooms
from app.rooms.room_document import Counts
from app.rooms.room_on_server import ABSENT_SECONDS, Hub
from tests.servers import PATIENCE

# One member less than there are: the last to come finds the room full, whoever has left.
LIMITS = RoomLimits(rooms=100_000, members=3, seconds=600, changes=1_000_000)
MEMBERS = [f"member-{n}" for n in range(4)]
SERVERS = st.sampled_from([0, 1])
Value = TypeVar("Value")
TURNS = 20  # of the event loop, after which everybody has read what there is


class Clock:
    """The time of the servers, which passes only if it is set forward."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        """Return seconds, as time.monotonic does."""
        return self.now

    time = monotonic


class Connection:
    """A member's stream of events; `seqs` are the numbers of the states that arrived."""

    def __init__(self, hub: Hub, member: str, exploring: bool) -> None:
        self.hub, self.member = hub, member
        self.seqs: list[int] = []
        self._reading = asyncio.ensure_future(self._read(exploring))

    async def _read(self, exploring: bool) -> None:
        with self.hub.present(self.member, exploring):
            async for event in self.hub.events(self.member):
                if event.startswith(b"data: "):
                    self.seqs.append(json.loads(event[6:])["seq"])

    @property
    def ended(self) -> bool:
        """Whether the server has ended the stream."""
        return self._reading.done()

    async def close(self) -> None:
        """Break off, as a connection does whose phone is switched off."""
        self._reading.cancel()
        await asyncio.gather(self._reading, return_exceptions=True)


async def settle() -> None:
    """Let everybody read what there is."""
    for _ in range(TURNS):
        await asyncio.sleep(0)


@dataclass
class Present:
    """A member on one server, as it should be counted."""

    exploring: bool
    streams: int = 0
    left: float = 0.0
    seq: int = 0


@dataclass
class Presence:
    """Who is present on each server, by the server's name; what each has told the others."""

    clock: Callable[[], float]
    members: dict[str, dict[str, Present]] = field(default_factory=dict)
    told: dict[str, tuple[float, Counts]] = field(default_factory=dict)

    def enter(self, server: str, member: str, exploring: bool) -> None:
        """A member has connected."""
        one = self.members.setdefault(server, {}).setdefault(member, Present(exploring))
        one.exploring = exploring
        one.streams += 1

    def leave(self, server: str, member: str) -> None:
        """A connection has ended."""
        one = self.members[server][member]
        one.streams -= 1
        one.left = self.clock()

    def counted(self, server: str, seq: int) -> Counts:
        """Return what a server should count whose newest state is `seq`.

        A member who polls is between two requests for some seconds.
        """
        oldest = self.clock() - ABSENT_SECONDS
        here = self.members.setdefault(server, {})
        for name in [n for n, one in here.items() if not one.streams and one.left <= oldest]:
            del here[name]
        following = [one for one in here.values() if not one.exploring]
        return Counts(
            following=len(following),
            in_step=sum(one.seq == seq for one in following),
            exploring=len(here) - len(following),
            seq=seq,
        )

    def everywhere(self, server: str, seq: int) -> Counts:
        """Return what a server should count with what the others have told."""
        own = self.counted(server, seq)
        others = [
            told
            for name, (at, told) in self.told.items()
            if name != server and self.clock() - at < STALE_SECONDS
        ]
        return Counts(
            following=own.following + sum(one.following for one in others),
            in_step=own.in_step + sum(one.in_step for one in others if one.seq == seq),
            exploring=own.exploring + sum(one.exploring for one in others),
            seq=seq,
        )


class Comings(RuleBasedStateMachine):
    """Members who come and go; a subclass has the room."""

    clock = Clock()
    loop: asyncio.AbstractEventLoop
    servers: list[Rooms]
    code: str
    seq: int

    def begin(self) -> None:
        """Begin with nobody."""
        self.clock.now = 0.0
        self.presence = Presence(self.clock.monotonic)
        self.connections: list[Connection] = []
        self.joined: set[str] = set()
        self.closed = False  # to newcomers
        self.seen = dict.fromkeys(MEMBERS, 0)

    def run(self, work: Coroutine[Any, Any, Value]) -> Value:
        return self.loop.run_until_complete(asyncio.wait_for(work, PATIENCE))

    @rule(server=SERVERS, member=st.sampled_from(MEMBERS), exploring=st.booleans())
    def join(self, server: int, member: str, exploring: bool) -> None:
        """A member connects, to whichever server; the first state is not older than a seen one."""
        rooms = self.servers[server]
        full = len(self.joined) == LIMITS.members
        if member not in self.joined and (full or self.closed):
            with pytest.raises(ProblemError) as refused:
                self.run(rooms.join(self.code, member))
            assert refused.value.kind == ("room-closed" if self.closed else "room-full")
            return
        hub = self.run(rooms.join(self.code, member))
        assert hub.room.seq == self.seq  # nothing acknowledged is missing
        self.joined.add(member)
        self.run(self.connected(server, hub, member, exploring))

    async def connected(self, server: int, hub: Hub, member: str, exploring: bool) -> None:
        one = Connection(hub, member, exploring)
        self.connections.append(one)
        self.presence.enter(self.servers[server]._server, member, exploring)
        await self.read()
        assert one.seqs[0] >= self.seen[member]
        self.seen[member] = max(self.seen[member], *one.seqs)

    @rule(which=st.integers(0, 7))
    def leave(self, which: int) -> None:
        """A member goes away without a word; the answers stay."""
        if self.connections:
            one = self.connections[which % len(self.connections)]
            [server] = [n for n in (0, 1) if one.hub in self.servers[n]._hubs.values()]
            self.run(self.gone(one, server))

    async def gone(self, one: Connection, server: int) -> None:
        await self.read()
        await one.close()
        self.connections.remove(one)
        self.presence.leave(self.servers[server]._server, one.member)

    async def thrown_out(self, member: str, server: int) -> None:
        """A member was removed by a server: its streams there have ended, others break off."""
        await settle()
        for one in [one for one in self.connections if one.member == member]:
            [of] = [n for n in (0, 1) if one.hub in self.servers[n]._hubs.values()]
            assert of != server or one.ended
            name = self.servers[of]._server
            # It may have been sent the document of its removal before it ended.
            self.presence.members[name][member].seq = one.seqs[-1]
            await one.close()
            self.connections.remove(one)
            self.presence.leave(name, member)

    async def read(self) -> None:
        """Let everybody read; no state is older than the one before."""
        await settle()
        for one in self.connections:
            assert one.seqs == sorted(set(one.seqs))
            assert one.seqs[-1] == one.hub.room.seq
            self.seen[one.member] = max(self.seen[one.member], one.seqs[-1])
            for rooms in self.servers:
                if one.hub in rooms._hubs.values():
                    self.presence.members[rooms._server][one.member].seq = one.seqs[-1]

    @rule(seconds=st.sampled_from([4.0, 11.0, 16.0]))
    def wait(self, seconds: float) -> None:
        """Time passes, after which those who left are no longer counted."""
        self.clock.now += seconds

    @rule(server=SERVERS)
    def tell(self, server: int) -> None:
        """A server tells the others who is there."""
        self.run(self.telling(self.servers[server]))

    async def telling(self, rooms: Rooms) -> None:
        hub = await rooms.hub(self.code)
        await hub.refresh()
        await self.read()
        name = rooms._server
        self.presence.told[name] = self.clock.monotonic(), self.presence.counted(name, hub.room.seq)
        await hub._tell(name)

    @invariant()
    def the_class_is_counted(self) -> None:
        """Who follows, who is in step, who explores, and who has ever joined."""
        if hasattr(self, "presence"):
            for rooms in self.servers:
                self.run(self.counting(rooms))

    async def counting(self, rooms: Rooms) -> None:
        hub = await rooms.hub(self.code)
        await self.read()
        expected = self.presence.everywhere(rooms._server, hub.room.seq)
        found = await rooms.counts(hub)
        assert found.model_copy(update={"at": 0.0}) == expected
        assert await rooms.bus.count(self.code, "members") == len(self.joined)
