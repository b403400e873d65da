"""POST /api/lab and GET /api/lab/scaling."""

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Response

from app.http.replies import JSON_BODY, problems
from app.http.route_dependencies import Opened
from app.http.tasks_and_caches import LARGE, ByteCache, off_loop
from app.lab.service import LabBody, LabReply, ScalingsReply, lab_reply, scaling_reply

router = APIRouter(tags=["lab"])


@router.post(
    "/lab",
    summary="Compute attention step by step on your own matrices",
    response_class=Response,
    responses={
        200: {"model": LabReply, "description": "Every step by name."},
        **problems(
            **JSON_BODY,
            _422="A matrix is invalid, or does not match another; `detail` says which and where.",
            _429="Too much work in a short time; `Retry-After` says when to retry.",
        ),
    },
)
async def lab(services: Opened, body: LabBody) -> Response:
    """Compute with the parts of a model, in float64, on the given numbers, without any model."""
    content = await lab_reply(services, body.request())
    return Response(content, media_type="application/json")


@router.get(
    "/lab/scaling",
    summary="Show why scores are divided by √d_k",
    response_class=Response,
    responses={
        200: {"model": ScalingsReply, "description": "Scores, weights and gradients by d_k."},
        **problems(_422="A parameter is not valid."),
    },
)
async def lab_scaling(
    services: Opened,
    keys: Annotated[int, Query(ge=2, le=32, description="Keys of each query.")] = 6,
    seed: Annotated[int, Query(ge=0, le=9999, description="Seed of the random vectors.")] = 0,
) -> Response:
    """Score random queries and keys of unit variance, for d_k from 1 to 512, in both ways."""
    make = partial(off_loop, scaling_reply, keys, seed, size=LARGE)
    content = await services[ByteCache].find(("scaling", keys, seed), make)
    return Response(content, headers={"Cache-Control": "no-cache"}, media_type="application/json")
