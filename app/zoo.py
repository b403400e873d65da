"""The zoo: small models trained on simple tasks, and how well they do.

GET /api/zoo: tasks, the measurements of the models being served, and examples with answers.

Stores nothing. Uses `figures`.
"""

import json
import re
from collections.abc import Iterable
from functools import cache
from random import Random
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel, Field

from app.engine.model_listing import Listing
from app.figures.figure_kinds import KINDS, FigureKind
from app.figures.links import Link
from app.http.problems import ProblemError
from app.http.replies import problems
from app.http.route_dependencies import Opened, Services
from app.settings import ZOO
from model.bundle.measurements import ZOO as RESULTS
from model.errors import InputError
from model.trace.tensor_tap import SOURCE, TARGET
from model.zoo.registry import TASKS, solve
from model.zoo.tasks import Example, Places, Task


class ZooTaskReply(BaseModel):
    """A task that models of the zoo learn."""

    id: str
    unit: str = Field(description="Unit of its lengths.", examples=["letters"])
    shortest: int = Field(description="The shortest length.")
    longest: int


class SeedReply(BaseModel):
    """One trained model of a recipe."""

    seed: int
    digest: str
    shipped: bool = Field(description="Whether it is the model being served.")
    parameters: int
    steps: int
    curve: list[tuple[int, float, float]] = Field(
        description="Step, training loss and dev loss, in nats per token."
    )
    accuracy: dict[str, float] = Field(
        description="By length: share of held-out examples whose answer is entirely right."
    )
    looks: dict[str, list[float]] = Field(
        description="By attention and head: how often its largest weight is on a token that "
        "determines the answer, at the longest training length."
    )


class ZooModelReply(BaseModel):
    """A model of the zoo, and how well it learned."""

    id: str = Field(description="As in `/api/models`.")
    name: str
    task: str
    changed: dict[str, str | int | float] = Field(
        description="How its recipe differs from the plain recipe of its task."
    )
    trained: tuple[int, int] = Field(description="The shortest and longest training length.")
    seeds: list[SeedReply]


class ZooReply(BaseModel):
    """The tasks, and the models being served."""

    tasks: list[ZooTaskReply]
    models: list[ZooModelReply]


class ZooExampleReply(BaseModel):
    """A text of a task with its right answer, and the tokens that determine each part of it.

    Positions count the tokens of a trace: the source's first is the tag, the target's is `<bos>`.
    """

    task: str
    source: str
    target: str
    held_out: bool = Field(description="Whether no model has it in its training data.")
    looks: dict[str, dict[int, list[int]]] = Field(
        description="For rows of `target` or `source`: the source tokens that determine "
        "each part of the answer."
    )


TAG = 1  # control tokens before the source

USUAL = 6  # default length of an example, if the task allows it

NUMBER = re.compile(r"\d{1,9}")

FIELDS = ("name", "task", "changed", "trained")


def zoo(catalog: Listing) -> ZooReply:
    """Return all tasks, and all models of the zoo being served, in the order of the tasks."""
    models = [_model(catalog, id_) for id_ in catalog if catalog[id_].zoo]
    order = [*TASKS]
    models.sort(key=lambda model: (order.index(model.task), bool(model.changed)))
    tasks = [_task(name, task) for name, task in TASKS.items()]
    return ZooReply(tasks=tasks, models=models)


def drawn(name: str, length: int | None, seed: int) -> ZooExampleReply:
    """Return a held-out example, the same for the same length and seed.

    Raises `InputError` for a length that the task does not allow.
    """
    task = task_of(name)
    if length is None:
        length = max(task.shortest, min(task.longest, USUAL))
    try:
        return _example(name, task.draw(Random(f"{name} {length} {seed}"), length, held_out=True))
    except ValueError as error:
        raise InputError("out-of-range", "length", str(error)) from error


def answered(name: str, source: str) -> ZooExampleReply:
    """Return the right answer for a text. Raises `InputError` if it does not fit the task."""
    task_of(name)
    try:
        return _example(name, solve(name, source))
    except ValueError as error:
        raise InputError("not-of-task", "source", f"source: {error}") from error


