"""After a SIGKILL at any time, acknowledged shares exist; others are absent or complete."""

import asyncio
import os
import random
import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from tests import forked_processes
from tests.golden.kept import put, rows
from tests.serving.storage import counts, open_shares

# Adds shares and prints the id of each when it is acknowledged; at the n-th statement or commit of
# the second one it is killed, before or after it.
WRITES = """
import asyncio, os, signal, sys
from sqlalchemy import event
from app.shares.formats import Answer
from tests.serving.storage import open_shares

async def add(store, text):
    share = await store.add(2, {"source": text}, {}, text.encode(), [Answer({}, text.encode() * 2)])
    print(share.id, flush=True)

async def main(url, nth, when):
    async with open_shares(url) as store:
        await add(store, "first")
        engine = store.database._engine.sync_engine
        commit, done = engine.dialect.do_commit, []

        def count(moment):
            if moment == when:
                done.append(moment)
                if len(done) == nth:
                    os.kill(os.getpid(), signal.SIGKILL)

        def commits(connection):
            count("before")
            commit(connection)
            count("after")

        engine.dialect.do_commit = commits
        event.listen(engine, "before_cursor_execute", lambda *_: count("before"))
        event.listen(engine, "after_cursor_execute", lambda *_: count("after"))
        await add(store, "second")
        print("all", flush=True)

asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3]))
"""
# Opens a database for the first time and is killed at the n-th statement of the migrations.
MIGRATES = """
import asyncio, os, signal, sys
from sqlalchemy import Engine, event
from tests.serving.storage import open_shares

count = iter(range(int(sys.argv[2])))

@event.listens_for(Engine, "after_cursor_execute")
def executed(*_):
    if next(count, None) is None:
        os.kill(os.getpid(), signal.SIGKILL)

async def main():
    async with open_shares(sys.argv[1]):
        print("open", flush=True)

asyncio.run(main())
"""
# Adds shares, ten at once, until it is killed.
FOR_EVER = """
import asyncio, os, sys
from app.shares.formats import Answer
from tests.serving.storage import open_shares

async def add(store):
    while True:
        text = os.urandom(20_000)
        share = await store.add(2, {}, {}, text, [Answer({}, text[:100])])
        print(share.id, flush=True)

async def main():
    async with open_shares(sys.argv[1]) as store:
        await asyncio.gather(*(add(store) for _ in range(10)))

asyncio.run(main())
"""


def run(script: str, *arguments: object) -> list[str]:
    """Run a script that kills itself or ends; return its output."""
    ended = forked_processes.run(["-c", script, *map(str, arguments)])
    assert ended.returncode in (0, -signal.SIGKILL), ended.stderr[-1_000:]
    return ended.stdout.split()


def sound(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_kill_at_any_write(tmp_path: Path, when: str) -> None:
    nth, wholes = 3, []  # the first two take the lock
    while True:
        file = tmp_path / f"{nth}.db"
        said = run(WRITES, f"sqlite+aiosqlite:///{file}", nth, when)
        sound(file)
        async with open_shares(f"sqlite+aiosqlite:///{file}") as store:
            for share_id in {*said} - {"all"}:
                share = await store.find(share_id)
                assert share is not None
                source = share.state["source"].encode()
                assert share.trace == source
                assert await store.find_answer(share_id, 0) == (2, source * 2)
            kept = await counts(store)
        assert kept in ([1, 1, 2], [2, 2, 4]), "a share whole, or nothing of it"
        wholes.append(kept[0])
        if "all" in said:
            break
        nth += 1
    assert nth > 6
    assert wholes == sorted(wholes)
    assert wholes[-1] == 2
    assert wholes[-2] == (2 if when == "after" else 1), "the last is the commit"


@pytest.mark.parametrize("seed", range(3))
async def test_acknowledged_shares_survive_kills_under_load(tmp_path: Path, seed: int) -> None:
    file = tmp_path / "headlight.db"
    reading, writing = os.pipe()
    args = ["-c", FOR_EVER, f"sqlite+aiosqlite:///{file}"]
    writer = forked_processes.start(args, stdout=writing, stderr=2)
    os.close(writing)
    with os.fdopen(reading) as told:
        said = [told.readline().strip() for _ in range(5)]
        time.sleep(random.Random(seed).uniform(0, 0.3))
        writer.kill()
        said += told.read().split("\n")[:-1]
    sound(file)
    async with open_shares(f"sqlite+aiosqlite:///{file}") as store:
        assert len(said) >= 5
        for share_id in said:
            share = await store.find(share_id)
            assert share is not None
            assert await store.find_answer(share_id, 0) == (2, share.trace[:100])
        kept, asked, files = await counts(store)
        assert (asked, files) == (kept, 2 * kept)
        assert len(said) <= kept <= len(said) + 10


async def test_a_kill_in_the_middle_of_a_migration(tmp_path: Path) -> None:
    old = rows(put(1, tmp_path / "golden"))
    nth = 1
    while True:
        file = put(1, tmp_path / str(nth))
        said = run(MIGRATES, f"sqlite+aiosqlite:///{file}", nth)
        sound(file)
        async with open_shares(f"sqlite+aiosqlite:///{file}") as store:
            for row in old:
                share = await store.find(row.id)
                assert share is not None
                assert share.trace == row.trace
                answers = [await store.find_answer(row.id, n) for n in range(len(row.answers))]
                assert answers == [(1, answer) for answer in row.answers]
        if said:
            break
        nth += 12
        await asyncio.sleep(0)
    assert nth > 40
