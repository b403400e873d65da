"""How much shares may take, and whether there is room for another."""

from dataclasses import dataclass
from typing import Self

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from app.settings import Settings
from app.store.storage_errors import FULL, QUOTA, StorageError
from app.store.tables import contents, shares


@dataclass(frozen=True)
class Limits:
    """What shares may take: bytes in all and for one address, and days; None is without limit."""

    total: int | None = None
    by_address: int | None = None
    days: float | None = None

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Those that an operator has set."""
        return cls(
            total=settings.max_shares_bytes,
            by_address=settings.max_shares_bytes_per_address,
            days=settings.keep_shares_days,
        )


def used() -> ColumnElement[int]:
    """How many bytes all shares take in the database."""
    documents = select(func.coalesce(func.sum(shares.c.documents), 0)).scalar_subquery()
    files = select(func.coalesce(func.sum(contents.c.size), 0)).scalar_subquery()
    return documents + files


async def check_room(
    connection: AsyncConnection, limits: Limits, owner: bytes | None, grows: int, size: int
) -> None:
    """Raises StorageError where there is no room for a share.

    `grows` is how many bytes it adds to the database, `size` how many it counts for its owner: with
    contents that are kept already.
    """
    if limits.total is not None:
        before = int(await connection.scalar(select(used())) or 0)
        if before + grows > limits.total:
            raise StorageError(FULL, f"all shares together have at most {limits.total} bytes")
    if limits.by_address is not None and owner is not None:
        mine = select(func.sum(shares.c.size)).where(shares.c.address == owner)
        if int(await connection.scalar(mine) or 0) + size > limits.by_address:
            detail = f"the shares of one address have at most {limits.by_address} bytes"
            raise StorageError(QUOTA, detail)
