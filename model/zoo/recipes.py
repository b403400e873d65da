"""The table of the zoo's models, read from `zoo.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from model.train.options import TrainingOptions
from model.train.plan import PLAN_OPTIONS
from model.transformer.config import ModelConfig
from model.zoo.registry import TASKS
from model.zoo.tasks import Task

TABLE = Path(__file__).with_name("zoo.toml")


@dataclass(frozen=True)
class Recipe:
    """A model's task, shape and training options. Raises `ValueError` if they do not fit."""

    name: str
    task_name: str
    trained: tuple[int, int]  # shortest and longest training example
    tested: tuple[int, ...]  # lengths of the test examples
    examples: int  # number of training examples
    changed: Mapping[str, Any]  # settings by which it differs from its task's table
    options: TrainingOptions
    shape: Mapping[str, Any]  # arguments of `ModelConfig`, except the vocabulary

    def __post_init__(self) -> None:
        first, last = self.trained
        for length in (*self.trained, *self.tested):
            if not self.task.shortest <= length <= self.task.longest:
                limits = f"{self.task.shortest} to {self.task.longest}"
                raise ValueError(f"{self.name}: lengths must be {limits}, not {length}")
        if first > last:
            raise ValueError(
                f"{self.name}: trained must be [shortest, longest], not {first}, {last}"
            )
        if self.examples < 1:
            raise ValueError(f"{self.name}: examples must be at least 1, not {self.examples}")

    @property
    def task(self) -> Task:
        """The task itself."""
        return TASKS[self.task_name]

    def config(self, vocabulary: int) -> ModelConfig:
        """Return the model's configuration, for a vocabulary of so many tokens."""
        return ModelConfig(vocabulary=vocabulary, **self.shape)


OWN = {"task": str, "trained": list, "tested": list, "examples": int}
PARTS: dict[str, set[str]] = {
    "options": {one.name for one in fields(TrainingOptions)} - {"seed"},
    "shape": {one.name for one in fields(ModelConfig)} - {"vocabulary", "kernel"},
}


def read_recipes(path: Path = TABLE) -> dict[str, Recipe]:
    """Read all models of the table by name, in the order of the file.

    A model's table has its task and the settings that it changes; the others come from the task's
    table and from `[all]`. Raises `ValueError`, which names the model and the value, if invalid.
    """
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    return {name: _recipe(name, line, table) for name, line in table["models"].items()}


def chosen(recipes: Mapping[str, Recipe], names: Sequence[str]) -> list[Recipe]:
    """Return the recipes with these names, or all. Raises `ValueError` for an unknown name."""
    if unknown := sorted(set(names) - recipes.keys()):
        raise ValueError(f"no model {unknown[0]} in the zoo; known: {', '.join(recipes)}")
    return [recipe for name, recipe in recipes.items() if not names or name in names]


def _recipe(name: str, line: Mapping[str, Any], table: Mapping[str, Any]) -> Recipe:
    if (task := line.get("task")) not in TASKS:
        raise ValueError(f"{name}: task must be one of {', '.join(TASKS)}, not {task!r}")
    said = {**table["all"], **table["tasks"].get(task, {}), **line}
    for key, value in said.items():
        kind = OWN.get(key)
        if kind is None and key not in PARTS["options"] | PARTS["shape"]:
            raise ValueError(f"{name}: unknown setting {key}")
        if kind is not None and not isinstance(value, kind):
            raise ValueError(f"{name}: {key} must be of type {kind.__name__}, not {value!r}")
    parts = {
        part: {key: PLAN_OPTIONS[key].read(said[key]) for key in said.keys() & known}
        for part, known in PARTS.items()
    }
    return Recipe(
        name=name,
        task_name=task,
        trained=(said["trained"][0], said["trained"][-1]),
        tested=tuple(said["tested"]),
        examples=said["examples"],
        changed={key: value for key, value in line.items() if key != "task"},
        options=TrainingOptions(**parts["options"]),
        shape=parts["shape"],
    )
