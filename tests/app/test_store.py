"""The database: brought up to date once, kept safe, the same as the code describes it."""

import asyncio
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, insert, make_url
from sqlalchemy.ext.asyncio import create_async_engine

from app.settings import Settings
from app.store.store import Answer, metadata, open_store, shares, upgrade
from tests.servers import ROOT

OPEN = """
import asyncio, sys
from app.store.store import open_store

async def main():
    async with open_store(sys.argv[1]):
        pass

asyncio.run(main())
"""


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, postgres: Callable[[str], str], tmp_path: Path) -> str:
    if request.param == "postgres":
        return Settings(database_url=postgres(request.node.originalname)).database
    return f"sqlite+aiosqlite:///{tmp_path}/new folder/headlight.db"


def test_servers_that_start_together_migrate_once(url: str) -> None:
    command = [sys.executable, "-c", OPEN, url]
    starts = [subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE) for _ in range(3)]
    errors = [start.communicate(timeout=60)[1] for start in starts]
    assert [start.returncode for start in starts] == [0, 0, 0], b"".join(errors).decode()


async def test_migrations_make_what_the_code_describes(url: str) -> None:
    def differences(connection: Connection) -> object:
        return compare_metadata(MigrationContext.configure(connection), metadata)

    async with open_store(url):
        engine = create_async_engine(url)
        async with engine.connect() as connection:
            assert await connection.run_sync(differences) == []
        await engine.dispose()


async def test_a_share_from_before_answers_still_opens(url: str, tmp_path: Path) -> None:
    """What the first version kept: a table of shares and nothing else."""

    def first(connection: Connection) -> None:
        upgrade(connection, "0001")

    Path(make_url(url).database or "").parent.mkdir(parents=True, exist_ok=True)
    engine = create_async_engine(url)
    old = {"id": "2" * 13, "state": {"source": "hi"}, "model": {}, "trace": b"seen"}
    async with engine.begin() as connection:
        await connection.run_sync(first)
        await connection.execute(insert(shares).values(**old, created=datetime.now(UTC)))
    await engine.dispose()
    async with open_store(url) as store:
        share = await store.find("2" * 13)
        assert share is not None
        assert (share.state, share.trace, share.asks) == (old["state"], b"seen", ())
        assert await store.find_answer("2" * 13, 0) is None
        added = await store.add({}, {}, b"trace", [Answer({"trace": {}}, b"answer")])
        assert await store.find(added.id) == added
        assert await store.find_answer(added.id.upper(), 0) == b"answer"


async def test_sqlite_syncs_every_commit(tmp_path: Path) -> None:
    path = tmp_path / "headlight.db"
    async with open_store(f"sqlite+aiosqlite:///{path}") as store:
        async with store._engine.connect() as connection:
            synchronous = await connection.exec_driver_sql("PRAGMA synchronous")
            assert synchronous.scalar_one() == 2  # FULL
        await asyncio.gather(*(store.add({}, {}, b"trace") for _ in range(20)))
    database = sqlite3.connect(path)
    assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert database.execute("SELECT count(*) FROM shares").fetchone() == (20,)
    database.close()
