"""GET /api/positions."""

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Response

from app.answers.positions import positions_table
from app.http.caches import ByteCache
from app.http.fields import Whole
from app.http.replies import problems
from app.http.services import Opened
from app.http.worker_threads import off_loop
from app.settings import Settings
from app.traces.replies import PositionsReply

router = APIRouter(tags=["positions"])


@router.get(
    "/positions",
    summary="Read a table of positional encodings",
    response_class=Response,
    responses={
        200: {"model": PositionsReply, "description": "The table and its similarities."},
        **problems(_422="A parameter is not valid."),
    },
)
async def positions(
    services: Opened,
    length: Annotated[Whole, Query(description="Rows: positions.", examples=[12])],
    d_model: Annotated[Whole, Query(description="Columns: features.", examples=[256])],
    variant: Annotated[str, Query(max_length=64)] = "sinusoidal",
) -> Response:
    """Return the vectors that are added to embeddings to encode order, and their cosines."""
    limit = services[Settings].max_positions
    make = partial(off_loop, positions_table, variant, length, d_model, limit)
    content = await services[ByteCache].find(("positions", variant, length, d_model), make)
    headers = {"Cache-Control": "no-cache"}
    return Response(content, headers=headers, media_type="application/json")
