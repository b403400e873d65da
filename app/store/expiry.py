"""Deletes what has expired, of every kind."""

import asyncio
from functools import partial

from app.http.tasks_and_caches import repeat
from app.store.store import Store

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
