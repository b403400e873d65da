"""The application: settings in, an ASGI app out."""

import math
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import cache, partial
from typing import Any

import torch
from anyio import to_thread
from fastapi import APIRouter, Depends, FastAPI, Request
from fastapi.routing import APIRoute, iter_route_contexts
from starlette_compress import CompressMiddleware, add_compress_type, remove_compress_type

from app import __version__, lab, models, zoo
from app.assets.static_files import Vendor, vendored
from app.assets.templates import PageFacts, problem_page
from app.assignments import routes as assignments
from app.assignments.store import STORED as STORED_ASSIGNMENTS
from app.assignments.store import open_assignments
from app.collections import routes as collections
from app.collections.store import STORED as STORED_COLLECTIONS
from app.collections.store import open_collections
from app.engine.engine import Bounds, Engine
from app.engine.fair_queue import Budgets, Client, asking
from app.engine.model_catalog import Catalog
from app.engine.runners import Runners, in_processes
from app.engine.start_engines import launch_engines, load_catalog
from app.engine.start_processes import Launcher
from app.handouts import routes as handouts
from app.heads import routes as heads
from app.heads.corpora import open_corpora
from app.heads.indexing import open_indexing
from app.http import problems
from app.http.file_formats import SAFETENSORS
from app.http.host_names import AllowedHosts
from app.http.limits import CLIENT_HEADER, BodyLimit, Paced, client_network
from app.http.replies import CompressLarge, Conditional
from app.http.replies import problems as problems_of_routes
from app.http.request_metrics import Metrics, Observed, RouteSeen
from app.http.route_dependencies import Opened, Services
from app.http.security import SecurityHeaders
from app.http.tasks_and_caches import ByteCache, running
from app.lab import MAX_BYTES
from app.lessons import pages as lessons
from app.local_models import open_exported_models
from app.long_texts import routes as long_texts
from app.pages import health
from app.pages import routes as pages
from app.pages.health import open_readiness
from app.rooms import routes as rooms
from app.rooms.open_rooms import open_rooms
from app.runs import routes as runs
from app.runs.kept_models import open_kept_models
from app.runs.training_runs import open_runs
from app.settings import Settings
from app.shares import routes as shares
from app.shares.service import open_shares
from app.shares.store import STORED as STORED_SHARES
from app.store.store import CreationRate, Limits, keep_pruning, open_store
from app.studies import routes as studies
from app.studies.service import open_studies
from app.traces import routes as traces
from app.worksheets import routes as worksheets

DESCRIPTION = """\
What happens inside a Transformer, for any sentence: the attention of every head, queries, keys and
values, positional encodings, and next-token probabilities.

Every request is self-contained. Errors are problem documents
([RFC 9457](https://www.rfc-editor.org/rfc/rfc9457)) with a stable `type`.
"""


STORED = (STORED_SHARES, STORED_COLLECTIONS, STORED_ASSIGNMENTS)

# In this order; a later one may take the services of earlier ones.
OPENERS: tuple[Callable[[Services], AbstractAsyncContextManager[None]], ...] = (
    open_corpora,
    open_exported_models,
    open_shares,
    open_collections,
    open_assignments,
    open_studies,
    open_runs,
    open_indexing,
    open_kept_models,
    open_rooms,
    open_readiness,
)


