"""The services that routes depend on: opened at startup, closed at shutdown."""

import asyncio
import math
from collections.abc import AsyncIterator, Coroutine
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated, Any

import torch
from anyio import to_thread
from cachetools import LRUCache
from fastapi import Depends, Request

from app.assets.files import Vendor, vendored
from app.background import begin
from app.corpora import Corpora
from app.engine.clients import Budgets, Client, asking
from app.engine.engine import Bounds, Engine
from app.engine.launch import Launcher
from app.engine.model_listing import Listing
from app.engine.processes import in_processes
from app.engine.runners import Runners
from app.http.brief_cache import Recent
from app.http.byte_cache import ByteCache
from app.http.metrics import Metrics
from app.http.rate_limits import PerMinute, client_network
from app.indexing.indexing import Indexing, IndexLimits
from app.launch import launch_engines, load_catalog, logging_of
from app.readiness import Readiness
from app.rooms.bus import Bus, MemoryBus
from app.rooms.rooms import RoomLimits, Rooms
from app.runs.kept_models import KeptModels
from app.runs.runs import RunLimits, Runs
from app.settings import Settings
from app.store.assignments import Assignments
from app.store.collections import Collections
from app.store.expiry import keep_pruning
from app.store.quota import Limits
from app.store.store import Store, open_store

PREVIEWS = 128  # cached pictures, of some 60 kB each

CLIENT_HEADER = "headlight-client"  # a page's random token: identifies a client at an address
TOTALS_SECONDS = 10.0  # how long the total of all shares is cached


@dataclass(frozen=True)
class Services:
    """The services of a server, one of each kind."""

    settings: Settings
    catalog: Listing
    engine: Engine
    store: Store
    collections: Collections
    assignments: Assignments
    vendor: Vendor
    sharing: PerMinute
    readiness: Readiness
    metrics: Metrics
    share_totals: Recent[tuple[int, int]]  # number, bytes
    previews: LRUCache[str, bytes]  # pictures by share
    cache: ByteCache[Any]  # replies that never change
    runs: Runs
    kept: KeptModels
    corpora: Corpora
    indexing: Indexing
    rooms: Rooms
    room_openings: PerMinute
    room_tries: PerMinute  # wrong codes and keys


def open_models(settings: Settings, launching: Future[list[Launcher]] | None = None) -> Runners:
    """Open the models that the settings name: in a cluster, in processes, or here. Blocks.

    `launching` is the result of `begin_launch` for these settings; without it the processes are
    launched here. Raises what `model.adapters.open_model.open_model` raises, or a
    RuntimeError with the same message.
    """
    if settings.engines != 0:
        # Models run in other processes. The small matrices of the lab take four times as long on
        # two threads, which wait for each other on busy cores.
        torch.set_num_threads(1)
    if settings.ray_address:
        from app.scale.runner import in_cluster  # imports Ray, which only a cluster needs

        return in_cluster(settings.ray_address, settings.bundles, settings.engines)
    if settings.engines == 0:
        return Runners.in_threads(load_catalog(settings)())
    return in_processes(launching.result() if launching else launch_engines(settings))


def run_limits(settings: Settings) -> RunLimits:
    """Return the limits of training runs from the settings."""
    return RunLimits(
        at_once=settings.max_runs,
        queue=settings.max_run_queue,
        minutes=settings.max_run_minutes,
        threads=settings.max_run_threads,
        nice=settings.run_nice,
        unwatched_seconds=settings.max_run_unwatched_seconds,
        keep_minutes=settings.keep_runs_minutes,
        total_bytes=settings.max_runs_bytes,
    )


def index_limits(settings: Settings) -> IndexLimits:
    """Return the limits of readers' texts from the settings.

    In a cluster the models' files are on other machines, so none can be indexed here.
    """
    return IndexLimits(
        at_once=0 if settings.ray_address else settings.max_corpora,
        queue=settings.max_corpus_queue,
        seconds=settings.max_corpus_seconds,
        kept=settings.max_kept_corpora,
        hours=settings.keep_corpora_hours,
        threads=settings.max_run_threads,
        nice=settings.run_nice,
    )


@asynccontextmanager
async def open_rooms(settings: Settings) -> AsyncIterator[Rooms]:
    """Open the rooms of this server, or those that it shares with others."""
    limits = RoomLimits(
        rooms=settings.max_rooms,
        members=settings.max_room_members,
        seconds=settings.room_hours * 3600,
        changes=settings.max_room_changes_per_second,
        questions=settings.max_room_questions,
        bytes=settings.max_room_bytes,
    )
    rooms = Rooms(_bus(settings.rooms_url, limits.bytes), limits)
    try:
        yield rooms
    finally:
        await rooms.close()


