"""POST /api/sweep."""

from fastapi import APIRouter, Request, Response

from app.answers.sweeps import sweep_job
from app.engine.engine import Engine
from app.http.replies import run_problems
from app.http.services import Opened
from app.http.streaming import Lines, in_lines, stream_lines
from app.traces.sweeps import AnySweepRequest, SweepLine

router = APIRouter(tags=["sweep"])


@router.post(
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