def create_app(
    settings: Settings | None = None, runners: Catalog | Runners | None = None
) -> FastAPI:
    """Create the server; `settings` default to the environment, `runners` to the settings' models.

    A catalog's models run on threads of this process.
    """
    if isinstance(runners, Catalog):
        runners = Runners.in_threads(runners)
    settings = settings or Settings()
    metrics = Metrics()
    counted = partial(metrics.count_lookup, "replies")
    replies = ByteCache[Any](settings.max_cache_bytes, len, counted)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        models = runners
        if models is None:
            models = await to_thread.run_sync(open_models, settings)
        async with AsyncExitStack() as opened:
            services = app.state.services = Services(replies, metrics, models.listing, PageFacts())
            services.add(settings, Settings)
            await opened.enter_async_context(open_kernel(services, models))
            for open_subject in OPENERS:
                await opened.enter_async_context(open_subject(services))
            yield

    app = FastAPI(
        title="Headlight",
        version=__version__,
        description=DESCRIPTION,
        openapi_url=None if settings.public else "/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        routes=_routes().routes,
        separate_input_output_schemas=False,
    )
    problems.install(app, problem_page)
    # The last one added is the outermost.
    paths = {
        route.endpoint: route.path
        for route in iter_route_contexts(app.routes)
        if route.path is not None
    }
    app.add_middleware(RouteSeen, paths=paths)
    larger = {"/api/lab": max(MAX_BYTES, settings.max_body_bytes)}
    app.add_middleware(BodyLimit, limit=settings.max_body_bytes, paths=larger)
    app.add_middleware(Paced, pace=lambda: app.state.services[Engine].pace)
    app.add_middleware(Conditional)
    app.add_middleware(CompressLarge, cache=replies)
    app.add_middleware(CompressMiddleware)
    app.add_middleware(AllowedHosts, names=settings.hosts, local=not settings.public)
    app.add_middleware(SecurityHeaders, hsts=settings.public)
    app.add_middleware(Observed, metrics=metrics)
    return app


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


@asynccontextmanager
async def open_kernel(services: Services, models: Runners) -> AsyncIterator[None]:
    """Start the engine, and open the database and the files from packages."""
    settings, metrics = services[Settings], services[Metrics]
    bounds = Bounds(
        settings.max_queue,
        settings.max_batch,
        settings.max_wait_seconds,
        settings.max_work,
        settings.max_long_seconds,
        settings.max_streams,
    )
    budgets = Budgets(settings.work_per_second, settings.max_work, settings.max_clients_per_address)
    engine = Engine(models, bounds, services[ByteCache], budgets, metrics.count_batch)
    metrics.watch("queue_length", "Requests waiting for a model.", lambda: engine.waiting)
    metrics.watch("streams", "Open streams.", lambda: engine.streams)
    metrics.watch(
        "sentence_seconds",
        "Seconds that a model lately took for a sentence of usual length; NaN: not measured.",
        lambda: math.nan if engine.sentence_seconds is None else engine.sentence_seconds,
    )
    metrics.watch("expected_wait_seconds", "Expected wait of a sentence.", lambda: engine.wait)
    vendor = Vendor(vendored(), settings.data_dir / "cache")
    async with (
        open_store(settings.database, Limits.of(settings), STORED) as store,
        engine,
        running(keep_pruning(store)),
    ):
        vendor.compress()
        for service in (engine, store, vendor, CreationRate(settings)):
            services.add(service)
        yield


async def identify_client(request: Request, services: Opened) -> None:
    """Note whose request it is, for the engine's queue and its budgets."""
    token, max_clients = (
        request.headers.get(CLIENT_HEADER, ""),
        services[Settings].max_clients_per_address,
    )
    asking.set(Client.of(client_network(request), token, max_clients))


# What is served: one line for each subject.
API = (
    *(traces.trace_router, traces.decode_router, traces.sweep_router),
    long_texts.router,
    shares.router,
    collections.router,
    assignments.router,
    studies.router,
    models.router,
    *(heads.router, heads.corpora_router),
    traces.positions_router,
    lab.router,
    zoo.router,
    runs.router,
    rooms.router,
    *(health.router, pages.qr_router),
)
PAGES = (
    shares.oembed_router,  # at the address that the standard's users expect
    handouts.router,
    lessons.router,
    heads.page_router,
    collections.page_router,
    assignments.page_router,
    studies.page_router,
    worksheets.router,
    *(pages.router, pages.static_router, health.metrics_router),
)


@cache
def _routes() -> APIRouter:
    """Return all routes; FastAPI takes 0.1 s to read their signatures, once for all apps."""
    router = APIRouter(
        generate_unique_id_function=_operation_id,
        responses=problems_of_routes(default="Any other error."),
        dependencies=[Depends(identify_client)],
    )
    for subject in API:
        router.include_router(subject, prefix="/api")
    for subject in PAGES:
        router.include_router(subject)
    return router


for media_type in (SAFETENSORS, problems.MEDIA_TYPE):
    add_compress_type(media_type)
# Each stream of events would need an encoder's memory, for events of some hundred bytes.
remove_compress_type("text/event-stream")


def _operation_id(route: APIRoute) -> str:
    return route.name
