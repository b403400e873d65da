"""POST /api/trace.

POST /api/decode.

POST /api/sweep.

GET /api/positions.
"""

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from app.engine.engine import Engine
from app.engine.jobs import Encoding
from app.engine.streamed_replies import DecodeJob
from app.http.replies import (
    NOT_ACCEPTABLE,
    Lines,
    in_both_forms,
    in_lines,
    media_type,
    problems,
    reply,
    run_problems,
    stream_lines,
    while_present,
)
from app.http.request_fields import Whole
from app.http.route_dependencies import Opened
from app.http.tasks_and_caches import ByteCache, off_loop
from app.settings import Settings
from app.traces.replies import PositionsReply, TraceReply
from app.traces.schemas import AnyDecodeRequest, AnyTraceRequest, DecodeLine
from app.traces.service import (
    AnySweepRequest,
    SweepLine,
    chosen,
    positions_table,
    run_trace,
    sweep_job,
)

trace_router = APIRouter(tags=["trace"])


@trace_router.post(
    "/trace",
    summary="Run a sentence and return what happened inside",
    response_class=Response,
    responses=in_both_forms(TraceReply) | run_problems(**NOT_ACCEPTABLE),
)
async def trace(request: Request, services: Opened, body: AnyTraceRequest) -> Response:
    """Run a sentence with its target, which the model writes if it is absent, and record tensors.

    Rows are queries, columns are keys; row *i* of a decoder tensor has read `tokens.target[i]` and
    predicts `output.tokens[i]`.
    """
    form = media_type(request)
    encoding = Encoding(form, services[Settings].max_values)
    encoded = await while_present(request, run_trace(services, body, encoding))
    return reply(encoded.content, form, "no-store")


decode_router = APIRouter(tags=["decode"])


@decode_router.post(
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


sweep_router = APIRouter(tags=["sweep"])


@sweep_router.post(
    "/sweep",
    summary="Stream how much each part matters",
    response_class=Lines,
    responses=in_lines(SweepLine) | run_problems(),
)
async def sweep(request: Request, services: Opened, body: AnySweepRequest) -> Response:
    """Ablate every head of every attention once, on top of `interventions`.

    Or every sublayer, or every pair of heads. Or patch each head, sublayer or position from the run
    of another sentence. The target is scored each time, row by row; without a target, the model
    writes one first. The work stops when the client disconnects. An error after the first line is
    the last line, `{"error": problem}`.
    """
    return await stream_lines(request, services[Engine].stream(sweep_job(services, body)))


positions_router = APIRouter(tags=["positions"])


@positions_router.get(
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
