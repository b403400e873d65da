"""POST /api/overview and /api/tile."""

from fastapi import APIRouter, Request, Response

from app.answers.long_texts import see_overview, see_tile
from app.answers.traces import while_present
from app.dependencies import Opened
from app.engine.jobs import Encoding
from app.http.replies import in_both_forms, media_type, reply, run_problems
from app.schemas.long_texts import (
    AnyOverviewRequest,
    AnyTileRequest,
    OverviewReply,
    TileReply,
)

router = APIRouter(tags=["long texts"])

NOT_ACCEPTABLE = "No available format is acceptable."


@router.post(
    "/overview",
    summary="Run a long text and return a picture of every head",
    response_class=Response,
    responses=in_both_forms(OverviewReply) | run_problems(_406=NOT_ACCEPTABLE),
)
async def overview(request: Request, services: Opened, body: AnyOverviewRequest) -> Response:
    """Cell *i* covers tokens *i* · span to (*i* + 1) · span and is the largest weight in it.

    Nothing of size tokens × tokens is ever computed at once, so the text can be as long as the
    model reads. The pass is kept for a while, so that more overviews and tiles of the same text
    cost only themselves.
    """
    form = media_type(request)
    encoding = Encoding(form, services.settings.max_values)
    encoded = await while_present(request, see_overview(services, body, encoding))
    return reply(encoded.content, form, "no-store")


@router.post(
    "/tile",
    summary="Return a window of one head over a long text",
    response_class=Response,
    responses=in_both_forms(TileReply) | run_problems(_406=NOT_ACCEPTABLE),
)
async def tile(request: Request, services: Opened, body: AnyTileRequest) -> Response:
    """Exact weights for a window with few tokens, else the largest weight of each cell.

    `"query": [i, i + 1]` is a row in full, `"key": [j, j + 1]` a column. With `edges`, cells are
    groups of tokens such as sentences.
    """
    form = media_type(request)
    encoding = Encoding(form, services.settings.max_values)
    encoded = await while_present(request, see_tile(services, body, encoding))
    return reply(encoded.content, form, "no-store")
