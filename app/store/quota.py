"""The limits on what is stored, and whether there is room for more."""

from dataclasses import dataclass
from typing import Self

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from app.http.rate_limits import PerMinute
from app.settings import Settings
from app.store.disk_errors import FULL
from app.store.storage_errors import QUOTA, StorageError
from app.store.tables import assignments, collections, contents, shares


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


def used() -> ColumnElement[int]:
    """Return the bytes that everything stored takes in the database, as a query."""
    documents = select(func.coalesce(func.sum(shares.c.documents), 0)).scalar_subquery()
    files = select(func.coalesce(func.sum(contents.c.size), 0)).scalar_subquery()
    lists = select(func.coalesce(func.sum(collections.c.size), 0)).scalar_subquery()
    tasks = select(func.coalesce(func.sum(assignments.c.size), 0)).scalar_subquery()
    return documents + files + lists + tasks


async def check_room(
    connection: AsyncConnection, limits: Limits, owner: bytes | None, grows: int, size: int
) -> None:
    """Raise StorageError if there is no room for a share, a collection or an assignment.

    `grows` is the number of bytes it adds to the database, `size` the number counted for its owner,
    including contents that are already stored.
    """
    if limits.total is not None:
        before = int(await connection.scalar(select(used())) or 0)
        if before + grows > limits.total:
            raise StorageError(FULL, f"all shares together may take at most {limits.total} bytes")
    if limits.by_address is not None and owner is not None:
        mine = 0
        for table in (shares, collections, assignments):
            theirs = select(func.sum(table.c.size)).where(table.c.address == owner)
            mine += int(await connection.scalar(theirs) or 0)
        if mine + size > limits.by_address:
            detail = f"the shares of one address may take at most {limits.by_address} bytes"
            raise StorageError(QUOTA, detail)
