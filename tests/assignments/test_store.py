"""Assignments in the store: both databases, concurrent answers, expiry, the file."""

import asyncio
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from sqlalchemy import func, select, update

from app.assignments.store import ASSIGNMENTS, Assignments, FullError, assignments, submissions
from app.http.limits import Shared
from app.operator_commands import read_archive, write_archive
from app.settings import Settings
from app.shares.store import Shares
from app.store.store import Limits, prune
from tests.assignments.assigning import made
from tests.serving.storage import open_shares

DOCUMENT = {"title": "猫", "questions": []}


@pytest.fixture(params=["sqlite", "postgres"])
async def tasks(
    request: pytest.FixtureRequest, postgres: Callable[[str], str], tmp_path: Path
) -> AsyncIterator[Assignments]:
    url = f"sqlite+aiosqlite:///{tmp_path}/headlight.db"
    if request.param == "postgres":
        url = Settings(database_url=postgres(re.sub(r"\W", "_", request.node.name))).database
    async with open_shares(url, Limits(assignment_days=30)) as store:
        yield Assignments(store.store)


async def test_the_database_contains_neither_keys_nor_tokens(
    client: httpx.AsyncClient, tmp_path: Path
) -> None:
    one = await made(client)
    assert await one.sent("a-token-of-a-page", ["0"], None, None) == 204
    held = b"".join(file.read_bytes() for file in tmp_path.glob("headlight.db*"))
    assert one.id.encode() in held
    assert one.reply["key"].encode() not in held
    assert b"a-token-of-a-page" not in held


async def test_the_last_submission_of_each_member_is_kept(tasks: Assignments) -> None:
    one, key = await tasks.add(DOCUMENT, "1.2.3.4")
    other, _ = await tasks.add(DOCUMENT, "1.2.3.4")
    assert await tasks.find(one.id.upper()) == one
    assert await tasks.check_key(one.id, f" {key.upper()} ") is None
    assert await tasks.check_key(other.id, key) == "wrong key"
    for n in range(3):
        assert await tasks.submit(one.id, "ann", {"answers": [[str(n)]]}) is None
    assert await tasks.submit(one.id, "ben", {"answers": [["猫"]]}) is None
    found = await tasks.submissions(one.id.upper())
    assert [submission.document["answers"] for submission in found] == [[["2"]], [["猫"]]]
    assert await tasks.own(one.id, "ann") == found[0]
    assert await tasks.own(other.id, "ann") is None
    assert await tasks.submissions(other.id) == []
    assert await tasks.submit("2" * 13, "ann", {}) == "unknown"
    assert await tasks.delete(one.id, "other") == "wrong key"
    assert await tasks.delete(one.id, key) is None
    assert await tasks.find(one.id) is None
    assert await tasks.submissions(one.id) == []
    assert await tasks.delete(one.id, key) == "unknown"


async def test_of_many_at_once_as_many_are_admitted_as_allowed(tasks: Assignments) -> None:
    one, _ = await tasks.add(DOCUMENT, "1.2.3.4")
    places = Shared(12, "members").refusal_of
    sends = [
        tasks.submit(one.id, f"member-{n % 30}", {"n": n}, f"192.0.2.{n % 30 % 3}", places)
        for n in range(60)
    ]
    refusals = await asyncio.gather(*sends, return_exceptions=True)
    found = Counter(one.document["n"] % 3 for one in await tasks.submissions(one.id))
    assert found.total() + sum(isinstance(one, FullError) for one in refusals) / 2 == 30
    assert found.total() >= 9
    assert max(found.values()) <= 6, "one address can be half of the members"
    for n in range(2):  # of a member with a place, from wherever it sends
        assert await tasks.submit(one.id, "member-0", {"n": n}, f"192.0.2.{n}", places) is None


async def test_the_bytes_are_those_of_the_assignment_and_its_answers(tasks: Assignments) -> None:
    one, _ = await tasks.add({"title": "a"}, "1.2.3.4")
    for size in (500, 100, 900):
        await tasks.submit(one.id, "ann", {"answers": "a" * size})
    await tasks.submit(one.id, "ben", {"answers": ""})
    whole = len('{"title":"a"}') + len('{"answers":""}') * 2 + 900
    number, size = await Shares(tasks.store).totals()
    assert (number, size) == (0, whole)
    async with tasks.database.reading() as connection:
        assert await connection.scalar(select(func.sum(assignments.c.size))) == whole


async def test_an_assignment_expires_after_its_last_answer(tasks: Assignments) -> None:
    one, _ = await tasks.add(DOCUMENT, "1.2.3.4")
    answered, _ = await tasks.add(DOCUMENT, "1.2.3.4")
    for task in (one, answered):
        await tasks.submit(task.id, "ann", {})
    old = datetime.now(UTC) - timedelta(days=29)
    async with tasks.database.writing() as connection:
        await connection.execute(update(assignments).values(changed=old))
    await tasks.submit(answered.id, "ben", {})
    older = datetime.now(UTC) - timedelta(days=31)
    async with tasks.database.writing() as connection:
        stale = assignments.c.changed <= old
        await connection.execute(update(assignments).where(stale).values(changed=older))
    assert await tasks.find(one.id) is None
    assert await tasks.submit(one.id, "eve", {}) == "unknown"
    assert await tasks.find(answered.id) is not None
    await prune(tasks.store)
    async with tasks.database.reading() as connection:
        assert list(await connection.scalars(select(assignments.c.id))) == [answered.id]
        left = set(await connection.scalars(select(submissions.c.assignment)))
    assert left == {answered.id}


async def test_an_archive_carries_assignments_with_their_answers(
    tasks: Assignments, tmp_path: Path
) -> None:
    one, key = await tasks.add(DOCUMENT, "1.2.3.4")
    await tasks.add(DOCUMENT, "1.2.3.4")
    for member in ("ann", "ben"):
        await tasks.submit(one.id, member, {"answers": [[member, "猫"]]})
    file = tmp_path / "shares.zip"
    assert (await write_archive(tasks.store, file))[ASSIGNMENTS].taken == 2
    assert (await read_archive(tasks.store, file))[ASSIGNMENTS].taken == 0, "they are there"
    _, size = await Shares(tasks.store).totals()
    async with open_shares(f"sqlite+aiosqlite:///{tmp_path}/other.db") as store:
        assert (await read_archive(store.store, file))[ASSIGNMENTS].taken == 2
        copy = Assignments(store.store)
        assert await copy.find(one.id) == await tasks.find(one.id)
        assert await copy.submissions(one.id) == await tasks.submissions(one.id)
        assert await copy.check_key(one.id, key) is None
        assert await store.totals() == (0, size)
