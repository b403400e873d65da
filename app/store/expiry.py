"""Deletes what has expired: shares, collections and assignments."""

import asyncio
from functools import partial

from sqlalchemy import delete, select

from app.background import repeat
from app.store.assignments import delete_assignments
from app.store.store import Store, delete_shares, since
from app.store.tables import assignments, collections, shares

AT_ONCE = 100  # shares deleted in one transaction
FIRST_SECONDS, PRUNING_SECONDS = 60, 3600  # after the start, when others are waiting; then


async def prune(store: Store, days: float | None = None) -> int:
    """Delete shares older than `days` (None: than the limits allow); return their number.

    Collections that have not changed for as long are deleted too, and assignments that nobody has
    answered for longer than the limits allow.
    """
    if (kept := store.limits.assignment_days) is not None:
        async with store.database.writing() as connection:
            await delete_assignments(connection, assignments.c.changed < since(kept))
    days = store.limits.days if days is None else days
    if days is None:
        return 0
    async with store.database.writing() as connection:
        await connection.execute(delete(collections).where(collections.c.changed < since(days)))
    old = select(shares.c.id).where(shares.c.created < since(days)).limit(AT_ONCE)
    deleted = 0
    while True:
        async with store.database.writing() as connection:
            found = list(await connection.scalars(old))
            await delete_shares(connection, found)
        deleted += len(found)
        if len(found) < AT_ONCE:
            return deleted


async def keep_pruning(store: Store, seconds: float = PRUNING_SECONDS) -> None:
    """Delete what expires, until cancelled."""
    await asyncio.sleep(FIRST_SECONDS)
    await repeat(partial(prune, store), seconds)
