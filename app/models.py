"""The models that are served: their list, cards, parameters and training histories.

Stores nothing. Uses `traces`, `heads` and `runs`.
"""

from typing import Annotated

from fastapi import APIRouter, Header, Path, Query, Request, Response
from pydantic import BaseModel, Field

from app.engine.engine import Engine
from app.engine.jobs import Encoding
from app.engine.model_listing import Listing, OverviewJob
from app.heads.service import in_general
from app.http.problems import ProblemError
from app.http.replies import ENGINE, NOT_ACCEPTABLE, in_both_forms, media_type, problems, reply
from app.http.request_fields import Count, Name, Strict, Whole
from app.http.route_dependencies import Opened
from app.runs.kept_models import KeptModels
from app.settings import Settings
from app.traces.replies import (
    ListedModelReply,
    ParametersReply,
    TensorReply,
    TokenReply,
    TokensReply,
)
from app.traces.service import example, parameters
from model.errors import InputError


class SnapshotReply(BaseModel):
    """The model at one step of its training, measured on the same dev pairs at every step."""

    step: int
    loss: float | None = Field(
        description="Dev loss, in nats per token; null if training diverged."
    )
    bleu: dict[str, float] = Field(
        description="By direction, with greedy decoding; empty for a task of the zoo."
    )
    accuracy: float | None = Field(
        default=None, description="For a task of the zoo: share of held-out answers that are right."
    )


class WatchedReply(BaseModel):
    """A sentence recorded during training."""

    source: str
    direction: str
    text: str = Field(description="The trained model's translation.")


class LearningReply(BaseModel):
    """The saved steps of a training run, and the recorded sentences."""

    model: str
    digest: str = Field(description="Digest of the trained model.")
    snapshots: list[SnapshotReply]
    examples: list[WatchedReply]


class WrittenReply(BaseModel):
    """The trained model's translation, which every snapshot reads."""

    text: str
    tokens: list[TokenReply]


class ExampleReply(LearningReply):
    """One of the sentences, with the attention of every snapshot over the same tokens."""

    example: int
    direction: str
    tokens: TokensReply
    output: WrittenReply
    texts: list[str] = Field(description="Each snapshot's own translation.")
    tensors: dict[str, TensorReply] = Field(
        description="`{step}.{place}.weights`, uint8 (value · 255), and `{place}.mask`."
    )


class ExampleRequest(Strict):
    """An example, as in `GET /api/models/{id}/learning/{example}`."""

    model: Name | None = Field(default=None, description="A model's id; absent: the first model.")
    example: Count


router = APIRouter(prefix="/models", tags=["models"])

Id = Annotated[str, Path(alias="id", examples=["en-zh"])]

Select = Annotated[
    str | None,
    Query(
        max_length=2_000,
        description="Names or patterns, separated by commas; absent: those of the first attention.",
        examples=["encoder.0.self.W_*"],
    ),
]


@router.get("", summary="List the models")
async def models(services: Opened) -> list[ListedModelReply]:
    """Return all served models, the default first. Models are loaded when they are first used."""
    listed = []
    for name in services[Listing]:
        reply = ListedModelReply.model_validate(services[Listing].describe(name))
        listed.append(reply.model_copy(update={"in_general": in_general(services, name)}))
    return listed


@router.get(
    "/{id}/parameters",
    summary="Read the parameters of a model",
    response_class=Response,
    responses=in_both_forms(ParametersReply)
    | problems(
        _404="No such model.",
        **NOT_ACCEPTABLE,
        _422="Bad selection.",
        **ENGINE,
    ),
)
async def model_parameters(
    request: Request,
    services: Opened,
    name: Id,
    select: Select = None,
) -> Response:
    """Return matrices as used in `x @ W + b`: `encoder.0.self.W_q` is [d_model, d_model]."""
    form = media_type(request)
    _served(services[Listing], name)
    encoding = Encoding(form, services[Settings].max_values)
    if select is None:
        select = f"{services[Listing].describe(name).places[0]}.W_*"
    encoded = await parameters(services, name, select.split(","), encoding)
    return reply(encoded.content, form, "no-cache")


@router.get(
    "/{id}/learning",
    summary="Read how a model learned",
    responses=problems(
        _404="No such model, or it has no snapshots of its training.",
        _422="The request takes too much work.",
        **ENGINE,
    ),
)
async def model_learning(services: Opened, response: Response, name: Id) -> LearningReply:
    """Return the saved steps of the training run, and the recorded sentences."""
    _learned(services[Listing], name)
    response.headers["Cache-Control"] = "no-cache"
    overview = await services[Engine].run(OverviewJob(name))
    return LearningReply.model_validate_json(overview.content)


@router.get(
    "/{id}/learning/{example}",
    summary="Read the attention during training",
    response_class=Response,
    responses=in_both_forms(ExampleReply)
    | problems(
        _404="No such model, or it has no snapshots of its training.",
        **NOT_ACCEPTABLE,
        _422="No such example.",
        **ENGINE,
    ),
)
async def model_learning_example(
    request: Request,
    services: Opened,
    name: Id,
    number: Annotated[
        Whole, Path(alias="example", description="The sentence's index in `examples`, from 0.")
    ],
) -> Response:
    """Return all heads' attention for one sentence at every saved step, over the same tokens.

    Every snapshot reads the trained model's translation; `texts` has each snapshot's own.
    """
    form = media_type(request)
    _learned(services[Listing], name)
    encoding = Encoding(form, services[Settings].max_values)
    encoded = await example(services, name, number, encoding)
    return reply(encoded.content, form, "no-cache")


@router.delete(
    "/{id}",
    status_code=204,
    summary="Delete a model kept from a training run",
    response_class=Response,
    responses=problems(
        _403="The key does not match, or the model was not kept from a training run.",
        _404="No such model.",
        _422="The header `Model-Key` is missing.",
    ),
)
async def delete_model(
    services: Opened,
    name: Id,
    model_key: Annotated[
        str,
        Header(alias="Model-Key", description="From the reply to `POST /api/runs/{id}/keep`."),
    ],
) -> Response:
    """Delete the model, given the key that its author got. Shares of the model still open."""
    await services[KeptModels].delete(name, model_key)
    return Response(status_code=204)


def _served(catalog: Listing, name: str) -> None:
    if name not in catalog:
        raise ProblemError(404, "unknown-model", f"id: {catalog.absent(name)}", field="id")


def _learned(catalog: Listing, name: str) -> None:
    _served(catalog, name)
    try:
        catalog.describe(name).require("learning", "id")
    except InputError as error:
        raise ProblemError(404, error.kind, error.detail, field=error.field) from error
