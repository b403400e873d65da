"""Two servers that share a bus."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from app.http.problems import ProblemError
from app.rooms import asking, room_on_server, rooms_across_servers, rooms_in_redis
from app.rooms.open_rooms import RoomLimits, Rooms
from app.rooms.room_document import hashed
from app.rooms.room_on_server import PING, Hub
from app.rooms.rooms_across_servers import Bus, MemoryBus
from app.rooms.rooms_in_redis import RedisBus
from tests.servers import PATIENCE

LIMITS = RoomLimits(rooms=100, members=2, seconds=600, changes=1_000)
Pair = tuple[Rooms, Rooms]


@pytest.fixture(autouse=True)
def _only_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    """No server looks by itself for changes whose message was lost."""
    for module in (rooms_across_servers, rooms_in_redis):
        monkeypatch.setattr(module, "IDLE_SECONDS", 2 * PATIENCE)


@pytest.fixture
async def servers(rooms_url: str | None) -> AsyncIterator[Pair]:
    memory = MemoryBus()

    def opened() -> Rooms:
        shared: Bus = RedisBus(rooms_url) if rooms_url else memory
        return Rooms(shared, LIMITS)

    pair = opened(), opened()
    yield pair
    for one in pair:
        await one.close()


async def present(rooms: Rooms, code: str, key: str, link: str, *, drivers: bool = False) -> int:
    return (await rooms.change(code, key, lambda room: room.then(link=link), drivers=drivers)).seq


async def deaf(rooms: Rooms, code: str) -> Hub:
    """Return a room's hub on a server that does not hear of changes."""
    found = await rooms.hub(code)
    await found.stop()
    found.feed = lambda server: None  # type: ignore[method-assign]
    return found


async def heard(events: AsyncIterator[bytes]) -> int:
    async with asyncio.timeout(PATIENCE):
        event = await anext(events)
    return int(json.loads(event.removeprefix(b"data: "))["seq"])


async def test_each_change_reaches_the_members_of_the_other_server_soon(servers: Pair) -> None:
    first, second = servers
    code, key, _ = await first.create("/")
    events = (await second.join(code, "member-1")).events()
    assert await heard(events) == 1
    for n in range(3):
        seq = await present(first, code, key, f"/?layer={n}")
        assert await heard(events) == seq
    await first.change(code, key, lambda room: room.then(over=True))
    assert await heard(events) == seq + 1
    with pytest.raises(StopAsyncIteration):
        await anext(events)


async def test_what_changed_before_a_server_listened_is_read(servers: Pair) -> None:
    first, second = servers
    code, key, room = await first.create("/")
    late = Hub(second.bus, code, room.dumped())
    await present(first, code, key, "/lab")
    late.feed("late")
    assert await late.after(1, PATIENCE)
    await late.stop()


