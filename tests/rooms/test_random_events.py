"""Rooms under random orders of events, on one bus with two servers that may crash.

Members come, read, go away without a word and come back, to whichever server.
"""

import asyncio
import csv
import io
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from app.http.problems import ProblemError
from app.rooms import answer_files, asking, members
from app.rooms.open_rooms import Rooms
from app.rooms.room_document import Room, hashed
from app.rooms.rooms_across_servers import Bus, MemoryBus
from app.rooms.rooms_in_redis import RedisBus
from app.rooms.schemas import Stage, Truth
from tests.rooms.room_presence import LIMITS, MEMBERS, SERVERS, Comings

ABOUT = {"kind": "looks", "link": "source=Hi"}


class Classroom(Comings):
    """A teacher, members, two servers; what was acknowledged is compared with what is stored."""

    url: str | None = None

    @initialize()
    def open(self) -> None:
        self.begin()
        self.loop = asyncio.new_event_loop()
        self.memory = MemoryBus()
        self.servers = [self.started(), self.started()]
        self.code, self.key, room = self.run(self.servers[0].create("/?n=0"))
        self.sent, self.seq = 0, room.seq
        self.stage: Stage | None = None
        self.n = 0
        self.votes: dict[tuple[int, str, str], list[str]] = {}  # acknowledged
        self.documents = [room.dumped()]
        self.seats: list[str] = []
        self.seat: str | None = None

    def started(self) -> Rooms:
        bus: Bus = RedisBus(self.url) if self.url else self.memory
        return Rooms(bus, LIMITS)

    @rule(server=SERVERS)
    def crash(self, server: int) -> None:
        """A server is killed, and another one takes its place."""
        for hub in self.servers[server]._hubs.values():
            for one in [one for one in self.connections if one.hub is hub]:
                self.run(self.gone(one, server))
            self.run(hub.stop())
        if self.url:
            self.run(self.servers[server].close())
        self.servers[server] = self.started()

    @rule(server=SERVERS)
    def lose_notifications(self, server: int) -> None:
        """A server no longer hears of changes."""
        hub = self.run(self.servers[server].hub(self.code))
        self.run(hub.stop())
        hub.feed = lambda server: None  # type: ignore[method-assign]

    @rule(server=SERVERS, back=st.integers(1, 9))
    def hear_late(self, server: int, back: int) -> None:
        """A document arrives after newer ones."""
        hub = self.run(self.servers[server].hub(self.code))
        before = hub.room.seq
        hub.learn(self.documents[-back:][0])
        assert hub.room.seq >= before

    @rule(server=SERVERS)
    def present(self, server: int) -> None:
        self.sent += 1
        link = f"/?n={self.sent}"
        assert self.changed(server, link=link).link == link

    @rule(server=SERVERS, handed=st.booleans())
    def hand_over_or_take_back(self, server: int, handed: bool) -> None:
        self.seat = f"seat-{len(self.seats)}" if handed else None
        if self.seat:
            self.seats.append(self.seat)
        self.changed(server, driver=hashed(self.seat) if self.seat else None)

    @rule(server=SERVERS, back=st.integers(1, 3))
    def drive(self, server: int, back: int) -> None:
        """A driver presents, perhaps with a key that is no longer valid or never was."""
        key = ["a guess", *self.seats][-back:][0]
        self.sent += 1
        if key == self.seat:
            self.changed(server, key, link=f"/?n={self.sent}")
            return
        with pytest.raises(ProblemError) as refused:
            self.changed(server, key, link=f"/?n={self.sent}")
        assert refused.value.kind == "wrong-room-key"

    def changed(self, server: int, key: str | None = None, **changes: Any) -> Room:
        room = self.run(
            self.servers[server].change(
                self.code, key or self.key, lambda room: room.then(**changes), drivers=True
            )
        )
        assert room.seq > self.seq
        self.seq = room.seq
        self.documents.append(room.dumped())
        return room

    @rule(server=SERVERS, closed=st.booleans())
    def close_or_open(self, server: int, closed: bool) -> None:
        """The teacher closes the room to newcomers, or opens it again."""
        room = self.run(members.close(self.servers[server], self.code, self.key, closed=closed))
        assert (room.closed, room.seq) == (closed, self.seq + (closed != self.closed))
        self.closed, self.seq = closed, room.seq

    @rule(server=SERVERS, member=st.sampled_from(MEMBERS))
    def remove(self, server: int, member: str) -> None:
        """The teacher removes a member, with all its answers; its place is free."""
        rooms = self.servers[server]
        hub = self.run(rooms.hub(self.code))
        ids = [members.identity_in(hub, member), "unknown"]
        there = member in self.joined
        assert self.run(members.remove(rooms, self.code, self.key, ids)) == there
        self.closed, self.seq = True, hub.room.seq
        if there:
            self.run(self.thrown_out(member, server))
            self.joined.remove(member)
            self.votes = {key: one for key, one in self.votes.items() if key[2] != member}
        listed, _ = self.run(members.listed(rooms, hub, ""))
        assert {one.id for one in listed} == {members.identity_in(hub, m) for m in self.joined}

    @rule(server=SERVERS)
    def ask(self, server: int) -> None:
        made = asking.ask(self.servers[server], self.code, self.key, "choice", ABOUT)
        room = self.run(made)
        assert room.question
        assert room.question.n == self.n + 1
        self.n, self.stage, self.seq = room.question.n, "first", room.seq

    @rule(server=SERVERS, stage=st.sampled_from(["discuss", "second", "revealed"]))
    def proceed(self, server: int, stage: Stage) -> None:
        allowed = {
            "discuss": ("first",),
            "second": ("discuss",),
            "revealed": ("first", "discuss", "second"),
        }[stage]
        work = asking.proceed(self.servers[server], self.code, self.key, stage, Truth(right=["1"]))
        if self.stage not in allowed:
            with pytest.raises(ProblemError) as refused:
                self.run(work)
            assert refused.value.kind == "not-asking"
            return
        room = self.run(work)
        assert room.question
        self.stage, self.seq = stage, room.seq
        if stage != "revealed":
            assert room.question.results is None
            return
        assert room.question.results
        for vote in ("first", "second"):
            own = [a for (n, v, _), a in self.votes.items() if (n, v) == (self.n, vote)]
            result = room.question.results[vote]
            assert result.count == len(own)
            assert sum(result.chosen.values()) == len(own)
            assert result.right == own.count(["1"])

    @rule(
        server=SERVERS,
        member=st.sampled_from(MEMBERS),
        choice=st.sampled_from(["0", "1", "2"]),
        late=st.booleans(),
        times=st.integers(1, 3),
    )
    def answer(self, server: int, member: str, choice: str, late: bool, times: int) -> None:
        """A member answers, perhaps several times, perhaps an earlier question."""
        n = max(self.n - 1, 0) if late else self.n
        rooms = self.servers[server]
        hub = self.run(rooms.hub(self.code))  # may not have heard of the last change yet
        for _ in range(times):
            work = asking.answer(rooms, hub, member, n, [choice])
            if self.stage in ("first", "second") and n == self.n:
                self.run(work)
                self.votes[n, self.stage, member] = [choice]
            else:
                with pytest.raises(ProblemError):
                    self.run(work)

    @invariant()
    def every_acknowledged_answer_is_there_once(self) -> None:
        if not hasattr(self, "loop"):
            return
        rooms = self.servers[0]
        hub = self.run(rooms.hub(self.code))
        for n in range(1, self.n + 1):
            found = self.run(asking.given(rooms, hub, n))
            own = [(v, a) for (m, v, _), a in self.votes.items() if m == n]
            assert sorted((one.vote, one.answer) for one in found) == sorted(own)
        if hub.room.seq == self.seq and self.n:
            vote = "second" if self.stage == "second" else "first"
            now = [one for one in self.votes if one[:2] == (self.n, vote)]
            assert self.run(asking.answered(rooms, hub)) == len(now)

    def teardown(self) -> None:
        if not hasattr(self, "loop"):
            return
        self.run(self.servers[0].hub(self.code))
        hub = self.run(self.servers[0].join(self.code, None))
        rows = list(csv.reader(io.StringIO(self.run(answer_files.table(self.servers[0], hub)))))
        assert len(rows) == 1 + len({(n, member) for n, _, member in self.votes})
        for one in self.connections:
            self.run(one.close())
        for server in self.servers:
            self.run(server.close())
        self.loop.close()


def test_no_state_is_older_and_no_answer_counted_twice(
    rooms_url: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.rooms.room_on_server.time", Classroom.clock)
    machine = type("Machine", (Classroom,), {"url": rooms_url})
    quiet = list(HealthCheck)
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=12,
            stateful_step_count=20,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=quiet,
        ),
    )
