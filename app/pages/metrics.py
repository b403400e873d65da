"""GET /metrics."""

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.exceptions import HTTPException

from app.http.metrics import Metrics
from app.http.services import Opened
from app.settings import Settings

router = APIRouter(include_in_schema=False)


@router.get("/metrics")
async def metrics(services: Opened) -> Response:
    """Return the server's metrics for Prometheus, if the settings enable them."""
    if not services[Settings].metrics:
        raise HTTPException(404)
    content = await services[Metrics].text()
    headers = {"Cache-Control": "no-store"}
    return Response(content, headers=headers, media_type=CONTENT_TYPE_LATEST)
