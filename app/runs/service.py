"""Replies about training runs: validate, start, control and show them."""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from typing import Any

from pydantic import ValidationError

from app.engine.engine import Engine
from app.engine.fair_queue import asking
from app.engine.reply_formats import Reply
from app.figures.figure_kinds import KINDS, FigureKind, HandoutContent
from app.figures.heatmap import Heatmap
from app.figures.links import Link
from app.figures.sentence_figures import NUMBERS, heatmap_of, over
from app.http.problems import ProblemError
from app.http.request_fields import excess, rule
from app.http.route_dependencies import Services
from app.runs.kept_models import KeptModels, write_model
from app.runs.schemas import ForkRequest, KeepRequest, RunOptions, RunPatch, RunReply, RunsReply
from app.runs.training_run import Run
from app.runs.training_runs import Runs
from app.settings import Settings
from model.errors import InputError
from model.live_training.options_and_events import LiveOptions, tasks_offered, trace_path
from model.request_limits import intervals

STEP = re.compile(r"\d{1,9}")
KEEP = 10_000.0  # cost of keeping a model, in units of work: opening it takes half a second
START = 100_000.0  # cost of starting a run: seconds of imports, and of drawing examples


def offered(services: Services) -> RunsReply:
    """Return what can be trained. Raises a 404 ProblemError if training is off."""
    services[Runs].check_on()
    limits = {
        name: {"low": interval.ge, "high": interval.le}
        for name, interval in intervals(LiveOptions).items()
    }
    limits["steps"]["high"] = services[Settings].max_run_steps
    return RunsReply.model_validate(
        {
            "training": services[Runs].training,
            "waiting": services[Runs].waiting,
            "minutes": services[Settings].max_run_minutes,
            "defaults": asdict(LiveOptions()),
            "tasks": {name: asdict(task) for name, task in tasks_offered().items()},
            "ranges": limits,
        }
    )


def create(services: Services, body: RunOptions) -> tuple[Run, str]:
    """Start a run; return it and its key. Raises InputError, SpentError, and as `Runs.start`."""
    services[Runs].check_on()
    options = body.options()
    options.check()
    _check_limits(services, options)
    services[Engine].charge(START)
    return services[Runs].start(options, asking.get())


def fork(services: Services, run_id: str, body: ForkRequest) -> tuple[Run, str]:
    """Start a run from another run's snapshot. Raises what `create` and `snapshot_of` raise."""
    parent = services[Runs].find(run_id)
    snapshot_of(parent, body.step, "step")
    options = _changed(parent.options, body.options)
    options.check_fork(parent.options, body.step)
    _check_limits(services, options)
    services[Engine].charge(START)
    return services[Runs].start(options, asking.get(), (parent, body.step))


def control(services: Services, run_id: str, key: str, body: RunPatch) -> Run:
    """Pause, resume or stop a run, or change its learning rate, given its key.

    Raises a 409 ProblemError if the run has ended, and what `Runs.controlled` raises.
    """
    run = services[Runs].controlled(run_id, key)
    if run.over:
        raise ProblemError(409, "run-ended", "the run has ended; fork it to continue a snapshot")
    if body.learning_rate is not None:
        services[Runs].set_rate(run, body.learning_rate)
    if body.paused is not None and body.paused != (run.state == "paused"):
        (services[Runs].pause if body.paused else services[Runs].resume)(run)
    if body.stop:
        services[Runs].stop(run)
    return run


async def keep(
    services: Services, run_id: str, key: str, body: KeepRequest
) -> tuple[str, str, str]:
    """Turn a snapshot into a served model; return its id, its key, and an example input.

    Raises a 404 ProblemError if there is no such snapshot, a 507 one if too many models are kept,
    and what `Runs.controlled` raises.
    """
    run = services[Runs].controlled(run_id, key)
    if services[Settings].ray_address:
        raise ProblemError(404, "training-off", "models cannot be added to a cluster")
    last = max(run.snapshots, default=0)
    step = last if body.step is None else body.step
    snapshot_of(run, step)
    services[Engine].charge(KEEP)
    model_id, model_key = await services[KeptModels].add(
        partial(write_model, run, step), asking.get().address
    )
    assert run.begun
    return model_id, model_key, str(run.begun["probes"][0]["source"])


def told(run: Run) -> RunReply:
    """Return the current state of a run."""
    begun = run.begun or {"model": None, "probes": []}
    return RunReply.model_validate(
        {
            "id": run.id,
            "state": run.state,
            "why": run.why,
            "place": run.place,
            "step": run.step,
            "options": asdict(run.options),
            "learning_rate": run.learning_rate,
            "parent": run.parent and {"id": run.parent[0], "step": run.parent[1]},
            "events": run.told,
            "model": begun["model"],
            "probes": begun["probes"],
            "snapshots": list(run.snapshots.values()),
        }
    )


