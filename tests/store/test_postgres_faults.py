"""The store when its PostgreSQL fails."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
import pytest
from sqlalchemy import make_url

from app.settings import Settings
from app.store import database
from app.store.disk_files import FULL, UNAVAILABLE
from app.store.storage_errors import BUSY
from tests.serving.storage import TABLES, add, counts, failure, open_shares


@asynccontextmanager
async def admin(url: str) -> AsyncIterator[Any]:
    """Yield a second connection to the store's PostgreSQL."""
    address = make_url(url).set(drivername="postgresql")
    connection = await asyncpg.connect(address.render_as_string(hide_password=False))
    try:
        yield connection
    finally:
        await connection.close()


@pytest.fixture
def url(request: pytest.FixtureRequest, postgres: Callable[[str], str]) -> str:
    return Settings(database_url=postgres(re.sub(r"\W", "_", request.node.name))).database


FAIL = """
CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '{state}'; END $$;
CREATE CONSTRAINT TRIGGER fail AFTER INSERT ON {table} DEFERRABLE INITIALLY {when}
FOR EACH ROW EXECUTE FUNCTION fail();
"""


async def test_a_failing_postgres_stores_nothing(url: str) -> None:
    async with open_shares(url) as store, admin(url) as connection:
        for state, kind in (("53100", FULL), ("58030", UNAVAILABLE), ("40001", BUSY)):
            for table in TABLES:
                for when in ("IMMEDIATE", "DEFERRED"):  # at the statement, at the commit
                    await connection.execute(FAIL.format(state=state, table=table, when=when))
                    assert await failure(add(store)) == kind, (state, table, when)
                    await connection.execute(f"DROP TRIGGER fail ON {table}; DROP FUNCTION fail()")
                    assert await counts(store) == [0, 0, 0]
        await add(store)


async def test_postgres_that_cannot_be_written_can_be_read(url: str) -> None:
    name = make_url(url).database
    async with open_shares(url) as store, admin(url) as connection:
        kept = await add(store)
        await connection.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
        await store.database._engine.dispose()
        assert await failure(add(store)) == UNAVAILABLE
        assert await store.find(kept)


async def test_postgres_that_is_locked_is_busy(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "LOCK_SECONDS", 0.1)
    async with open_shares(url) as store, admin(url) as connection, connection.transaction():
        await connection.execute(f"SELECT pg_advisory_xact_lock({database.WRITE_LOCK})")
        assert await failure(add(store)) == BUSY


async def test_a_restarted_postgres_is_used_again(url: str) -> None:
    name = make_url(url).database
    away = str(make_url(url).set(database="postgres"))
    async with open_shares(url) as store, admin(away) as connection:
        kept = await add(store)
        ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1"
        await connection.execute(ended, name)
        assert await store.find(kept), "a connection that was ended is made anew"
        await connection.execute(f"ALTER DATABASE {name} WITH ALLOW_CONNECTIONS false")
        await connection.execute(ended, name)
        for work in (add(store), store.find(kept)):
            assert await failure(work) == UNAVAILABLE
        await connection.execute(f"ALTER DATABASE {name} WITH ALLOW_CONNECTIONS true")
        assert await store.find(kept)
        await add(store)


async def test_writers_on_two_servers_take_turns(url: str) -> None:
    async with open_shares(url) as one, open_shares(url) as two:
        await asyncio.gather(*(add(store) for store in (one, two) * 10))
        assert await counts(one) == [20, 40, 3]
