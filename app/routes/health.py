"""GET /api/health and /api/ready."""

from fastapi import APIRouter, Response

from app import __version__
from app.dependencies import Opened
from app.http.problems import ProblemError
from app.http.replies import problems
from app.schemas.replies import Health, Ready

router = APIRouter(tags=["server"])


@router.get("/health", summary="Is the server up?")
async def health(services: Opened) -> Health:
    """The process responds. Uses neither a model nor the database: see `/api/ready`."""
    return Health(
        status="ok",
        version=__version__,
        models=list(services.catalog),
        waiting=services.engine.waiting,
    )


@router.get(
    "/ready",
    summary="Is the server ready?",
    responses=problems(_503="Something is not ready; `detail` says what."),
)
async def ready(services: Opened, response: Response) -> Ready:
    """The default model has just run a text, and the database has accepted a write.

    Each has four seconds; the result is reused for two.
    """
    if failures := await services.readiness.failures():
        raise ProblemError(503, "not-ready", "; ".join(failures), headers={"Retry-After": "2"})
    response.headers["Cache-Control"] = "no-store"
    return Ready(status="ready")
