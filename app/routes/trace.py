"""POST /api/trace."""

from fastapi import APIRouter, Request, Response

from app.engine.jobs import Encoding
from app.http.replies import NOT_ACCEPTABLE, in_both_forms, media_type, reply, run_problems
from app.http.services import Opened
from app.http.streaming import while_present
from app.settings import Settings
from app.traces.replies import TraceReply
from app.traces.schemas import AnyTraceRequest
from app.traces.service import run_trace

router = APIRouter(tags=["trace"])


@router.post(
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
