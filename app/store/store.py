"""The store: shares in SQLite or PostgreSQL.

A share that `add` returned from is on the disk: SQLite keeps a write-ahead log that it syncs at
every commit, PostgreSQL does so by itself.
"""

import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
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
    ForeignKey,
    Integer,
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
    Column("format", Integer, nullable=False, server_default="1"),
    Column("created", DateTime(timezone=True), nullable=False),
    Column("state", JSON, nullable=False),
    Column("model", JSON, nullable=False),
    Column("trace", LargeBinary, nullable=False),
)
answers = Table(
    "answers",
    metadata,
    Column("share", String(ID_LENGTH), ForeignKey("shares.id"), primary_key=True),
    Column("n", Integer, primary_key=True, autoincrement=False),
    Column("question", JSON, nullable=False),
    Column("answer", LargeBinary, nullable=False),
)


@dataclass(frozen=True)
class Answer:
    """A further question of a share, and its answer: a compressed file."""

    question: dict[str, Any]
    answer: bytes


@dataclass(frozen=True)
class Share:
    """A state, the model's description, and the trace that was seen: a compressed file.

    `format` says what they mean (`app.store.share_formats`); `asks` are the further questions whose
    answers are kept beside it.
    """

    id: str
    format: int
    created: datetime
    state: dict[str, Any]
    model: dict[str, Any]
    trace: bytes
    asks: tuple[dict[str, Any], ...] = ()


class Store:
    """Shares by id. Made by `open_store`."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    async def add(
        self,
        written: int,
        state: dict[str, Any],
        model: dict[str, Any],
        trace: bytes,
        more: Sequence[Answer] = (),
    ) -> Share:
        """Keeps a share written in a format; durable, with all its answers, when this returns."""
        asks = tuple(answer.question for answer in more)
        share = Share(new_id(), written, datetime.now(UTC), state, model, trace, asks)
        row = {column.name: getattr(share, column.name) for column in shares.columns}
        rows = [
            {"share": share.id, "n": n, "question": one.question, "answer": one.answer}
            for n, one in enumerate(more)
        ]
        async with self._engine.begin() as connection:
            await connection.execute(insert(shares).values(row))
            if rows:
                await connection.execute(insert(answers), rows)
        return share

    async def find(self, share_id: str) -> Share | None:
        """The share of an id in either case; None if there is none."""
        share_id = share_id.lower()
        if not _is_id(share_id):
            return None
        questions = select(answers.c.question).where(answers.c.share == share_id)
        async with self._engine.connect() as connection:
            rows = await connection.execute(select(shares).where(shares.c.id == share_id))
            row = rows.mappings().one_or_none()
            if row is None:
                return None
            asks = tuple((await connection.scalars(questions.order_by(answers.c.n))).all())
        created: datetime = row["created"]  # SQLite forgets the zone
        about = {**row, "created": created.replace(tzinfo=created.tzinfo or UTC)}
        return Share(**about, asks=asks)

    async def find_answer(self, share_id: str, n: int) -> tuple[int, bytes] | None:
        """The format of a share and the answer to its n-th question; None if there is none."""
        share_id = share_id.lower()
        if not _is_id(share_id) or not 0 <= n < 1 << 31:
            return None
        wanted = (
            select(shares.c.format, answers.c.answer)
            .join_from(answers, shares)
            .where(answers.c.share == share_id, answers.c.n == n)
        )
        async with self._engine.connect() as connection:
            found = (await connection.execute(wanted)).one_or_none()
        return None if found is None else (found.format, found.answer)


def _is_id(text: str) -> bool:
    return len(text) == ID_LENGTH and set(text) <= set(ALPHABET)


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
    await connection.run_sync(upgrade)


def upgrade(connection: Connection, revision: str = "head") -> None:
    """Brings the tables to a revision of `app/store/migrations/`."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, revision)


def _make_durable(connection: Any, _: object) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA busy_timeout = 5000")
    cursor.execute("PRAGMA journal_mode = WAL")
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.close()
