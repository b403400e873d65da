"""The store: a database in which each subject keeps something of its own, within common limits.

All methods raise StorageError if the database cannot be used now. What has expired is deleted,
of every kind.
"""

import asyncio
import hmac
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Self

from sqlalchemy import (
    Column,
    ColumnElement,
    LargeBinary,
    MetaData,
    String,
    Table,
    func,
    insert,
    literal,
    select,
    update,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from app.http.limits import PerMinute
from app.http.tasks_and_caches import repeat
from app.settings import Settings
from app.store.archive_file import ArchiveFile, Entries
from app.store.database import Database, open_database
from app.store.disk_files import FULL
from app.store.storage_errors import QUOTA, DamagedError, StorageError
from model.errors import FileError


@dataclass(frozen=True)
class Limits:
    """Bytes in total and per address; days for which is kept what changes no more.

    None means no limit.
    """

    total: int | None = None
    by_address: int | None = None
    days: float | None = None
    assignment_days: float | None = None

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Return the limits that the operator has set."""
        return cls(
            total=settings.max_shares_bytes,
            by_address=settings.max_shares_bytes_per_address,
            days=settings.keep_shares_days,
            assignment_days=settings.keep_assignments_days,
        )


class CreationRate(PerMinute):
    """Counts what an address stores: shares, collections and assignments together."""

    def __init__(self, settings: Settings) -> None:
        limit, url = settings.max_shares_per_minute, settings.rates_url
        super().__init__(limit, url, kind="too-many-shares", counted="shares")


ADDRESS_KEY = "address"

UNLIMITED = Limits()

metadata = MetaData()  # of all tables, as left by the migrations

secrets = Table(
    "secrets",
    metadata,
    Column("name", String(32), primary_key=True),
    Column("value", LargeBinary, nullable=False),
)


class Store:
    """A database, its limits, and the kinds of things in it; created by `open_store`."""

    def __init__(
        self, database: Database, limits: Limits, kinds: "Sequence[StoredKind]", address_key: bytes
    ) -> None:
        self.database = database
        self.limits = limits
        self.kinds = kinds
        self._address_key = address_key

    async def check_write(self) -> None:
        """Make a write that changes nothing. Raises StorageError if the database refuses it."""
        unchanged = (
            update(secrets).where(secrets.c.name == ADDRESS_KEY).values(value=secrets.c.value)
        )
        async with self.database.writing() as connection:
            await connection.execute(unchanged)

    def used(self) -> ColumnElement[int]:
        """Return the bytes that everything stored takes in the database, as a query."""
        total: ColumnElement[int] = literal(0)
        for kind in self.kinds:
            for column in kind.bytes:
                total += select(func.coalesce(func.sum(column), 0)).scalar_subquery()
        return total

    async def check_room(
        self, connection: AsyncConnection, owner: bytes | None, grows: int, size: int
    ) -> None:
        """Raise StorageError if there is no room for something.

        `grows` is the number of bytes it adds to the database, `size` the number counted for its
        owner, including contents that are already stored.
        """
        limits = self.limits
        if limits.total is not None:
            before = int(await connection.scalar(select(self.used())) or 0)
            if before + grows > limits.total:
                detail = f"all shares together may take at most {limits.total} bytes"
                raise StorageError(FULL, detail)
        if limits.by_address is not None and owner is not None:
            mine = 0
            for kind in self.kinds:
                table = kind.table
                theirs = select(func.sum(table.c.size)).where(table.c.address == owner)
                mine += int(await connection.scalar(theirs) or 0)
            if mine + size > limits.by_address:
                detail = f"the shares of one address may take at most {limits.by_address} bytes"
                raise StorageError(QUOTA, detail)

    def keyed(self, text: str) -> bytes:
        """Return the keyed digest of an address, or of another text that is not to be stored."""
        return hmac.digest(self._address_key, text.encode(), "sha256")

    def owner(self, address: str) -> str:
        """Return what of an address is stored outside the database."""
        return self.keyed(address).hex()


@dataclass(frozen=True)
class StoredKind:
    """What a subject keeps in the database: what it takes, when it expires, how it is archived."""

    name: str  # of its folder in an archive, and of its rows in messages
    table: Table  # with the columns id, address, and size: the bytes that count for the address
    bytes: Sequence[ColumnElement[int]]  # columns whose sums are the bytes that it takes in all
    prune: Callable[[Store, float | None], Awaitable[int]]
    """Delete what is older than so many days (None: than the limits allow); return its number."""
    write: Callable[[Store, ArchiveFile, str], Awaitable[None]]
    """Write the row of an id, if it is still there, to an archive. Raises DamagedError."""
    read: Callable[[Store, Entries, str], Awaitable[bool]]
    """Store what an entry of an archive has; return False if its id is already used."""


async def insert_row(
    store: Store,
    table: Table,
    row: dict[str, object],
    *related: tuple[Table, list[dict[str, object]]],
) -> bool:
    """Insert a row, with rows that belong to it; return False if its id is already used."""
    async with store.database.writing() as connection:
        existing = select(table.c.id).where(table.c.id == row["id"])
        if await connection.scalar(existing) is not None:
            return False
        await connection.execute(insert(table).values(row))
        for related_table, rows in related:
            if rows:
                await connection.execute(insert(related_table), rows)
    return True


def since(days: float) -> datetime:
    """Return the time that was so many days ago."""
    return datetime.now(UTC) - timedelta(days=days)


@asynccontextmanager
async def open_store(
    url: str, limits: Limits = UNLIMITED, kinds: Sequence[StoredKind] = ()
) -> AsyncIterator[Store]:
    """Open the database, after running its migrations.

    Raises what `open_database` raises.
    """
    async with open_database(url) as database:
        try:
            key = await _address_key(database)
        except StorageError as error:
            if not isinstance(error.__cause__, DamagedError) or database.file is None:
                raise
            raise FileError(database.file, "it is damaged") from error
        yield Store(database, limits, kinds, key)


async def _address_key(database: Database) -> bytes:
    """Return the key for digests of addresses, created once per database so that servers agree."""
    query = select(secrets.c.value).where(secrets.c.name == ADDRESS_KEY)
    async with database.writing() as connection:
        key: bytes | None = await connection.scalar(query)
        if key is None:
            key = os.urandom(32)
            await connection.execute(insert(secrets).values(name=ADDRESS_KEY, value=key))
        return key


FIRST_SECONDS, PRUNING_SECONDS = 60, 3600  # after the start, when others are waiting; then


async def prune(store: Store, days: float | None = None) -> dict[str, int]:
    """Delete what is older than `days` (None: than the limits allow); return numbers by kind.

    A kind may have limits of its own, which `days` does not change.
    """
    return {kind.name: await kind.prune(store, days) for kind in reversed(store.kinds)}


async def keep_pruning(store: Store, seconds: float = PRUNING_SECONDS) -> None:
    """Delete what expires, until cancelled."""
    await asyncio.sleep(FIRST_SECONDS)
    await repeat(partial(prune, store), seconds)
