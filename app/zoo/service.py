"""The zoo: its tasks, and the measurements of the models being served."""

import json
import re
from collections.abc import Iterable
from functools import cache
from random import Random
from typing import Any

from app.engine.model_listing import Listing
from app.figures.figure_kinds import KINDS, FigureKind
from app.figures.links import Link
from app.http.problems import ProblemError
from app.http.route_dependencies import Services
from app.settings import ZOO
from app.zoo.schemas import SeedReply, ZooExampleReply, ZooModelReply, ZooReply, ZooTaskReply
from model.bundle.measurements import ZOO as RESULTS
from model.errors import InputError
from model.trace.tensor_tap import SOURCE, TARGET
from model.zoo.registry import TASKS, solve
from model.zoo.tasks import Example, Places, Task

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
