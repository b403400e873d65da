"""GET /api/health."""

from fastapi import APIRouter

from app import __version__
from app.schemas.replies import Health
from app.services import Opened

router = APIRouter(tags=["server"])


@router.get("/health", summary="Is the server up?")
async def health(services: Opened) -> Health:
    """Answers once the models are loaded and the database is open."""
    return Health(
        status="ok",
        version=__version__,
        models=list(services.catalog),
        waiting=services.engine.waiting,
    )
