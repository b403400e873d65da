"""GET /api/health, /api/ready and /metrics: is the server up, can it do its work, and how much.

It is ready if a model answers and the database accepts a write. The folder of an SQLite database
must accept one too: a full disk still takes a write that does not make the file larger. No other
folder counts. Where the database is elsewhere, a data folder that cannot be written refuses
training and texts of readers, each by its problem, and no sentence.

The default model is tested first. If it fails by itself, the others are, so that one broken model
does not take the server away from those who use another.
"""

import asyncio
import itertools
import logging
import os
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryFile

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.exceptions import HTTPException

from app import __version__
from app.engine.engine import BusyError, Engine
from app.engine.fair_queue import NOBODY, asking
from app.engine.jobs import Encoding, TraceJob
from app.engine.model_listing import Listing
from app.engine.reply_formats import Selection
from app.http.file_formats import JSON
from app.http.problems import ProblemError
from app.http.replies import problems
from app.http.request_metrics import Metrics
from app.http.route_dependencies import Opened, Services
from app.http.tasks_and_caches import Recent
from app.settings import Settings
from app.store.storage_errors import StorageError, files
from app.store.store import Store
from app.traces.replies import Health, Ready
from model.adapters.requests.request import Decode, Request
from model.errors import InputError

HEARTBEAT_SECONDS = 4.0  # within which a model and a database must answer
TRIED = 3  # models to test until one answers
WRITTEN_BYTES = 4096  # to the folder: the block that a file takes at least
KEPT_SECONDS = 2.0  # how long a result is cached, so that many probes cost little

log = logging.getLogger(__name__)
router = APIRouter(tags=["server"])


class Readiness:
    """Tests a model and the database, at most once in `KEPT_SECONDS`."""

    def __init__(self, catalog: Listing, engine: Engine, store: Store) -> None:
        self._catalog = catalog
        self._engine = engine
        self._store = store
        self._beats = itertools.count()
        self._recent = Recent(KEPT_SECONDS, self._check)

    async def failures(self) -> list[str]:
        """Return a message for each part that is not ready; empty if the server is ready."""
        return await self._recent.get()

    async def _check(self) -> list[str]:
        checks = [
            _failure("the model", self._run()),
            _failure("the database", self._store.check_write()),
        ]
        if file := self._store.database.file:
            written = asyncio.to_thread(_check_write, file.parent)
            checks.append(_failure("the folder of the database", written))
        results = await asyncio.gather(*checks)
        return [failure for failure in results if failure]

    async def _run(self) -> None:
        """Run a text through the first model that does not fail."""
        asking.set(NOBODY)  # for this task: the caller is not charged
        for name in [*self._catalog][:TRIED]:
            try:
                return await self._run_model(name)
            except (InputError, BusyError, TimeoutError):
                raise
            except Exception as error:
                failed = error
                log.error("the model %s fails: %s", name, type(error).__name__)
        raise failed

    async def _run_model(self, name: str) -> None:
        """Run a text that was never sent before, so that no cache replies instead of the model."""
        request = Request(str(next(self._beats)), decode=Decode(max_tokens=1), select=())
        encoding, selection = Encoding(JSON, 1_000_000), Selection.parse([])
        await self._engine.run(TraceJob(name, request, "", "float32", encoding, selection))


@asynccontextmanager
async def open_readiness(services: Services) -> AsyncIterator[None]:
    """Open the tests of whether a server is ready."""
    services.add(Readiness(services[Listing], services[Engine], services[Store]))
    yield


def _check_write(folder: Path) -> None:
    """Write a file and delete it. Raises StorageError."""
    with files(), TemporaryFile(dir=folder) as file:
        file.write(bytes(WRITTEN_BYTES))
        file.flush()
        os.fsync(file.fileno())


async def _failure(name: str, work: Awaitable[None]) -> str | None:
    try:
        async with asyncio.timeout(HEARTBEAT_SECONDS):
            await work
    except InputError:
        return None  # it did answer
    except TimeoutError:
        return f"{name} did not answer within {HEARTBEAT_SECONDS:g} seconds"
    except (BusyError, StorageError) as error:
        return f"{name}: {error}"
    except Exception:
        log.exception("%s failed", name)
        return f"{name} failed; the error has been logged"
    return None


@router.get("/health", summary="Check whether the server is up")
async def health(services: Opened) -> Health:
    """Return a reply without using a model or the database; for these, see `/api/ready`."""
    return Health(
        status="ok",
        version=__version__,
        models=list(services[Listing]),
        unopened=services[Listing].unopened,
        waiting=services[Engine].waiting,
        sentence_seconds=services[Engine].sentence_seconds,
        wait_seconds=services[Engine].wait,
        service=services[Engine].level,
    )


@router.get(
    "/ready",
    summary="Check whether the server is ready",
    responses=problems(_503="The server is not ready; `detail` says why."),
)
async def ready(services: Opened, response: Response) -> Ready:
    """Run a text through the default model, and write to the database (of SQLite, also its folder).

    Each may take four seconds; the result is cached for two.
    """
    if failures := await services[Readiness].failures():
        raise ProblemError(503, "not-ready", "; ".join(failures), headers={"Retry-After": "2"})
    response.headers["Cache-Control"] = "no-store"
    return Ready(status="ready")


metrics_router = APIRouter(include_in_schema=False)


@metrics_router.get("/metrics")
async def metrics(services: Opened) -> Response:
    """Return the server's metrics for Prometheus, if the settings enable them."""
    if not services[Settings].metrics:
        raise HTTPException(404)
    content = await services[Metrics].text()
    headers = {"Cache-Control": "no-store"}
    return Response(content, headers=headers, media_type=CONTENT_TYPE_LATEST)
