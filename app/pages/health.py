"""GET /api/health and /api/ready."""

from fastapi import APIRouter, Response

from app import __version__
from app.engine.engine import Engine
from app.engine.model_listing import Listing
from app.http.problems import ProblemError
from app.http.replies import problems
from app.http.services import Opened
from app.pages.readiness import Readiness
from app.traces.replies import Health, Ready

router = APIRouter(tags=["server"])


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
