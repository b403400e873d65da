"""Where rooms are stored: the same tests in memory and in a real Redis."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from app.rooms.rooms_across_servers import Bus, FullError, MemoryBus
from app.rooms.rooms_in_redis import RedisBus
from app.store.storage_errors import StorageError
from tests.scale.stores import running_redis
from tests.servers import PATIENCE, free_port


@pytest.fixture
async def bus(rooms_url: str | None) -> AsyncIterator[Bus]:
    made: Bus = RedisBus(rooms_url) if rooms_url else MemoryBus()
    yield made
    await made.close()


async def test_a_room_is_stored_once(bus: Bus) -> None:
    assert await bus.create("aaaaaa", b"1", 60, 10)
    assert not await bus.create("aaaaaa", b"2", 60, 10)
    assert await bus.read("aaaaaa") == b"1"
    assert await bus.read("bbbbbb") is None


async def test_the_number_of_rooms_is_limited_until_some_expire(bus: Bus) -> None:
    assert await bus.create("aaaaaa", b"1", 60, 2)
    assert await bus.create("bbbbbb", b"1", 60, 2)
    with pytest.raises(FullError):
        await bus.create("cccccc", b"1", 60, 2)
    assert await bus.replace("aaaaaa", b"1", b"1", 1)
    await asyncio.sleep(2.1)  # Redis counts whole seconds
    assert await bus.create("cccccc", b"1", 60, 2)
    assert await bus.read("aaaaaa") is None


async def test_of_two_concurrent_changes_one_is_refused(bus: Bus) -> None:
    await bus.create("aaaaaa", b"1", 60, 10)
    done = await asyncio.gather(
        *(bus.replace("aaaaaa", b"1", new, 60) for new in (b"2", b"3", b"4"))
    )
    assert sum(done) == 1
    assert await bus.read("aaaaaa") == (b"2", b"3", b"4")[done.index(True)]
    assert not await bus.replace("bbbbbb", b"1", b"2", 60)


async def test_fields_are_stored_only_beside_the_expected_document(bus: Bus) -> None:
    await bus.create("aaaaaa", b"1", 60, 10)
    assert await bus.put("aaaaaa", "part", "x", b"old", document=b"1")
    assert await bus.put("aaaaaa", "part", "x", b"new", document=b"1")
    assert not await bus.put("aaaaaa", "part", "y", b"late", document=b"0")
    assert not await bus.put("bbbbbb", "part", "y", b"nowhere")
    assert not await bus.write("bbbbbb", "part", "x", b"nowhere")
    assert await bus.write("aaaaaa", "part", "z", b"any")
    assert await bus.fields("aaaaaa", "part") == {"x": b"new", "z": b"any"}
    assert await bus.count("aaaaaa", "part") == 2
    await bus.remove("aaaaaa", "part", ["z", "never"])
    assert await bus.count("aaaaaa", "part") == 1
    assert await bus.fields("aaaaaa", "other") == {}


async def test_of_many_at_once_as_many_are_admitted_as_allowed(bus: Bus) -> None:
    await bus.create("aaaaaa", b"1", 60, 10)
    wanted = [f"member-{n % 40}" for n in range(80)]
    admitted = await asyncio.gather(
        *(bus.admit("aaaaaa", "members", name, b"first", 7) for name in wanted),
        return_exceptions=True,
    )
    inside = {name for name, yes in zip(wanted, admitted, strict=True) if yes is True}
    assert len(inside) == 7
    assert admitted.count(True) == 14  # each of them twice
    told = {type(one) for one in admitted}
    assert told == {bool, FullError}
    fields = await bus.fields("aaaaaa", "members")
    assert fields.keys() == inside
    first = min(inside)
    assert await bus.admit("aaaaaa", "members", first, b"second", 7)
    assert await bus.fields("aaaaaa", "members") == dict.fromkeys(inside, b"first")
    await bus.remove("aaaaaa", "members", [first])
    assert await bus.admit("aaaaaa", "members", "late", b"1", 7)
    with pytest.raises(FullError) as full:
        await bus.admit("aaaaaa", "members", first, b"1", 7)
    assert (full.value.limited, full.value.mine, full.value.others) == ("fields", 7, 0)
    assert not await bus.admit("bbbbbb", "members", "x", b"1", 7)


async def test_one_holder_has_half_of_what_is_free_of_rooms_and_of_members(bus: Bus) -> None:
    async def held(work: Callable[[str, int], Awaitable[bool]], holder: str) -> int:
        for n in range(99):
            try:
                assert await work(holder, n)
            except FullError:
                return n
        raise AssertionError("no end")

    async def opens(holder: str, n: int) -> bool:
        return await bus.create(f"{holder}{n:05}", b"1", 60, 9, holder)

    async def enters(holder: str, n: int) -> bool:
        return await bus.admit("a00000", "members", f"{holder}{n}", b"1", 9, holder)

    for work in (opens, enters):
        assert [await held(work, holder) for holder in "abcdef"] == [5, 2, 1, 1, 0, 0]
    holders = await bus.holders("a00000", "members")
    assert Counter(holders.values()) == {"a": 5, "b": 2, "c": 1, "d": 1}
    await bus.remove("a00000", "members", ["b0", "b1"])
    assert [await held(enters, holder) for holder in "fa"] == [1, 5]


async def test_the_bytes_of_a_room_are_counted_by_holder(rooms_url: str | None) -> None:
    bus: Bus = RedisBus(rooms_url, 1_000) if rooms_url else MemoryBus(1_000)
    await bus.create("aaaaaa", b"1", 60, 10)

    async def put(name: str, size: int, holder: str) -> int | tuple[int, int]:
        try:
            await bus.put("aaaaaa", "part", name, bytes(size - len(name)), holder=holder)
        except FullError as full:
            return full.mine, full.others
        return size

    assert await put("x", 400, "a") == 400
    assert await put("y", 101, "a") == (400, 0)
    assert await put("x", 500, "a") == 500  # counted once
    assert await put("z", 251, "b") == (0, 500)
    assert await put("z", 250, "b") == 250
    assert await put("x", 251, "b") == (250, 0)  # what another holder had is free
    assert await put("x", 250, "b") == 250
    assert await put("w", 501, "") == (0, 500)
    assert await put("w", 500, "") == 500  # the server itself may have all that is left
    await bus.write("aaaaaa", "part", "own", bytes(5_000))  # is not counted
    await bus.remove("aaaaaa", "part", ["x", "own"])
    assert await put("v", 126, "c") == (0, 750)
    assert await put("v", 125, "c") == 125
    assert await put("z", 200, "b") == 200  # more than its share by now, but less than before
    await bus.close()


async def test_everything_of_a_room_expires_together_and_a_change_renews_it(bus: Bus) -> None:
    await bus.create("aaaaaa", b"1", 1, 10)
    await bus.write("aaaaaa", "part", "x", b"1")
    assert await bus.replace("aaaaaa", b"1", b"2", 3)
    await asyncio.sleep(1.5)
    assert await bus.fields("aaaaaa", "part") == {"x": b"1"}
    assert await bus.replace("aaaaaa", b"2", b"3", 1)
    await asyncio.sleep(1.5)
    assert await bus.read("aaaaaa") is None
    assert await bus.fields("aaaaaa", "part") == {}
    assert not await bus.write("aaaaaa", "part", "x", b"2")


async def test_fields_expire_with_a_room_that_never_changed(bus: Bus) -> None:
    await bus.create("aaaaaa", b"1", 1, 10)
    await bus.write("aaaaaa", "part", "x", b"1")
    await asyncio.sleep(1.5)
    assert await bus.fields("aaaaaa", "part") == {}


async def test_nothing_of_an_expired_room_stays_in_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("app.rooms.rooms_across_servers.SWEEP_SECONDS", 0.1)
    bus = MemoryBus()
    await bus.create("aaaaaa", b"1", 0.2, 10)
    await bus.create("bbbbbb", b"1", 60, 10)
    await asyncio.sleep(0.5)
    assert list(bus._rooms) == ["bbbbbb"]
    await bus.close()


async def test_listeners_hear_of_the_newest_document(bus: Bus) -> None:
    await bus.create("aaaaaa", b"0", 60, 10)
    async with bus.listen("aaaaaa") as documents:
        for n in range(5):
            assert await bus.replace("aaaaaa", b"%d" % n, b"%d" % (n + 1), 60)
        async with asyncio.timeout(PATIENCE):
            while await anext(documents) != b"5":
                pass


async def test_a_redis_that_does_not_respond_is_a_storage_error() -> None:
    bus = RedisBus(f"redis://127.0.0.1:{free_port()}")
    with pytest.raises(StorageError):
        await bus.read("aaaaaa")
    await bus.close()


async def test_a_stopped_redis_is_a_503(tmp_path: Path, serving: object) -> None:
    with running_redis(tmp_path) as (url, process):
        async with serving(rooms_url=url) as client:  # type: ignore[operator]
            state = {"state": {"link": "/"}}
            made = await client.post("/api/rooms", json=state)
            assert made.status_code == 201
            process.kill()
            process.wait()
            for reply in (
                await client.post("/api/rooms", json=state),
                await client.get("/api/rooms/aaaaaa/state"),
            ):
                assert reply.status_code == 503
                assert reply.json()["type"] == "urn:headlight:storage-unavailable"
                assert reply.headers["retry-after"]
