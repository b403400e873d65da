"""The store: shares in SQLite or PostgreSQL.

A share that `add` returned from is on the disk: SQLite keeps a write-ahead log that it syncs at
every commit, PostgreSQL does so by itself.
"""

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from sqlalchemy import (
    JSON,
    Column,
    Connection,
    DateTime,
    LargeBinary,
    MetaData,
    String,
    Table,
    event,
    insert,
    make_url,
    select,
)
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

MIGRATIONS = Path(__file__).parent / "migrations"
MIGRATION_LOCK = 20170612  # any number that nothing else in the database locks

# No letter or digit that looks like another; one case, so that an id can be read aloud.
ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"
ID_LENGTH = 13  # 31 ** 13 > 2 ** 64

metadata = MetaData()
shares = Table(
    "shares",
    metadata,
    Column("id", String(ID_LENGTH), primary_key=True),
    Column("created", DateTime(timezone=True), nullable=False),
    Column("state", JSON, nullable=False),
    Column("model", JSON, nullable=False),
    Column("trace", LargeBinary, nullable=False),
)


@dataclass(frozen=True)
class Share:
    """A state, the model's description, and the trace that was seen: a compressed file."""

    id: str
    created: datetime
    state: dict[str, Any]
    model: dict[str, Any]
    trace: bytes


class Store:
    """Shares by id. Made by `open_store`."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    async def add(self, state: dict[str, Any], model: dict[str, Any], trace: bytes) -> Share:
        """Keeps a share; it is durable when this returns."""
        share = Share(new_id(), datetime.now(UTC), state, model, trace)
        async with self._engine.begin() as connection:
            await connection.execute(insert(shares).values(asdict(share)))
        return share

    async def find(self, share_id: str) -> Share | None:
        """The share of an id in either case; None if there is none."""
        share_id = share_id.lower()
        if len(share_id) != ID_LENGTH or not set(share_id) <= set(ALPHABET):
            return None
        async with self._engine.connect() as connection:
            rows = await connection.execute(select(shares).where(shares.c.id == share_id))
        row = rows.mappings().one_or_none()
        if row is None:
            return None
        created: datetime = row["created"]  # SQLite forgets the zone
        return Share(**{**row, "created": created.replace(tzinfo=created.tzinfo or UTC)})


def new_id() -> str:
    """An id that nobody guesses: 64 random bits and a little more."""
    return "".join(secrets.choice(ALPHABET) for _ in range(ID_LENGTH))


@asynccontextmanager
async def open_store(url: str) -> AsyncIterator[Store]:
    """Opens the database, after bringing its tables up to date.

    Raises what SQLAlchemy raises if the database cannot be reached.
    """
    sqlite = make_url(url).get_backend_name() == "sqlite"
    if sqlite and (name := make_url(url).database):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
    engine = create_async_engine(url, pool_pre_ping=not sqlite)
    if sqlite:
        event.listen(engine.sync_engine, "connect", _make_durable)
    try:
        async with engine.begin() as connection:
            await _migrate(connection, sqlite=sqlite)
        yield Store(engine)
    finally:
        await engine.dispose()


async def _migrate(connection: AsyncConnection, *, sqlite: bool) -> None:
    # Servers that start together migrate one after the other.
    lock = "BEGIN IMMEDIATE" if sqlite else f"SELECT pg_advisory_xact_lock({MIGRATION_LOCK})"
    await connection.exec_driver_sql(lock)
    await connection.run_sync(_upgrade)


def _upgrade(connection: Connection) -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _make_durable(connection: Any, _: object) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA busy_timeout = 5000")
    cursor.execute("PRAGMA journal_mode = WAL")
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.close()
