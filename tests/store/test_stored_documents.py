"""A document is stored only if it loads again, whoever stores it."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson
import pytest
import zstandard
from hypothesis import given, settings
from sqlalchemy.exc import StatementError

from app.assignments.store import Assignments, assignments
from app.collections.store import Collections
from app.heads import indexing
from app.http.request_fields import FAR
from app.rooms.room_document import Question, Room
from app.rooms.schemas import Results, Truth
from app.shares import formats as stored_share
from app.shares.formats import MOST_BYTES, thawed
from app.shares.store import Shares
from app.store.documents import dumped
from app.store.storage_errors import DamagedError
from model.errors import InputError
from tests.http.test_bad_input import JSON_VALUES
from tests.serving.storage import open_shares

NAN, INFINITE = float("nan"), float("inf")
BAD = [NAN, INFINITE, 2**64, "\ud800", (1, 2), {1: 2}, b"1", [{"deep": [NAN]}]]
WRITERS: dict[str, Callable[[Shares, Any], Awaitable[object]]] = {
    "state": lambda store, bad: store.add(3, {"seed": bad}, {}, b"trace"),
    "model": lambda store, bad: store.add(3, {}, {"loss": bad}, b"trace"),
    "about": lambda store, bad: store.add(3, {}, {}, b"trace", about={"title": bad}),
    "collection": lambda store, bad: Collections(store.store).add({"title": bad}, ""),
    "assignment": lambda store, bad: Assignments(store.store).add({"title": bad}, ""),
}


@pytest.mark.parametrize("bad", BAD, ids=repr)
async def test_what_would_not_load_is_stored_nowhere(tmp_path: Path, bad: Any) -> None:
    async with open_shares(f"sqlite+aiosqlite:///{tmp_path}/headlight.db") as store:
        for write in WRITERS.values():
            with pytest.raises(InputError, match="cannot be stored"):
                await write(store, bad)
        one, key, _ = await Collections(store.store).add({"title": ""}, "")
        task, _ = await Assignments(store.store).add({"title": ""}, "")
        with pytest.raises(InputError):
            await Collections(store.store).change(one.id, {"title": bad}, key, None)
        with pytest.raises(InputError):
            await Assignments(store.store).submit(task.id, "ann", {"answers": bad})
        with pytest.raises((InputError, StatementError)):  # the last line: the database's own
            async with store.database.writing() as connection:
                await connection.execute(assignments.update().values(document=bad))
        assert await Collections(store.store).find(one.id) == one
        assert await Assignments(store.store).find(task.id) == task
        assert await store.totals() == (0, 2 * len('{"title":""}'))
    path = tmp_path / "about.json"
    with pytest.raises(InputError):
        indexing._write(path, {"title": bad})
    assert not path.exists()


def test_a_room_that_would_not_load_is_not_stored() -> None:
    room, question = Room(link="/", key="", created=0.0), Question(n=1, entry="numbers", ask={})
    for bad in (NAN, INFINITE, 2 * FAR):
        truth = Truth.model_construct(numbers=[bad])
        whole = Results.model_construct(count=1, chosen={}, mean=[bad], right=None, distance=None)
        changes: list[dict[str, Any]] = [{"truth": truth}]
        changes += (
            [{"results": {"first": whole}}, {"ask": {"value": bad}}] if bad != 2 * FAR else []
        )
        for change in changes:
            with pytest.raises(InputError, match="cannot be stored"):
                room.then(question=question.model_copy(update=change)).dumped()
    assert Room.load(room.then(question=question).dumped()).question == question


def test_frozen_replies_are_refused_by_their_stated_size(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = zstandard.compress(b"a" * 100)
    assert thawed(whole) == b"a" * 100
    sized = b"(\xb5/\xfd\xe0%b\1\0\0"
    unsized = zstandard.ZstdCompressor(write_content_size=False).compress(b"a" * 100)
    lying = whole[:5] + bytes([5]) + whole[6:]
    huge = sized % (MOST_BYTES + 1).to_bytes(8, "little")
    for bad in (b"", whole[:-3], unsized, lying, huge, sized % (b"\xff" * 8)):
        with pytest.raises(DamagedError):
            thawed(bad)
    monkeypatch.setattr(stored_share, "MOST_BYTES", 99)
    with pytest.raises(DamagedError):
        thawed(whole)


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(JSON_VALUES)
def test_what_is_stored_loads_as_it_was(value: Any) -> None:
    with suppress(InputError):
        assert orjson.loads(dumped([value])) == [value]
