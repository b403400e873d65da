"""GET /metrics."""

import math

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.exceptions import HTTPException

from app.dependencies import Opened
from app.store.storage_errors import StorageError

router = APIRouter(include_in_schema=False)


@router.get("/metrics")
async def metrics(services: Opened) -> Response:
    """Return the server's metrics for Prometheus, if the settings enable them."""
    if not services.settings.metrics:
        raise HTTPException(404)
    try:
        services.metrics.set_shares(*await services.share_totals.get())
    except StorageError:
        services.metrics.set_shares(math.nan, math.nan)
    content = services.metrics.text()
    headers = {"Cache-Control": "no-store"}
    return Response(content, headers=headers, media_type=CONTENT_TYPE_LATEST)
