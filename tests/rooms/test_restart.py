"""A server has its own rooms again after it was killed in the middle of a question."""

import time
from pathlib import Path

import httpx
import pytest

from app.rooms.rooms_across_servers import MemoryBus
from app.rooms.rooms_in_file import RoomsFile
from tests.servers import running_app

PAGE_BYTES = 4096  # of SQLite
ASK = {"entry": "choice", "ask": {"kind": "looks", "link": "source=Hi&query=0"}}


def test_a_killed_server_has_its_rooms_and_their_answers_again(
    tmp_path: Path, server_cache: Path
) -> None:
    def state(client: httpx.Client, member: str) -> httpx.Response:
        return client.get(f"{room}/state", params={"member": member})

    def answer(client: httpx.Client, member: str) -> int:
        body = {"member": member, "n": 1, "answer": [member]}
        return client.post(f"{room}/answers", json=body).status_code

    with (
        running_app(tmp_path, warm=True, cache=server_cache) as server,
        httpx.Client(base_url=server.url) as client,
    ):
        made = client.post("/api/rooms", json={"state": {"link": "/?source=Hi"}}).json()
        room, owner = f"/api/rooms/{made['code']}", {"Authorization": f"Bearer {made['key']}"}
        assert client.put(f"{room}/question", json=ASK, headers=owner).status_code == 200
        assert [answer(client, f"student-{n}") for n in range(3)] == [204] * 3
        first = client.get(f"{room}/answers", headers=owner).json()["answers"][0]["id"]
        client.delete(f"{room}/answers/{first}", headers=owner)
        assert client.patch(room, json={"closed": True}, headers=owner).status_code == 200
        before = state(client, "student-0").json()
        server.kill()
    with (
        running_app(tmp_path, warm=True, cache=server_cache) as server,
        httpx.Client(base_url=server.url) as client,
    ):
        assert state(client, "student-1").json() == before
        assert state(client, "newcomer-1").status_code == 409  # it is still closed
        assert answer(client, "student-0") == 204
        assert client.get(f"{room}/class", headers=owner).json()["answered"] == 3
        shown = client.patch(
            f"{room}/question", json={"stage": "revealed", "truth": {}}, headers=owner
        )
        chosen = {f"student-{n}": 1 for n in range(3)}
        assert shown.json()["question"]["results"]["first"]["chosen"] == chosen
        assert client.get(f"{room}/record", headers=owner).json()["states"][0]["seq"] == 1


def opened(path: Path) -> RoomsFile:
    file = RoomsFile.open(path)
    assert file
    return file


async def test_a_room_has_after_a_restart_only_what_it_had(tmp_path: Path) -> None:
    path = tmp_path / "rooms.db"
    bus = MemoryBus(1_000, file=opened(path))
    await bus.create("aaaaaa", b"1", 60, 10, "a")
    await bus.replace("aaaaaa", b"1", b"2", 30)
    await bus.create("bbbbbb", b"1", 0.1, 10)
    for name in ("x", "y", "z"):
        await bus.put("aaaaaa", "part", name, bytes(99), holder="a")
    await bus.put("aaaaaa", "part", "x", bytes(199), holder="b")
    await bus.remove("aaaaaa", "part", ["y", "unknown"])
    await bus.write("aaaaaa", "servers", "here", b"1")
    await bus.close()
    time.sleep(0.1)
    assert path.stat().st_mode & 0o077 == 0  # answers are nobody else's to read

    bus = MemoryBus(1_000, file=opened(path))
    assert [await bus.read(code) for code in ("aaaaaa", "bbbbbb")] == [b"2", None]
    assert await bus.fields("aaaaaa", "part") == {"x": bytes(199), "z": bytes(99)}
    assert await bus.holders("aaaaaa", "part") == {"x": "b", "z": "a"}
    assert await bus.fields("aaaaaa", "servers") == {}
    room = bus._rooms["aaaaaa"]
    assert 20 < room.until - time.monotonic() <= 30
    assert (room.holder, dict(room.held)) == ("a", {"a": 100, "b": 200})
    await bus.close()


async def test_nothing_of_an_expired_room_stays_in_the_file(
    tmp_path: Path,
) -> None:
    path, now = tmp_path / "rooms.db", 0.0
    bus = MemoryBus(clock=lambda: now, file=opened(path))
    await bus.create("aaaaaa", b"1", 60, 10)
    await bus.put("aaaaaa", "part", "x", b"a secret answer")
    now = 61.0
    await bus.create("bbbbbb", b"1", 60, 10)
    files = list(tmp_path.iterdir())
    assert files
    assert not any(b"secret" in file.read_bytes() for file in files)
    await bus.close()


async def test_a_file_is_one_servers_and_a_lesson_goes_on_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.rooms.rooms_in_file.LOCK_SECONDS", 0.1)
    path = tmp_path / "rooms.db"
    file = opened(path)
    assert RoomsFile.open(path) is None
    bus = MemoryBus(file=file)
    file._database.execute("PRAGMA query_only = ON")  # as if the disk had failed
    await bus.create("aaaaaa", b"1", 60, 10)
    assert await bus.put("aaaaaa", "part", "x", b"1")
    assert await bus.fields("aaaaaa", "part") == {"x": b"1"}
    await bus.close()
    path.write_bytes(b"damaged")
    assert RoomsFile.open(path) is None


async def test_a_damaged_page_of_the_file_stops_no_server(tmp_path: Path) -> None:
    path = tmp_path / "rooms.db"
    bus = MemoryBus(file=opened(path))
    await bus.create("aaaaaa", b"1", 60, 10)
    for n in range(4):
        await bus.put("aaaaaa", "part", f"{n}", b"an answer" * 2_000)  # of several pages
    await bus.close()
    whole = path.read_bytes()
    for start in range(0, len(whole), PAGE_BYTES):
        damaged = bytearray(whole)
        damaged[start : start + PAGE_BYTES] = b"\xff" * PAGE_BYTES
        path.write_bytes(damaged)
        assert RoomsFile.open(path) is None, start
