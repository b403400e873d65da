"""What tests of the store do to it, and to the database under it."""

from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import event, text

from app.store.failures import StorageError
from app.store.store import Answer, Store

MORE = [Answer({"trace": {}}, b"one answer"), Answer({"trace": {}}, b"another")]
TABLES = ("shares", "answers", "contents")


async def add(store: Store) -> str:
    return (await store.add(2, {"source": "Hi."}, {}, b"trace", MORE)).id


async def failure(work: Awaitable[object]) -> str | None:
    """The kind of the StorageError that it ends with; None if it ends well."""
    try:
        await work
    except StorageError as error:
        return error.kind
    return None


async def counts(store: Store) -> list[int]:
    """How many rows there are of shares, answers and contents."""
    async with store.database._engine.connect() as connection:
        return [
            (await connection.execute(text(f"SELECT count(*) FROM {table}"))).scalar_one()
            for table in TABLES
        ]


@contextmanager
def failing(store: Store, nth: int, error: Exception) -> Iterator[list[str]]:
    """Fail at the n-th statement or commit; yields what came so far."""
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
def pragma(store: Store, statement: str) -> Iterator[None]:
    """Set something for every connection to the database."""
    engine = store.database._engine.sync_engine

    def say(connection: Any, *_: object) -> None:
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA {statement}")
        cursor.close()

    event.listen(engine, "checkout", say)
    yield
    event.remove(engine, "checkout", say)