def tested(models: Iterable[str]) -> set[int]:
    """Return the lengths at which models, by name, were measured; of an unknown model none."""
    measured = [model for model in models if (ZOO / model / RESULTS).is_file()]
    seeds = [seed for model in measured for seed in _results(model)["seeds"]]
    return {int(length) for seed in seeds for length in seed["accuracy"]}


def task_of(name: str) -> Task:
    """Return a task by its id. Raises a 404 ProblemError if there is none."""
    if name not in TASKS:
        tasks = ", ".join(TASKS)
        raise ProblemError(404, "unknown-task", f"task must be one of: {tasks}", field="task")
    return TASKS[name]


def _task(name: str, task: Task) -> ZooTaskReply:
    return ZooTaskReply(id=name, unit=task.unit, shortest=task.shortest, longest=task.longest)


def _model(catalog: Listing, id_: str) -> ZooModelReply:
    info = catalog[id_]
    assert info.zoo
    results = _results(info.zoo.name)
    seeds = [
        SeedReply(**{**seed, "shipped": seed["digest"] == info.digest}) for seed in results["seeds"]
    ]
    return ZooModelReply(id=id_, seeds=seeds, **{name: results[name] for name in FIELDS})


@cache
def _results(name: str) -> dict[str, Any]:
    """Return the measurements of a model; cached, since they change only with a new version."""
    results: dict[str, Any] = json.loads((ZOO / name / RESULTS).read_text(encoding="utf-8"))
    return results


def _example(task: str, example: Example) -> ZooExampleReply:
    return ZooExampleReply(
        task=task,
        source=example.source_text,
        target=example.target_text,
        held_out=TASKS[task].held_out(example),
        looks={
            TARGET: {row: _keys(places) for row, places in enumerate(example.cross)},
            SOURCE: {row + TAG: _keys(places) for row, places in example.within.items()},
        },
    )


def _keys(places: Places) -> list[int]:
    return sorted(place + TAG for place in places)


def _fitting(services: Services, figure: Link, stated: Link) -> Link | None:
    models, length, seed = (stated.state.get(name, "") for name in ("models", "length", "seed"))
    # Those that are served.
    included = set(models.split(",")) <= set(figure.state["models"].split(","))
    if not included or stated.state.get("task") != figure.state["task"]:
        return None
    if not NUMBER.fullmatch(seed) or not NUMBER.fullmatch(length):
        return None
    return stated if int(length) in tested(models.split(",")) else None


KINDS["zoo"] = FigureKind(_fitting)

router = APIRouter(prefix="/zoo", tags=["zoo"])

TaskName = Annotated[str, Path(alias="task", examples=["reverse"])]


@router.get("", summary="List the tasks of the zoo, and how well its models learned them")
async def zoo_results(services: Opened, response: Response) -> ZooReply:
    """Return right answers by length, learning curves and what heads attend to, for every seed."""
    response.headers["Cache-Control"] = "no-cache"
    return zoo(services[Listing])


@router.get(
    "/{task}/example",
    summary="Draw an example of a task",
    responses=problems(_404="No such task.", _422="The task does not allow this length."),
)
async def zoo_example(
    name: TaskName,
    response: Response,
    length: Annotated[
        int | None, Query(ge=0, le=100, description="In the task's unit; if absent, 6 or less.")
    ] = None,
    seed: Annotated[int, Query(ge=0, le=2**32, description="Each seed gives another example.")] = 0,
) -> ZooExampleReply:
    """Return a text that is in no model's training data, with its right answer."""
    response.headers["Cache-Control"] = "no-cache"
    return drawn(name, length, seed)


@router.get(
    "/{task}/answer",
    summary="Solve a text",
    responses=problems(_404="No such task.", _422="The text does not fit the task."),
)
async def zoo_answer(
    name: TaskName,
    response: Response,
    source: Annotated[str, Query(min_length=1, max_length=500, examples=["a b c d"])],
) -> ZooExampleReply:
    """Return the text as the models read it, its right answer, and the tokens that determine it."""
    response.headers["Cache-Control"] = "no-cache"
    return answered(name, source)
