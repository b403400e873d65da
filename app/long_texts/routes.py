"""POST /api/overview and /api/tile."""

from fastapi import APIRouter, Request, Response

from app.engine.jobs import Encoding
from app.http.replies import (
    LINES_TYPE,
    NOT_ACCEPTABLE,
    in_both_forms,
    media_type,
    or_lines,
    reply,
    run_problems,
    stream_lines,
    while_present,
)
from app.http.route_dependencies import Opened
from app.long_texts.schemas import (
    AnyOverviewRequest,
    AnyTileRequest,
    OverviewLine,
    OverviewReply,
    TileReply,
)
from app.long_texts.service import see_overview, see_tile, watch_overview
from app.settings import Settings

router = APIRouter(tags=["long texts"])


@router.post(
    "/overview",
    summary="Run a long text and return an overview of every head",
    response_class=Response,
    responses=or_lines(in_both_forms(OverviewReply), OverviewLine) | run_problems(**NOT_ACCEPTABLE),
)
async def overview(request: Request, services: Opened, body: AnyOverviewRequest) -> Response:
    """Return pictures of all heads. A cell is the largest weight of `span` × `span` tokens.

    Nothing of size tokens × tokens is ever computed at once, so the text can be as long as the
    model can read. The pass is cached, so that more overviews and tiles of the same text are cheap.

    With `Accept: application/x-ndjson` the reply is a stream: lines with the progress, then a line
    with the safetensors file in base64, or with an error. The work stops when the client
    disconnects.
    """
    form = media_type(request, LINES_TYPE)
    if form == LINES_TYPE:
        return await stream_lines(request, watch_overview(services, body))
    encoding = Encoding(form, services[Settings].max_values)
    encoded = await while_present(request, see_overview(services, body, encoding))
    return reply(encoded.content, form, "no-store")


@router.post(
    "/tile",
    summary="Return a window of one head over a long text",
    response_class=Response,
    responses=in_both_forms(TileReply) | run_problems(**NOT_ACCEPTABLE),
)
async def tile(request: Request, services: Opened, body: AnyTileRequest) -> Response:
    """Return exact weights for a window with few tokens, else the largest weight of each cell.

    `"query": [i, i + 1]` is a whole row, `"key": [j, j + 1]` a whole column. With `edges`, cells
    are groups of tokens, such as sentences.
    """
    form = media_type(request)
    encoding = Encoding(form, services[Settings].max_values)
    encoded = await while_present(request, see_tile(services, body, encoding))
    return reply(encoded.content, form, "no-store")
