"""POST /api/runs, and the routes of one run."""

from collections.abc import AsyncIterator
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Header, Path, Query, Request, Response

from app.assets.templates import base_url
from app.engine.model_listing import Listing
from app.http.replies import (
    HEADERS,
    NOT_ACCEPTABLE,
    Lines,
    in_both_forms,
    in_lines,
    media_type,
    problems,
    reply,
    run_problems,
)
from app.http.request_fields import Whole
from app.http.route_dependencies import Opened
from app.runs import service as training
from app.runs.schemas import (
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
from app.runs.training_run import Run
from app.runs.training_runs import Runs
from app.traces.replies import TraceReply

router = APIRouter(prefix="/runs", tags=["runs"])

RunId = Annotated[str, Path(alias="id", description="From the reply to `POST /api/runs`.")]
RunKey = Annotated[str, Header(alias="Run-Key", description="From the reply to `POST /api/runs`.")]
STARTING = {
    "_404": "Training is off, or there is no such run or snapshot.",
    "_429": "Too many runs of one page, or too much work; `Retry-After` says when to retry.",
    "_503": "Too many runs are waiting; `Retry-After` says when to retry.",
}


@router.get("", summary="List what can be trained", responses=problems(_404="Training is off."))
async def read_runs(services: Opened, response: Response) -> RunsReply:
    """Return tasks, defaults and limits, and how many runs train and wait on this server."""
    response.headers["Cache-Control"] = "no-store"
    return training.offered(services)


@router.post("", status_code=201, summary="Train a small model", responses=run_problems(**STARTING))
async def create_run(
    request: Request, response: Response, services: Opened, body: RunOptions
) -> RunCreated:
    """Add a run to the queue; it trains in its own process. Anyone with its id can watch it.

    A run that nobody watches for some time is stopped, and deleted later.
    """
    return _created(request, response, services, *training.create(services, body))


@router.get("/{id}", summary="Read the state of a run", responses=problems(_404="No such run."))
async def read_run(services: Opened, response: Response, run_id: RunId) -> RunReply:
    """Return the run's state, options and place in the queue, and the results of its snapshots."""
    response.headers["Cache-Control"] = "no-store"
    return training.told(services[Runs].find(run_id))


@router.get(
    "/{id}/events",
    summary="Watch a run",
    response_class=Lines,
    responses=in_lines(RunLine)
    | problems(_404="No such run.", _422="`since` is not the number of an event."),
)
async def run_events(
    services: Opened,
    run_id: RunId,
    since: Annotated[Whole, Query(description="Number of the first event to send.")] = 0,
) -> Response:
    """Stream all events from number `since` on, one per line, until the run ends.

    Events are numbered, so that a client that was disconnected can continue with the next one.
    """
    run = services[Runs].find(run_id)
    training.check_since(run, since)
    return Lines(_lines(run, since), headers=HEADERS)


@router.get(
    "/{id}/snapshots/{step}",
    summary="Read the trace of a fixed input at one step",
    response_class=Response,
    responses=in_both_forms(TraceReply)
    | problems(
        _404="No such run, or it has no snapshot of this step.",
        **NOT_ACCEPTABLE,
        _422="No such probe.",
    ),
)
async def run_snapshot(
    request: Request,
    services: Opened,
    run_id: RunId,
    step: Annotated[Whole, Path(description="One of `snapshots`.")],
    probe: Annotated[Whole, Query(description="The input's index in `probes`, from 0.")] = 0,
) -> Response:
    """Return the trace of the right answer: attention over the same tokens at every step."""
    form = media_type(request)
    content = await training.snapshot(services, run_id, step, probe, form)
    return reply(content, form, "private, max-age=3600")


@router.patch(
    "/{id}",
    summary="Pause, resume or stop a run, or change its learning rate",
    responses=run_problems(
        _403="The key does not match.", _404="No such run.", _409="The run has ended."
    ),
)
async def change_run(services: Opened, run_id: RunId, run_key: RunKey, body: RunPatch) -> RunReply:
    """Change the fields that are present, given the key that the run's author got."""
    return training.told(training.control(services, run_id, run_key, body))


@router.post(
    "/{id}/fork",
    status_code=201,
    summary="Continue from a snapshot with other options",
    responses=run_problems(**STARTING),
)
async def fork_run(
    request: Request, response: Response, services: Opened, run_id: RunId, body: ForkRequest
) -> RunCreated:
    """Start another run from the snapshot, with its weights, moments and random state.

    Options that change the model's parameters are rejected. With the same options, the run
    continues exactly as the first did. Anyone with a run's id may fork it.
    """
    return _created(request, response, services, *training.fork(services, run_id, body))


@router.post(
    "/{id}/keep",
    status_code=201,
    summary="Keep a snapshot as a model",
    responses=run_problems(
        _403="The key does not match.",
        _404="No such run, or it has no snapshot of this step.",
        _507="As many models are kept as the server allows.",
    ),
)
async def keep_run(
    request: Request,
    services: Opened,
    run_id: RunId,
    run_key: RunKey,
    body: KeepRequest,
) -> KeptReply:
    """Save the snapshot's weights as a bundle in the data folder, and serve it as a model.

    The model stays after the run is deleted. Needs the key that the run's author got.
    """
    model_id, key, source = await training.keep(services, run_id, run_key, body)
    query = urlencode({"model": model_id, "source": source})
    name = services[Listing].describe(model_id).name
    return KeptReply(id=model_id, name=name, key=key, url=f"{base_url(request, services)}/?{query}")


def _created(
    request: Request, response: Response, services: Opened, run: Run, key: str
) -> RunCreated:
    response.headers["Location"] = request.app.url_path_for("read_run", id=run.id)
    path = request.app.url_path_for("train_page")
    return RunCreated(id=run.id, url=f"{base_url(request, services)}{path}?run={run.id}", key=key)


async def _lines(run: Run, since: int) -> AsyncIterator[bytes]:
    async for line in run.events(since):
        yield line
