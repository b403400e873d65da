"""POST /api/decode."""

from fastapi import APIRouter, Request, Response

from app.engine.decoding import DecodeJob
from app.engine.engine import Engine
from app.http.replies import run_problems
from app.http.services import Opened
from app.http.streaming import Lines, in_lines, stream_lines
from app.schemas.decode_lines import AnyDecodeRequest, DecodeLine
from app.traces.service import chosen

router = APIRouter(tags=["decode"])


@router.post(
    "/decode",
    summary="Stream the steps of a translation",
    response_class=Lines,
    responses=in_lines(DecodeLine) | run_problems(),
)
async def decode(request: Request, services: Opened, body: AnyDecodeRequest) -> Response:
    """Stream a first line, one line per step as it happens, and a last line.

    The translation is the same as in a trace with the same `decode`. The work stops when the
    client disconnects. An error after the first line is sent as the last line,
    `{"error": problem}`.
    """
    name = chosen(services, body)
    return await stream_lines(
        request, services[Engine].stream(DecodeJob(name, body.asked(), body.candidates))
    )