async def snapshot(services: Services, run_id: str, step: int, probe: int, form: str) -> bytes:
    """Return the trace of a fixed input at a step, in a format.

    Raises a 404 ProblemError for an unknown run or step, InputError for an unknown probe.
    """
    run = services[Runs].find(run_id)
    count = len(snapshot_of(run, step)["written"])
    if not 0 <= probe < count:
        raise InputError("out-of-range", "probe", f"probe must be from 0 to {count - 1}")
    return (await _trace(services, run, step, probe)).write(form)


async def nearest(
    services: Services, run_id: str, step: int | None
) -> tuple[Mapping[str, Any], Mapping[str, Any], Reply]:
    """Return the model of a run, its first fixed input, and its trace near a step (None: the last).

    Raises a 404 ProblemError for an unknown run, or one without a snapshot.
    """
    run = services[Runs].find(run_id)
    if run.begun is None or not run.snapshots:
        raise ProblemError(404, "no-snapshot", "the run has no snapshot yet")
    near = max(run.snapshots) if step is None else min(run.snapshots, key=lambda n: abs(n - step))
    return run.begun["model"], run.begun["probes"][0], await _trace(services, run, near, 0)


async def _trace(services: Services, run: Run, step: int, probe: int) -> Reply:
    content = await asyncio.to_thread(trace_path(run.folder, step, probe).read_bytes)
    reply = Reply.parse(content)
    reply.check(services[Settings].max_values)
    return reply


def snapshot_of(run: Run, step: int, field: str = "step") -> Mapping[str, Any]:
    """Return the snapshot event of a step. Raises a 404 ProblemError if there is none."""
    if step not in run.snapshots:
        detail = "the run has no snapshot of this step; GET /api/runs/{id} lists its snapshots"
        raise ProblemError(404, "no-snapshot", detail, field=field)
    return run.snapshots[step]


def check_since(run: Run, since: int) -> None:
    """Raise InputError if `since` is more than the number of the next event."""
    if not 0 <= since <= run.told:
        raise InputError("out-of-range", "since", f"since must be from 0 to {run.told}")


def _changed(options: LiveOptions, changes: Mapping[str, Any]) -> LiveOptions:
    """Return the options with changes. Raises InputError as for the body of a request."""
    try:
        return RunOptions.model_validate({**asdict(options), **changes}).options()
    except ValidationError as invalid:
        error = invalid.errors()[0]
        kind, words = rule(error["type"], error.get("ctx", {}))
        path = [] if error["type"] == "extra_forbidden" else error["loc"]
        field = ".".join(["options", *map(str, path)])
        beyond = excess(error["type"], error.get("ctx", {}))
        raise InputError(kind, field, f"{field} {words}", beyond) from None


def _check_limits(services: Services, options: LiveOptions) -> None:
    max_steps = services[Settings].max_run_steps
    if options.steps > max_steps:
        raise InputError("out-of-range", "steps", f"steps must be at most {max_steps}")


async def _content(services: Services, link: Link) -> HandoutContent:
    """Return what a link to a training run shows. Raises what `nearest` does."""
    state_of_link = link.state
    text = state_of_link.get("step", "")
    step = int(text) if STEP.fullmatch(text) else None
    model, probe, trace = await nearest(services, state_of_link["run"], step)
    state: dict[str, Any] = {"source": probe["source"]}
    state |= {name: state_of_link[name] for name in ("view", "block") if name in state_of_link}
    numbers = {name: state_of_link.get(name, "") for name in NUMBERS}
    state |= {
        name: int(value) for name, value in numbers.items() if value.isdecimal() and len(value) <= 4
    }
    return HandoutContent(trace, {"state": state, "model": model, "created": ""})


async def _weights(services: Services, link: Link) -> Heatmap:
    content = await _content(services, link)
    return heatmap_of(content.about["state"], content.about["model"], content.trace)


def _has_picture(services: Services, link: Link) -> bool:
    return "run" not in link.state or bool(services[Runs].find(link.state["run"]).snapshots)


def _fitting(services: Services, figure: Link, stated: Link) -> Link | None:
    if "run" not in stated.state:
        return None
    services[Runs].find(stated.state["run"])
    return over(figure, stated.state)


KINDS["train"] = FigureKind(
    _fitting, _weights, lambda services, link: None, _has_picture, content=_content
)
