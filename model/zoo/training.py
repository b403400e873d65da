"""The table of the zoo's models, read from `zoo.toml`, and their training on generated examples."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Generator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from random import Random
from shutil import copytree, rmtree
from typing import Any

import torch

from model.bundle.weights import CHECKPOINTS, TRAINING, save_bundle
from model.train.data import Corpus, TrainingExample
from model.train.events import Event, Finished, Started
from model.train.plan import PLAN_OPTIONS, TrainingOptions
from model.train.run import BUNDLE, Trainer
from model.train.run_state import Chance
from model.transformer.config import ModelConfig
from model.transformer.stacks import Transformer
from model.zoo.registry import DIRECTION, LANGUAGES, TASKS, tokenizer_of
from model.zoo.tasks import Example, Task

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
    settings = {**table["all"], **table["tasks"].get(task, {}), **line}
    for key, value in settings.items():
        kind = OWN.get(key)
        if kind is None and key not in PARTS["options"] | PARTS["shape"]:
            raise ValueError(f"{name}: unknown setting {key}")
        if kind is not None and not isinstance(value, kind):
            raise ValueError(f"{name}: {key} must be of type {kind.__name__}, not {value!r}")
    parts = {
        part: {key: PLAN_OPTIONS[key].read(settings[key]) for key in settings.keys() & names}
        for part, names in PARTS.items()
    }
    return Recipe(
        name=name,
        task_name=task,
        trained=(settings["trained"][0], settings["trained"][-1]),
        tested=tuple(settings["tested"]),
        examples=settings["examples"],
        changed={key: value for key, value in line.items() if key != "task"},
        options=TrainingOptions(**parts["options"]),
        shape=parts["shape"],
    )


SHIPPED = CHECKPOINTS / "zoo"
DEV = 300  # held-out examples


def draw(recipe: Recipe, random: Random, count: int, held_out: bool) -> list[Example]:
    """Draw examples of the recipe's training lengths; all lengths are equally likely."""
    first, last = recipe.trained
    return [recipe.task.draw(random, random.randint(first, last), held_out) for _ in range(count)]


def train_recipe(recipe: Recipe, seed: int, folder: Path) -> Generator[Event, None, None]:
    """Train one model in a folder, or continue training there, and write its bundle.

    Recipe and seed determine the weights, bit for bit on one thread of the same kind of processor.
    """
    random = Random(f"{recipe.task_name} {seed}")
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer, device = tokenizer_of(recipe.task), torch.device("cpu")
    config = recipe.config(len(tokenizer))
    corpus, dev = (
        Corpus(
            [
                TrainingExample(example.source_text, example.target_text, LANGUAGES[1])
                for example in draw(recipe, random, count, held_out)
            ],
            tokenizer,
            config.max_tokens,
            device,
        )
        for count, held_out in ((recipe.examples, False), (DEV, True))
    )
    chance = Chance(seed, device)
    with chance:
        model = Transformer(config)
    trainer = Trainer(folder, model, corpus, dev, replace(recipe.options, seed=seed), chance)
    yield Started(
        sum(p.numel() for p in model.parameters()),
        len(corpus),
        str(device),
        torch.get_num_threads(),
        trainer.progress.step,
        trainer.progress.epoch,
    )
    yield from trainer.events()
    save_bundle(folder / BUNDLE, trainer.average(), config, tokenizer, f"Zoo: {recipe.name}")
    record = {**asdict(trainer.progress), "epochs": trainer.epochs, "seed": seed}
    record["directions"] = [DIRECTION]
    (folder / BUNDLE / TRAINING).write_text(json.dumps(record, indent=1) + "\n")
    yield Finished(str(folder / BUNDLE), trainer.progress.step)


def ship(bundle: Path, name: str, zoo: Path = SHIPPED) -> Path:
    """Copy a bundle to where `load("zoo/<name>")` finds it; return the folder."""
    folder = zoo / name
    rmtree(folder, ignore_errors=True)
    copytree(bundle, folder)
    return folder
