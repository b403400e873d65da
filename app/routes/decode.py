"""POST /api/decode."""

from fastapi import APIRouter, Request, Response

from app.decoding import lines
from app.replies import run_problems
from app.runs import check_limits
from app.services import Opened
from app.stream_schemas import DecodeLine, DecodeRequest
from app.streaming import Lines, in_lines, stream

router = APIRouter(tags=["decode"])


@router.post(
    "/decode",
    summary="Watch a translation being written",
    response_class=Lines,
    responses=in_lines(DecodeLine) | run_problems(),
)
async def decode(request: Request, services: Opened, body: DecodeRequest) -> Response:
    """A line says how it starts, a line each step as it is taken, and a line how it ends.

    The translation is the one that a trace with the same `decode` writes. Whoever leaves stops
    the work; what goes wrong on the way is a last line, `{"error": problem}`.
    """
    check_limits(services.settings, body)
    name, adapter = services.catalog.pick(body.model)
    return await stream(
        request, services, lines(name, adapter.decode(body.asked()), body.candidates)
    )
