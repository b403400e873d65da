"""GET /api/models and what is inside one."""

from typing import Annotated

from anyio import to_thread
from fastapi import APIRouter, Path, Query, Request, Response

from app.problems import ProblemError
from app.replies import in_both_forms, media_type, problems, reply
from app.runs import encoder, parameters
from app.schemas import ModelReply, ParametersReply
from app.services import Opened

router = APIRouter(prefix="/models", tags=["models"])

Select = Annotated[
    str,
    Query(max_length=2_000, description="Names or patterns, parted by commas."),
]


@router.get("", summary="The models that are served")
async def models(services: Opened) -> list[ModelReply]:
    """The first is the default."""
    return [ModelReply.model_validate(services.catalog.describe(name)) for name in services.catalog]


@router.get(
    "/{id}/parameters",
    summary="Matrices of a model",
    response_class=Response,
    responses=in_both_forms(ParametersReply)
    | problems(_404="No such model.", _406="Neither form is acceptable.", _422="Bad selection."),
)
async def model_parameters(
    request: Request,
    services: Opened,
    name: Annotated[str, Path(alias="id", examples=["en-zh"])],
    select: Select = "encoder.0.self.W_*",
) -> Response:
    """Weights as they are used, `x @ W + b`: `encoder.0.self.W_q` is [d_model, d_model]."""
    form = media_type(request)
    if name not in services.catalog:
        raise ProblemError(404, "unknown-model", "this model is not served here", field="id")
    encode = encoder(services, form)
    content = await to_thread.run_sync(parameters, services, name, select.split(","), encode)
    return reply(content, form, "no-cache")
