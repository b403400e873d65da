"""POST /api/runs, and everything about one run."""

from collections.abc import AsyncIterator
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Header, Path, Query, Request, Response

from app.answers import runs as training
from app.answers.pages import base_url
from app.answers.streaming import HEADERS, Lines, in_lines
from app.dependencies import Opened
from app.http.replies import in_both_forms, media_type, problems, reply, run_problems
from app.runs.run import Run
from app.schemas.replies import TraceReply
from app.schemas.runs import (
    ForkRequest,
    KeepRequest,
    KeptReply,
    RunCreated,
    RunLine,
    RunOptions,
    RunPatch,
    RunReply,
    RunsReply,
)

router = APIRouter(prefix="/runs", tags=["runs"])

RunId = Annotated[str, Path(alias="id", description="As the reply to `POST /api/runs` told it.")]
RunKey = Annotated[
    str, Header(alias="Run-Key", description="As the reply to `POST /api/runs` told it.")
]
STARTING = {
    "_404": "The server trains no models, or there is no such run or snapshot.",
    "_429": "Too many runs of one page, or too much work; `Retry-After` says when to come back.",
    "_503": "Too many runs wait already; `Retry-After` says when to come back.",
}


@router.get(
    "", summary="What can be trained", responses=problems(_404="The server trains no models.")
)
async def read_runs(services: Opened, response: Response) -> RunsReply:
    """Tasks, defaults and limits, and how many runs train and wait on this server."""
    response.headers["Cache-Control"] = "no-store"
    return training.offered(services)


@router.post("", status_code=201, summary="Train a small model", responses=run_problems(**STARTING))
async def create_run(
    request: Request, response: Response, services: Opened, body: RunOptions
) -> RunCreated:
    """The run waits for a place and trains in a process of its own; whoever has its id watches.

    A run that nobody watches for some time is stopped, and deleted later.
    """
    return _created(request, response, services, *training.create(services, body))


@router.get("/{id}", summary="A run as it is now", responses=problems(_404="No such run."))
async def read_run(services: Opened, response: Response, run_id: RunId) -> RunReply:
    """Its state, its options, its place in the queue, and what was measured at its snapshots."""
    response.headers["Cache-Control"] = "no-store"
    return training.told(services.runs.find(run_id))


@router.get(
    "/{id}/events",
    summary="Watch a run",
    response_class=Lines,
    responses=in_lines(RunLine)
    | problems(_404="No such run.", _422="`since` is no event's number."),
)
async def run_events(
    services: Opened,
    run_id: RunId,
    since: Annotated[int, Query(description="The number of the first event to tell.")] = 0,
) -> Response:
    """What happened from an event on, and then what happens, a line each, until the run ends.

    Events are numbered: whoever was cut off asks for those from the next number on.
    """
    run = services.runs.find(run_id)
    training.check_since(run, since)
    return Lines(_lines(run, since), headers=HEADERS)


@router.get(
    "/{id}/snapshots/{step}",
    summary="A fixed input at one step",
    response_class=Response,
    responses=in_both_forms(TraceReply)
    | problems(
        _404="No such run, or it has no snapshot of this step.",
        _406="No form of the reply is acceptable.",
        _422="No such probe.",
    ),
)
async def run_snapshot(
    request: Request,
    services: Opened,
    run_id: RunId,
    step: Annotated[int, Path(description="One of `snapshots`.")],
    probe: Annotated[int, Query(description="Its place in `probes`, from 0.")] = 0,
) -> Response:
    """A trace of the right answer: attention of all heads, over the same tokens at every step."""
    form = media_type(request)
    content = await training.snapshot(services, run_id, step, probe, form)
    return reply(content, form, "private, max-age=3600")


@router.patch(
    "/{id}",
    summary="Pause, resume, stop, change the learning rate",
    responses=run_problems(
        _403="Not the key of this run.", _404="No such run.", _409="The run has ended."
    ),
)
async def change_run(services: Opened, run_id: RunId, run_key: RunKey, body: RunPatch) -> RunReply:
    """What is absent stays as it is. For whoever started the run."""
    return training.told(training.control(services, run_id, run_key, body))


@router.post(
    "/{id}/fork",
    status_code=201,
    summary="Go on from a snapshot, with other options",
    responses=run_problems(**STARTING),
)
async def fork_run(
    request: Request, response: Response, services: Opened, run_id: RunId, body: ForkRequest
) -> RunCreated:
    """Another run begins at the snapshot, with its weights, moments and random numbers.

    Options that change the model's parameters do not fit; with the same options it goes on as the
    first did. Anyone who watches a run may fork it.
    """
    return _created(request, response, services, *training.fork(services, run_id, body))


@router.post(
    "/{id}/keep",
    status_code=201,
    summary="Keep a snapshot as a model",
    responses=run_problems(
        _403="Not the key of this run.",
        _404="No such run, or it has no snapshot of this step.",
        _507="There is no room for another model.",
    ),
)
async def keep_run(
    request: Request,
    response: Response,
    services: Opened,
    run_id: RunId,
    run_key: RunKey,
    body: KeepRequest,
) -> KeptReply:
    """The snapshot's weights become a bundle in the data folder and a model of this server.

    It is served like any other, also after the run is gone. For whoever started the run.
    """
    model_id, key, source = await training.keep(services, run_id, run_key, body)
    response.headers["Cache-Control"] = "no-store"
    query = urlencode({"model": model_id, "source": source})
    name = services.catalog.describe(model_id).name
    return KeptReply(id=model_id, name=name, key=key, url=f"{base_url(request, services)}/?{query}")


def _created(
    request: Request, response: Response, services: Opened, run: Run, key: str
) -> RunCreated:
    response.headers["Location"] = request.app.url_path_for("read_run", id=run.id)
    response.headers["Cache-Control"] = "no-store"
    path = request.app.url_path_for("train_page")
    return RunCreated(id=run.id, url=f"{base_url(request, services)}{path}?run={run.id}", key=key)


async def _lines(run: Run, since: int) -> AsyncIterator[bytes]:
    async for line in run.events(since):
        yield line
