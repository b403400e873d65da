"""Helpers for tests of the store and of the database under it."""

import hashlib
import secrets
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import Any

import httpx
from sqlalchemy import event, text

from app.main import STORED
from app.shares.formats import Answer
from app.shares.store import Shares
from app.store.storage_errors import StorageError
from app.store.store import UNLIMITED, Limits, open_store

STATE = {"source": "The cat sat.", "target": "猫坐着。"}
ALL = {"parameters": {"select": ["*"]}}
ASKS = [{"parameters": {"select": ["*.gain"]}}, {"trace": STATE}]

MORE = [Answer({"trace": {}}, b"one answer"), Answer({"trace": {}}, b"another")]
TABLES = ("shares", "answers", "contents")


async def share(client: httpx.AsyncClient, **more: object) -> dict[str, Any]:
    """Create a share as a new page, since the same page would get its existing share."""
    page = {"Headlight-Client": secrets.token_hex()}
    made = await client.post("/api/shares", json={"state": STATE, **more}, headers=page)
    assert made.status_code == 201, made.text
    told: dict[str, Any] = made.json()
    return told


@asynccontextmanager
async def open_shares(url: str, limits: Limits = UNLIMITED) -> AsyncIterator[Shares]:
    """Open a database as the server does; return its shares."""
    async with open_store(url, limits, STORED) as store:
        yield Shares(store)


def kept(folder: Path) -> tuple[int, int]:
    """Return the number of contents and their bytes, after checking every digest."""
    with closing(sqlite3.connect(folder / "headlight.db")) as connection:
        found = connection.execute("SELECT digest, size, content FROM contents").fetchall()
    for digest, size, content in found:
        assert hashlib.sha256(content).digest() == digest
        assert len(content) == size
    return len(found), sum(size for _, size, _ in found)


def store_of(client: httpx.AsyncClient) -> Shares:
    """Return the store of the app behind a client."""
    store: Shares = client._transport.app.state.services[Shares]  # type: ignore[attr-defined]
    return store


async def add(store: Shares) -> str:
    return (await store.add(2, {"source": "Hi."}, {}, b"trace", MORE)).id


async def failure(work: Awaitable[object]) -> str | None:
    """Return the kind of the StorageError that it raises; None if it succeeds."""
    try:
        await work
    except StorageError as error:
        return error.kind
    return None


async def counts(store: Shares) -> list[int]:
    """Return the number of rows of shares, answers and contents."""
    async with store.database._engine.connect() as connection:
        return [
            (await connection.execute(text(f"SELECT count(*) FROM {table}"))).scalar_one()
            for table in TABLES
        ]


@contextmanager
def failing(store: Shares, nth: int, error: Exception) -> Iterator[list[str]]:
    """Fail at the n-th statement or commit; yield the statements so far."""
    engine, done = store.database._engine.sync_engine, list[str]()
    commit = engine.dialect.do_commit

    def count(what: str) -> None:
        done.append(what)
        if len(done) == nth + 1:
            raise error

    def execute(_: Any, statement: str, *__: object) -> None:
        count(statement)

    def commits(connection: Any) -> None:
        count("COMMIT")
        commit(connection)

    for one in ("do_execute", "do_executemany", "do_execute_no_params"):
        event.listen(engine, one, execute)
    engine.dialect.do_commit = commits  # type: ignore[method-assign,assignment]
    try:
        yield done
    finally:
        for one in ("do_execute", "do_executemany", "do_execute_no_params"):
            event.remove(engine, one, execute)
        engine.dialect.do_commit = commit  # type: ignore[method-assign]


@contextmanager
def pragma(store: Shares, statement: str) -> Iterator[None]:
    """Run a PRAGMA on every connection to the database."""
    engine = store.database._engine.sync_engine

    def say(connection: Any, *_: object) -> None:
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA {statement}")
        cursor.close()

    event.listen(engine, "checkout", say)
    yield
    event.remove(engine, "checkout", say)