def _bus(url: str | None, room_bytes: int) -> Bus:
    if url is None:
        return MemoryBus(room_bytes)
    from app.rooms.redis_bus import RedisBus  # imports redis, which only several servers need

    return RedisBus(url, room_bytes)


@asynccontextmanager
async def open_services(
    settings: Settings,
    cache: ByteCache[Any],
    metrics: Metrics,
    models: Runners | None = None,
) -> AsyncIterator[Services]:
    """Open the models and the store, and start the engine.

    `models` replace those that the settings name.
    """
    if models is None:
        models = await to_thread.run_sync(open_models, settings)
    corpora = Corpora(settings, models.listing)
    corpora.check()
    vendor = Vendor(vendored(), settings.data_dir / "cache")
    bounds = Bounds(
        settings.max_queue,
        settings.max_batch,
        settings.max_wait_seconds,
        settings.max_work,
        settings.max_long_seconds,
        settings.max_streams,
    )
    budgets = Budgets(settings.work_per_second, settings.max_work, settings.max_clients_per_address)
    engine = Engine(models, bounds, cache, budgets, metrics.count_batch)
    metrics.watch("queue_length", "Requests waiting for a model.", lambda: engine.waiting)
    metrics.watch("streams", "Open streams.", lambda: engine.streams)
    metrics.watch(
        "sentence_seconds",
        "Seconds that a model lately took for a sentence of usual length; NaN: not measured.",
        lambda: math.nan if engine.sentence_seconds is None else engine.sentence_seconds,
    )
    metrics.watch("expected_wait_seconds", "Expected wait of a sentence.", lambda: engine.wait)
    limits = Limits.of(settings)
    runs = Runs(run_limits(settings), settings.data_dir / "runs", logging_of(settings))
    metrics.watch("runs", "Training runs that have a process.", lambda: runs.training)
    metrics.watch("runs_waiting", "Training runs in the queue.", lambda: runs.waiting)
    async with (
        open_store(settings.database, limits) as store,
        engine,
        runs,
        _indexing(settings, store) as indexing,
        _kept_models(settings, store, models.listing) as kept,
        _running(keep_pruning(store)),
        open_rooms(settings) as rooms,
    ):
        vendor.compress()
        sharing = PerMinute(settings.max_shares_per_minute, settings.rates_url)
        openings = PerMinute(
            settings.max_rooms_per_minute,
            settings.rates_url,
            kind="too-many-rooms",
            counted="rooms",
        )
        tries = PerMinute(
            settings.max_room_tries_per_minute,
            settings.rates_url,
            kind="too-many-room-tries",
            counted="wrong codes and keys",
        )
        yield Services(
            settings=settings,
            catalog=models.listing,
            engine=engine,
            store=store,
            collections=Collections(store),
            assignments=Assignments(store),
            vendor=vendor,
            sharing=sharing,
            metrics=metrics,
            share_totals=Recent(TOTALS_SECONDS, store.totals),
            readiness=Readiness(models.listing, engine, store),
            previews=LRUCache(PREVIEWS),
            cache=cache,
            runs=runs,
            kept=kept,
            corpora=corpora,
            indexing=indexing,
            rooms=rooms,
            room_openings=openings,
            room_tries=tries,
        )


def _indexing(settings: Settings, store: Store) -> Indexing:
    folder, prepare = settings.data_dir / "corpora", logging_of(settings)
    return Indexing(index_limits(settings), folder, prepare, store.owner)


@asynccontextmanager
async def _kept_models(
    settings: Settings, store: Store, listing: Listing
) -> AsyncIterator[KeptModels]:
    folder, days = settings.data_dir / "kept", settings.keep_models_days
    kept = KeptModels(folder, settings.max_kept_models, days, listing, store.owner)
    async with _running(kept.keep_pruning()):
        yield kept


@asynccontextmanager
async def _running(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Run something beside the block, until it ends."""
    task = begin(work)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _services(request: Request) -> Services:
    services: Services = request.app.state.services
    token = request.headers.get(CLIENT_HEADER, "")
    most = services.settings.max_clients_per_address
    asking.set(Client.of(client_network(request), token, most))
    return services


Opened = Annotated[Services, Depends(_services)]
