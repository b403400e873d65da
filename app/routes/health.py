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
    """The process answers. It asks neither a model nor the database: see `/api/ready`."""
    return Health(
        status="ok",
        version=__version__,
        models=list(services.catalog),
        waiting=services.engine.waiting,
    )


@router.get(
    "/ready",
    summary="Can the server work?",
    responses=problems(_503="Something is not ready; `detail` says what."),
)
async def ready(services: Opened, response: Response) -> Ready:
    """The default model ran a text just now, and the database took a write.

    Each has four seconds; what was found holds for two.
    """
    if failures := await services.readiness.failures():
        raise ProblemError(503, "not-ready", "; ".join(failures), headers={"Retry-After": "2"})
    response.headers["Cache-Control"] = "no-store"
    return Ready(status="ready")
