"""An engine with slow models, and requests to it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import orjson

from app.engine.engine import Bounds, Engine
from app.engine.jobs import Encoding, TraceJob
from app.engine.model_catalog import Catalog
from app.engine.runners import Runners
from app.http.file_formats import JSON
from model.adapters.requests.request import Request
from tests.serving.slow import Slow


@asynccontextmanager
async def running(
    *models: Slow,
    max_queue: int = 8,
    max_streams: int = 8,
    max_batch: int = 4,
    max_wait_seconds: float = 10,
    max_models: int = 2,
) -> AsyncIterator[Engine]:
    """Run an engine for these models, called "0", "1" and so on."""
    loaders = {str(n): (lambda model=model: model) for n, model in enumerate(models or [Slow()])}
    runners = Runners.in_threads(Catalog(loaders, max_models))
    engine = Engine(
        runners, Bounds(max_queue, max_batch, max_wait_seconds, max_streams=max_streams)
    )
    async with engine:
        yield engine


def job(source: str, model: str = "0", form: str = JSON) -> TraceJob:
    return TraceJob(model, Request(source), "id", "float32", Encoding(form, 1000))


async def run(engine: Engine, source: str, model: str = "0") -> str:
    """Send one request and return its text; one of the texts requests an unknown format."""
    form = "nonsense" if source == "bitter" else JSON
    encoded = await engine.run(job(source, model, form))
    return str(orjson.loads(encoded.content)["output"]["text"])


def send(engine: Engine, source: str, model: str = "0") -> asyncio.Task[str]:
    return asyncio.create_task(run(engine, source, model))


async def held(engine: Engine, model: Slow) -> asyncio.Task[str]:
    """Send one request and wait until the model runs it, so that later ones must queue."""
    first = send(engine, "first")
    await asyncio.to_thread(model.started.wait, 10)
    return first
