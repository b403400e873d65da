"""POST /api/decode."""

from fastapi import APIRouter, Request, Response

from app.answers.streaming import Lines, in_lines, stream
from app.answers.traces import chosen
from app.dependencies import Opened
from app.engine.decoding import DecodeJob
from app.http.replies import run_problems
from app.schemas.streams import AnyDecodeRequest, DecodeLine

router = APIRouter(tags=["decode"])


@router.post(
    "/decode",
    summary="Watch a translation being written",
    response_class=Lines,
    responses=in_lines(DecodeLine) | run_problems(),
)
async def decode(request: Request, services: Opened, body: AnyDecodeRequest) -> Response:
    """A line says how it starts, a line each step as it is taken, and a line how it ends.

    The translation is the one that a trace with the same `decode` writes. Whoever leaves stops
    the work; what goes wrong on the way is a last line, `{"error": problem}`.
    """
    name = chosen(services, body)
    return await stream(request, services, DecodeJob(name, body.asked(), body.candidates))
