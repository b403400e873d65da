"""POST /api/lab."""

from fastapi import APIRouter, Response

from app.answers.lab import lab_reply
from app.dependencies import Opened
from app.http.replies import problems
from app.schemas.lab import LabBody, LabReply

router = APIRouter(tags=["lab"])


@router.post(
    "/lab",
    summary="Attention by hand: matrices of your own, step by step",
    response_class=Response,
    responses={
        200: {"model": LabReply, "description": "Every step by name."},
        **problems(
            _400="The body is not JSON.",
            _413="The body is too large.",
            _415="The body is not sent as JSON.",
            _422="A matrix is none, or does not fit the others; `detail` says which and where.",
            _429="Too much work in a short time; `Retry-After` says when to come back.",
        ),
    },
)
async def lab(services: Opened, body: LabBody) -> Response:
    """No model is asked: what is computed are the parts of one, in float64, on the numbers sent."""
    content = await lab_reply(services, body.request())
    headers = {"Cache-Control": "no-store"}
    return Response(content, headers=headers, media_type="application/json")
