"""The database: migrated once, kept safe, and equal to the code's description."""

import asyncio
import json
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
import zstandard
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import Connection, make_url, text
from sqlalchemy.ext.asyncio import create_async_engine

from app.engine.reply_formats import Reply
from app.settings import Settings
from app.shares.formats import Answer
from app.store.database import MIGRATIONS, upgrade
from app.store.store import metadata
from tests import forked_processes
from tests.golden.kept import FORMATS, put, rows
from tests.servers import PATIENCE
from tests.serving.storage import open_shares

OPEN = """
import asyncio, sys
from tests.serving.storage import open_shares

async def main():
    async with open_shares(sys.argv[1]):
        pass

asyncio.run(main())
"""
SHARE = """
INSERT INTO shares (id, created, state, model, trace)
VALUES (:id, CURRENT_TIMESTAMP, :state, :model, :trace)
"""
ANSWER = "INSERT INTO answers (share, n, question, answer) VALUES (:share, :n, :question, :answer)"


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, postgres: Callable[[str], str], tmp_path: Path) -> str:
    if request.param == "postgres":
        name = re.sub(r"\W", "_", request.node.name)
        return Settings(database_url=postgres(name)).database
    return f"sqlite+aiosqlite:///{tmp_path}/new folder/headlight.db"


def test_servers_that_start_together_migrate_once(url: str) -> None:
    with forked_processes.open_memory() as said:
        file = said.fileno()
        starts = [
            forked_processes.start(["-c", OPEN, url], stdout=file, stderr=file) for _ in range(3)
        ]
        statuses = [start.wait(timeout=PATIENCE) for start in starts]
        said.seek(0)
        assert statuses == [0, 0, 0], said.read()


async def test_migrations_create_the_described_tables(url: str) -> None:
    def differences(connection: Connection) -> object:
        return compare_metadata(MigrationContext.configure(connection), metadata)

    async with open_shares(url):
        engine = create_async_engine(url)
        async with engine.connect() as connection:
            assert await connection.run_sync(differences) == []
        await engine.dispose()


@pytest.mark.parametrize("revision", ["0001", "0002"])
async def test_shares_of_older_tables_still_open(url: str, tmp_path: Path, revision: str) -> None:
    """Rows of older servers have no table of answers and no column of formats."""

    def earlier(connection: Connection) -> None:
        upgrade(connection, revision)

    old = next(row for row in rows(put(1, tmp_path / "golden")) if len(row.asks) == 2)
    Path(make_url(url).database or "").parent.mkdir(parents=True, exist_ok=True)
    engine = create_async_engine(url)
    async with engine.begin() as connection:
        await connection.run_sync(earlier)
        await connection.execute(
            text(SHARE), {**vars(old), **told(state=old.state, model=old.model)}
        )
        for n, (asked, answer) in enumerate(zip(old.asks, old.answers, strict=True)):
            if revision != "0001":
                row = {"share": old.id, "n": n, "answer": answer, **told(question=asked)}
                await connection.execute(text(ANSWER), row)
    await engine.dispose()
    async with open_shares(url) as store:
        share = await store.find(old.id)
        assert share is not None
        assert (share.format, share.state, share.model) == (1, old.state, old.model)
        seen = Reply.parse(zstandard.decompress(share.trace))
        assert seen.document["output"]["text"]
        assert "decoder.2.cross.weights" in seen.arrays
        kept = () if revision == "0001" else tuple(old.asks)
        assert share.asks == kept
        for n, answer in enumerate(old.answers):
            expected = (1, answer) if kept else None
            assert await store.find_answer(old.id, n) == expected
        added = await store.add(7, {}, {}, b"trace", [Answer({"trace": {}}, b"answer")])
        assert await store.find(added.id) == added
        assert added.format == 7
        assert await store.find_answer(added.id.upper(), 0) == (7, b"answer")


def told(**documents: object) -> dict[str, str]:
    return {name: json.dumps(document) for name, document in documents.items()}


async def test_sqlite_syncs_every_commit(tmp_path: Path) -> None:
    path = tmp_path / "headlight.db"
    async with open_shares(f"sqlite+aiosqlite:///{path}") as store:
        async with store.database._engine.connect() as connection:
            synchronous = await connection.exec_driver_sql("PRAGMA synchronous")
            assert synchronous.scalar_one() == 2  # FULL
        await asyncio.gather(*(store.add(1, {}, {}, b"trace") for _ in range(20)))
    database = sqlite3.connect(path)
    assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert database.execute("SELECT count(*) FROM shares").fetchone() == (20,)
    database.close()


@pytest.mark.parametrize("number", FORMATS)
async def test_contents_move_to_their_table_and_back(tmp_path: Path, number: int) -> None:
    file = put(number, tmp_path)
    before, url = rows(file), f"sqlite+aiosqlite:///{file}"
    async with open_shares(url):
        assert rows(file) == before
    with closing(sqlite3.connect(file)) as database:
        sizes = database.execute("SELECT documents, size FROM shares ORDER BY rowid").fetchall()
    for row, (documents, size) in zip(before, sizes, strict=True):
        assert size - documents == len(row.trace) + sum(map(len, row.answers))
        told = json.dumps([row.state, row.model], separators=(",", ":"), ensure_ascii=False)
        assert documents >= len(told.encode()) - 10

    def downgrade(connection: Connection) -> None:
        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS))
        config.attributes["connection"] = connection
        command.downgrade(config, "0003")

    engine = create_async_engine(url)
    async with engine.begin() as opened:
        await opened.run_sync(downgrade)
    await engine.dispose()
    with closing(sqlite3.connect(file)) as database:
        wanted = "SELECT 1 FROM sqlite_master WHERE name = 'contents'"
        assert not database.execute(wanted).fetchall()
    assert rows(file) == before
    async with open_shares(url):
        assert rows(file) == before