async def test_a_lost_message_is_made_up_for(
    servers: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (rooms_across_servers, rooms_in_redis):
        monkeypatch.setattr(module, "IDLE_SECONDS", 0.1)
    first, second = servers
    code, key, _ = await first.create("/")
    listening = await second.join(code, "member-1")
    seq = await present(first, code, key, "/lab")
    assert await listening.after(seq - 1, PATIENCE)
    changed = listening.room.then(link="/?lost=1").dumped()
    if isinstance(second.bus, RedisBus):
        await second.bus._redis.set(rooms_in_redis._room(code), changed)
    else:
        assert isinstance(second.bus, MemoryBus)
        second.bus._rooms[code].document = changed
    assert await listening.after(seq, PATIENCE)
    assert listening.room.link == "/?lost=1"


async def test_an_idle_stream_shows_that_it_is_alive(
    servers: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room_on_server, "PING_SECONDS", 0.05)
    code, _, _ = await servers[0].create("/")
    events = (await servers[0].join(code, None)).events()
    assert await heard(events) == 1
    assert await anext(events) == PING


async def test_a_seat_that_was_taken_back_is_refused_by_a_server_that_has_not_heard(
    servers: Pair,
) -> None:
    first, second = servers
    code, key, _ = await first.create("/")
    await first.change(code, key, lambda room: room.then(driver=hashed("seat")))
    await deaf(second, code)
    assert await present(second, code, "seat", "/lab", drivers=True) == 3
    await first.change(code, key, lambda room: room.then(driver=None))
    with pytest.raises(ProblemError) as refused:
        await present(second, code, "seat", "/?late=1", drivers=True)
    assert refused.value.kind == "wrong-room-key"
    assert (await first.join(code, None)).room.link == "/lab"


async def test_members_are_counted_once_on_all_servers(servers: Pair) -> None:
    first, second = servers
    code, _, _ = await first.create("/")
    for rooms, member in ((first, "member-1"), (first, "member-2"), (second, "member-1")):
        await rooms.join(code, member)
    with pytest.raises(ProblemError) as refused:
        await second.join(code, "member-3")
    assert refused.value.kind == "room-full"
    assert await first.bus.count(code, "members") == 2


async def test_the_last_seat_is_taken_once_and_no_other_is_lost(servers: Pair) -> None:
    code, _, _ = await servers[0].create("/")

    async def joins(n: int) -> str:
        try:
            await servers[n % 2].join(code, f"member-{n // 2}")
        except ProblemError as problem:
            return problem.kind
        return ""

    told = await asyncio.gather(*map(joins, range(40)))
    assert {*told} == {"", "room-full"}
    inside = {n // 2 for n, kind in enumerate(told) if not kind}
    assert len(inside) == LIMITS.members
    assert [told[2 * n : 2 * n + 2] for n in inside] == [["", ""]] * LIMITS.members
    assert await servers[0].bus.count(code, "members") == LIMITS.members
    assert await joins(2 * 20) == "room-full"


async def test_a_member_of_a_room_that_has_expired_is_not_told_that_it_is_full(
    servers: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = servers
    code, _, _ = await first.create("/")
    admit = second.bus.admit

    async def late(*sent: object) -> bool:
        if isinstance(second.bus, RedisBus):
            await second.bus._redis.delete(rooms_in_redis._room(code))
        else:
            assert isinstance(second.bus, MemoryBus)
            del second.bus._rooms[code]
        return await admit(*sent)  # type: ignore[arg-type]

    monkeypatch.setattr(second.bus, "admit", late)
    with pytest.raises(ProblemError) as refused:
        await second.join(code, "member-1")
    assert refused.value.kind == "unknown-room"


async def test_an_answer_is_stored_although_the_room_changes_meanwhile(
    servers: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = servers
    code, key, _ = await first.create("/")
    about = {"kind": "looks", "link": "source=Hi"}
    await asking.ask(first, code, key, "choice", about)
    stale = await deaf(second, code)
    put = second.bus.put

    async def late(*sent: Any, **more: Any) -> bool:
        monkeypatch.setattr(second.bus, "put", put)
        await present(first, code, key, "/?moved=1")
        stored = await put(*sent, **more)
        await stale.refresh()  # the message arrives before the reply
        return stored

    monkeypatch.setattr(second.bus, "put", late)
    await asking.answer(second, stale, "member-1", 1, ["2"])
    assert [one.answer for one in await asking.given(first, stale, 1)] == [["2"]]


async def test_rooms_that_have_ended_are_forgotten(servers: Pair) -> None:
    rooms, _ = servers
    code, key, _ = await rooms.create("/")
    await rooms.join(code, "member-1")
    other, _, _ = await rooms.create("/")
    await rooms.hub(other)
    await rooms.change(code, key, lambda room: room.then(over=True))
    async with asyncio.timeout(PATIENCE):
        while code in rooms._hubs:
            await asyncio.sleep(0.01)
    assert list(rooms._hubs) == [other]
    assert not rooms.knows(code, "member-1")
    assert code not in rooms._changes
    with pytest.raises(ProblemError):
        await rooms.join(code, "member-1")


async def test_a_room_that_is_found_while_the_server_stops_has_no_endless_stream(
    servers: Pair,
) -> None:
    first, second = servers
    code, _, _ = await first.create("/")
    second.hang_up()
    events = (await second.join(code, None)).events()
    async with asyncio.timeout(PATIENCE):
        assert len([one async for one in events]) == 1


async def test_a_member_who_joins_a_server_that_has_not_heard_gets_the_newest_state(
    servers: Pair,
) -> None:
    first, second = servers
    code, key, _ = await first.create("/")
    await deaf(second, code)
    seq = await present(first, code, key, "/lab")
    assert (await second.join(code, "member-1")).room.seq == seq


async def test_a_room_that_has_ended_is_deleted_soon(
    servers: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.rooms.open_rooms.ENDED_SECONDS", 1.0)
    rooms, _ = servers
    code, key, _ = await rooms.create("/")
    await rooms.change(code, key, lambda room: room.then(over=True))
    assert await rooms.bus.read(code)
    await asyncio.sleep(1.5)
    assert await rooms.bus.read(code) is None
