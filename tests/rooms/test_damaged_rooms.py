"""Rooms in a file that is damaged, or on a disk that fails: nothing is half, and lessons go on."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from app.http.problems import ProblemError
from app.rooms import answer_files, asking, members
from app.rooms.damaged_rooms import readable
from app.rooms.open_rooms import RoomLimits, Rooms
from app.rooms.rooms_across_servers import MemoryBus
from app.rooms.rooms_in_file import RoomsFile
from app.rooms.schemas import Truth, Wording
from tests.serving.live import until

LIMITS = RoomLimits(rooms=9, members=9, seconds=60.0, changes=1_000)
LINK = "/?source=Hi"
NUMBER = {"kind": "number", "link": "", "words": "How many heads?"}
LOOKS = {"kind": "looks", "link": "source=Hi&query=0"}
DAMAGE = (b'{"x":', b"[]", b"{}", b"7", b"\xff\xfe", '{"x":', b'{"answer":["x"],"at":1}')


def opened(path: Path) -> RoomsFile:
    file = RoomsFile.open(path)
    assert file
    return file


async def lesson(path: Path) -> tuple[str, str]:
    """Hold a lesson whose room has all kinds of entries; return its code and key."""
    rooms = Rooms(MemoryBus(file=opened(path), readable=readable), LIMITS)
    code, key, _ = await rooms.create(LINK)
    hubs = {name: await rooms.join(code, name, name) for name in ("member-1", "member-2")}
    await members.adjust_room(rooms, code, key, {"wall": "open"})
    words = Wording(words="How many heads?")
    for n, (entry, about, answers) in enumerate(
        [("numbers", NUMBER, ["3", "5"]), ("choice", LOOKS, ["0", "1"])], 1
    ):
        await asking.ask(rooms, code, key, entry, about, wording=words)  # type: ignore[arg-type]
        for (name, hub), given in zip(hubs.items(), answers, strict=True):
            await asking.answer(rooms, hub, name, n, [given], address=name)
            await members.send_to_wall(
                rooms, hub, name, f"{LINK}{n}", None, name
            ) if n == 1 else None
        if n == 1:
            await asking.proceed(rooms, code, key, "revealed", Truth(numbers=[3.0]))
    await rooms.close()
    return code, key


async def seen(path: Path, code: str, key: str) -> list[Any]:
    """Return what a teacher reads of the room after a restart; the question is revealed."""
    rooms = Rooms(MemoryBus(file=opened(path), readable=readable), LIMITS)
    try:
        hub = await rooms.owned(code, key)
        await rooms.join(code, "member-3", "member-3")
        listed, _ = await members.listed(rooms, hub, "member-3")
        works = await members.works_on_wall(rooms, hub)
        room = await asking.proceed(rooms, code, key, "revealed", Truth(right=["0"]))
        record = await answer_files.record(rooms, hub)
        await answer_files.qti(rooms, hub, "room", "en")
        assert room.seen().question
        return [
            len(listed),
            len(works),
            [len(question.answers) for question in record.questions],
            len(record.states),
            record.questions[-1].entry,
        ]
    finally:
        await rooms.close()


WELL = [3, 2, [2, 2], 1, "choice"]
OF_PART = {  # what of it a part may cost
    "members": {0},
    "work": {1},
    "answers": {2},
    "asked": {2},
    "record": {3},
    "truths": set[int](),
}


def rows(path: Path) -> Iterator[tuple[str, str, str, str]]:
    """Yield the table, the column, the part and the name of each thing that can be damaged."""
    with closing(sqlite3.connect(path)) as database:
        fields = database.execute("SELECT part, name FROM fields ORDER BY part, name").fetchall()
    for column in ("document", "until", "holder"):
        yield "rooms", column, "", ""
    for part, name in fields:
        for column in ("value", "size", "holder"):
            yield "fields", column, part, name


async def test_a_room_goes_on_without_any_row_of_its_file_that_is_damaged(tmp_path: Path) -> None:
    whole, path = tmp_path / "whole.db", tmp_path / "rooms.db"
    code, key = await lesson(whole)
    shutil.copy(whole, path)
    assert await seen(path, code, key) == WELL
    places = [*rows(whole)]
    assert {part for _, _, part, _ in places} > {
        "asked", "truths", "record", "members", "work", "answers-1-first", "answers-2-first",
    }  # fmt: skip
    for table, column, part, name in places:
        for damage in DAMAGE if column in ("value", "document") else (b"\xff",):
            shutil.copy(whole, path)
            with closing(sqlite3.connect(path)) as database, database:
                where = "WHERE part = ? AND name = ?" if part else ""
                database.execute(
                    f"UPDATE {table} SET {column} = ? {where}",
                    (damage, *((part, name) if part else ())),
                )
            place = (table, column, part, name, damage)
            if table == "rooms":
                with pytest.raises(ProblemError, match="no room with this code"):
                    await seen(path, code, key)
                continue
            found = await seen(path, code, key)
            lost = {
                n for n, (now, before) in enumerate(zip(found, WELL, strict=True)) if now != before
            }
            assert lost <= OF_PART[part.split("-")[0]], place
            # The present question is in the document as well.
            if damage == b'{"x":' and part != "truths" and (part, name) != ("asked", "2"):
                assert lost, place


async def test_what_is_damaged_stays_in_no_file(tmp_path: Path) -> None:
    path = tmp_path / "rooms.db"
    code, key = await lesson(path)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE fields SET value = ? WHERE part = 'asked'", (b"a secret {",))
    await seen(path, code, key)
    assert not any(b"secret" in file.read_bytes() for file in tmp_path.iterdir())
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE rooms SET document = ?", (b"a secret {",))
    with pytest.raises(ProblemError):
        await seen(path, code, key)
    assert not any(b"secret" in file.read_bytes() for file in tmp_path.iterdir())


class FailingAt:
    """A database that fails at its n-th statement and, if it `stays` so, until it is `well`."""

    def __init__(self, database: sqlite3.Connection, nth: int, stays: bool) -> None:
        self.database, self.left, self.stays, self.well = database, nth, stays, False

    def __getattr__(self, name: str) -> Any:
        return getattr(self.database, name)

    def execute(self, *arguments: Any) -> Any:
        return self._run(self.database.execute, arguments)

    def executemany(self, *arguments: Any) -> Any:
        return self._run(self.database.executemany, arguments)

    def _run(self, operation: Any, arguments: Any) -> Any:
        self.left -= 1
        if not self.well and (self.left == 0 or (self.stays and self.left < 0)):
            raise sqlite3.OperationalError("database or disk is full")
        return operation(*arguments)


def contents(path: Path) -> tuple[list[Any], list[Any]]:
    """Return what a file has, as another server would read it from a copy."""
    copy = path.with_name("copy.db")
    for ending in ("", "-wal"):
        shutil.copy(f"{path}{ending}", f"{copy}{ending}")
    with closing(sqlite3.connect(copy)) as database:
        return (
            database.execute("SELECT code, document FROM rooms").fetchall(),
            database.execute("SELECT part, name, value FROM fields ORDER BY 1, 2").fetchall(),
        )


async def changed(path: Path, nth: int, stays: bool) -> tuple[list[Any], bool]:
    """Change a room while the n-th statement fails and, if it `stays` so, all later ones.

    Return what the file had after each change and at the end, and whether any statement failed.
    """
    file = opened(path)
    bus, states = MemoryBus(file=file), [contents(path)]
    file._database = broken = FailingAt(file._database, nth, stays)  # type: ignore[assignment]
    for change in (
        lambda: bus.create("aaaaaa", b"1", 60, 10),
        lambda: bus.put("aaaaaa", "asked", "1", b"one"),
        lambda: bus.replace("aaaaaa", b"1", b"2", 60),
        lambda: bus.put("aaaaaa", "answers", "x", b"an answer"),
        lambda: bus.put("aaaaaa", "answers", "y", b"an answer"),
        lambda: bus.remove("aaaaaa", "answers", ["x", "y"]),
    ):
        assert await change() in (True, None)  # the lesson goes on
        await bus.write("aaaaaa", "servers", "here", b"1")
        states.append(contents(path))
    has_failed, broken.well = broken.left <= 0, True
    await until(lambda: not bus._behind)
    states.append(contents(path))
    await bus.close()
    return states, has_failed


@pytest.mark.parametrize("stays", [True, False])
async def test_a_room_is_whole_in_its_file_once_the_disk_is_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stays: bool
) -> None:
    """Whatever statement fails, the file has the room as it was after one of the changes."""
    monkeypatch.setattr("app.rooms.rooms_across_servers.BEHIND_SECONDS", 0.001)
    moments, _ = await changed(tmp_path / "0.db", 1_000, stays)
    for nth in range(1, 100):
        states, has_failed = await changed(tmp_path / f"{nth}.db", nth, stays)
        assert all(state in moments for state in states), nth
        assert states[-1] == moments[-1], nth
        if not has_failed:
            break
    assert nth > 6 * 3
