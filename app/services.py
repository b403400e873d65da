"""What the routes work with, opened when the server starts and closed when it ends."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from anyio import to_thread
from cachetools import LRUCache
from fastapi import Depends, Request

from app.assets.files import Vendor, vendored
from app.engine.byte_cache import ByteCache
from app.engine.catalog import Catalog
from app.engine.engine import Engine
from app.http.metrics import Metrics
from app.http.rate_limits import PerMinute
from app.http.recent import Recent
from app.readiness import Readiness
from app.settings import Settings
from app.store.quota import Limits
from app.store.store import Store, open_store
from model.adapters.native import load

PREVIEWS = 128  # pictures kept, of some 60 kB

TOTALS_SECONDS = 10.0  # that a count of all shares is told again


@dataclass(frozen=True)
class Services:
    """One of each, for the life of the server."""

    settings: Settings
    catalog: Catalog
    engine: Engine
    store: Store
    vendor: Vendor
    sharing: PerMinute
    readiness: Readiness
    metrics: Metrics
    share_totals: Recent[tuple[int, int]]  # number, bytes
    previews: LRUCache[str, bytes]  # pictures by share
    cache: ByteCache[bytes]  # of what never changes


def load_catalog(settings: Settings) -> Catalog:
    """Opens every model that the settings name; raises what `model.adapters.native.load` raises."""
    drafts = settings.data_dir / "cache" / "drafts" if settings.draft else None
    loaders = {
        name: partial(load, path, settings.device, drafts=drafts)
        for name, path in settings.bundles.items()
    }
    return Catalog(loaders, settings.max_models)


@asynccontextmanager
async def open_services(
    settings: Settings,
    cache: ByteCache[bytes],
    metrics: Metrics,
    catalog: Catalog | None = None,
) -> AsyncIterator[Services]:
    """Opens the models, opens the store and starts the engine.

    `catalog` stands in for the one that the settings name.
    """
    if catalog is None:
        catalog = await to_thread.run_sync(load_catalog, settings)
    vendor = Vendor(vendored(), settings.data_dir / "cache")
    engine = Engine(
        catalog,
        max_queue=settings.max_queue,
        max_batch=settings.max_batch,
        max_wait_seconds=settings.max_wait_seconds,
        on_batch=metrics.count_batch,
    )
    metrics.watch("queue_length", "Requests that wait for a model.", lambda: engine.waiting)
    metrics.watch("streams", "Streams that are open.", lambda: engine.streams)
    limits = Limits.of(settings)
    async with open_store(settings.database, limits) as store, engine, _expiring(store):
        vendor.compress()
        sharing = PerMinute(settings.max_shares_per_minute)
        yield Services(
            settings=settings,
            catalog=catalog,
            engine=engine,
            store=store,
            vendor=vendor,
            sharing=sharing,
            metrics=metrics,
            share_totals=Recent(TOTALS_SECONDS, store.totals),
            readiness=Readiness(catalog, engine, store),
            previews=LRUCache(PREVIEWS),
            cache=cache,
        )


@asynccontextmanager
async def _expiring(store: Store) -> AsyncIterator[None]:
    pruning = asyncio.create_task(store.keep_pruning())
    try:
        yield
    finally:
        pruning.cancel()
        await asyncio.gather(pruning, return_exceptions=True)


async def _services(request: Request) -> Services:
    services: Services = request.app.state.services
    return services


Opened = Annotated[Services, Depends(_services)]
