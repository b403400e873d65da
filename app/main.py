"""The application: settings in, an ASGI app out."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache, partial
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute, iter_route_contexts
from starlette_compress import CompressMiddleware, add_compress_type, remove_compress_type

from app import __version__
from app.answers.pages import problem_page
from app.dependencies import open_services
from app.engine.catalog import Catalog
from app.engine.runners import Runners
from app.http import problems
from app.http.byte_cache import ByteCache
from app.http.compress_large import CompressLarge
from app.http.conditional import Conditional
from app.http.content_negotiation import SAFETENSORS
from app.http.hosts import AllowedHosts
from app.http.metrics import Metrics
from app.http.pace import Paced
from app.http.rate_limits import BodyLimit
from app.http.replies import problems as problems_of_routes
from app.http.request_log import Observed, RouteSeen
from app.http.security import SecurityHeaders
from app.routes import (
    assets,
    assignment_pages,
    assignments,
    collection_pages,
    collections,
    corpora,
    decode,
    handouts,
    head_pages,
    heads,
    health,
    lab,
    learn,
    long_texts,
    models,
    pages,
    positions,
    qr,
    rooms,
    runs,
    shares,
    sweep,
    trace,
    zoo,
)
from app.routes import metrics as metrics_route
from app.schemas.lab import MAX_BYTES
from app.settings import Settings

DESCRIPTION = """\
What happens inside a Transformer, for any sentence: the attention of every head, queries, keys and
values, positional encodings, and next-token probabilities.

Every request is self-contained. Errors are problem documents
([RFC 9457](https://www.rfc-editor.org/rfc/rfc9457)) with a stable `type`.
"""


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
        async with open_services(settings, replies, metrics, runners) as app.state.services:
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
    app.add_middleware(Paced, pace=lambda: app.state.services.engine.pace)
    app.add_middleware(Conditional)
    app.add_middleware(CompressLarge, cache=replies)
    app.add_middleware(CompressMiddleware)
    app.add_middleware(AllowedHosts, names=settings.hosts, local=not settings.public)
    app.add_middleware(SecurityHeaders, hsts=settings.public)
    app.add_middleware(Observed, metrics=metrics)
    return app


@cache
def _routes() -> APIRouter:
    """Return all routes; FastAPI takes 0.1 s to read their signatures, once for all apps."""
    router = APIRouter(
        generate_unique_id_function=_operation_id,
        responses=problems_of_routes(default="Any other error."),
    )
    for subject in (
        trace.router,
        decode.router,
        sweep.router,
        long_texts.router,
        shares.router,
        collections.router,
        assignments.router,
        models.router,
        heads.router,
        corpora.router,
        positions.router,
        lab.router,
        zoo.router,
        runs.router,
        rooms.router,
        health.router,
        qr.router,
    ):
        router.include_router(subject, prefix="/api")
    router.include_router(handouts.router)
    router.include_router(learn.router)
    router.include_router(head_pages.router)
    router.include_router(collection_pages.router)
    router.include_router(assignment_pages.router)
    router.include_router(pages.router)
    router.include_router(assets.router)
    router.include_router(metrics_route.router)
    return router


for media_type in (SAFETENSORS, problems.MEDIA_TYPE):
    add_compress_type(media_type)
# Each stream of events would need an encoder's memory, for events of some hundred bytes.
remove_compress_type("text/event-stream")


def _operation_id(route: APIRoute) -> str:
    return route.name
