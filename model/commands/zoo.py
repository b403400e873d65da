"""Commands of the zoo: small models of simple tasks, whose attention is easy to read."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from model.bundle.measurements import ZOO
from model.bundle.weights import TRAINING, digest_of
from model.commands import arguments
from model.commands.arguments import Command
from model.commands.models import line_of
from model.train.events import Finished, Look, Started
from model.train.run import BUNDLE
from model.train.workers import spread
from model.zoo.documentation_page import PAGE, page, read_results
from model.zoo.measuring import measure_seed, merged
from model.zoo.training import SHIPPED, Recipe, chosen, read_recipes, ship, train_recipe

RUNS = Path("runs/zoo")
SEEDS = (1, 2, 3)


class Train(Command):
    """Train the small models of the zoo: all, or those with the given names.

        python -m model zoo train reverse sort

    `model/zoo/zoo.toml` defines the task and the options of each model. Every seed trains in its
    own folder, `runs/zoo/reverse/1`, and continues there after an interruption. The bundle of the
    first seed is copied to where `load("zoo/reverse")` finds it.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        names(parser)
        parser.add_argument("--seeds", type=int, nargs="+", default=[*SEEDS], help="(1 2 3)")
        parser.add_argument("--zoo", type=Path, default=SHIPPED, help="where bundles are shipped")
        arguments.jobs(parser)

    def run(self, args: argparse.Namespace) -> None:
        try:
            recipes = chosen(read_recipes(), args.names)
        except ValueError as error:
            sys.exit(str(error))
        first = args.seeds[0]
        tasks = [
            (recipe, seed, args.runs / recipe.name / str(seed))
            for seed in args.seeds
            for recipe in recipes
        ]
        for (recipe, seed, _), bundle in zip(tasks, spread(train, tasks, args.jobs), strict=True):
            if seed == first:
                ship(bundle, recipe.name, args.zoo)


def names(parser: argparse.ArgumentParser) -> None:
    """Add the names of the models, and the folder of their runs."""
    parser.add_argument("names", nargs="*", metavar="NAME", help="models of the table (all)")
    parser.add_argument("--runs", type=Path, default=RUNS, help=f"folder of the runs ({RUNS})")


def train(recipe: Recipe, seed: int, folder: Path) -> Path:
    """Train one model and print its progress; return the bundle's folder."""
    bundle = folder
    for event in train_recipe(recipe, seed, folder):
        if isinstance(event, Started | Look | Finished):
            print(f"{recipe.name} {seed}: {line_of(event)}", file=sys.stderr, flush=True)
        if isinstance(event, Finished):
            bundle = Path(event.bundle)
    return bundle


class Measure(Command):
    """Measure the models of the zoo and write `docs/zoo.md`.

        python -m model zoo measure reverse sort

    Without a name, all models are measured. The results of every seed are written next to the
    shipped bundle as `zoo.json`: right answers by length, also beyond the training lengths, the
    attention of each head, and the learning curve. Complete results of the same weights are kept.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        names(parser)
        parser.add_argument("--zoo", type=Path, default=SHIPPED, help="where the bundles are")
        parser.add_argument("--page", type=Path, default=PAGE, help="the page to write")
        arguments.jobs(parser)

    def run(self, args: argparse.Namespace) -> None:
        recipes = read_recipes()
        shipped = [
            recipe for recipe in chosen(recipes, args.names) if (args.zoo / recipe.name).is_dir()
        ]
        tasks = [(recipe, args.zoo / recipe.name, args.runs / recipe.name) for recipe in shipped]
        for _ in spread(measure, tasks, args.jobs):
            pass
        args.page.write_text(page(recipes, read_results(recipes, args.zoo)), encoding="utf-8")


def measure(recipe: Recipe, shipped: Path, runs: Path) -> None:
    """Write the results of one model, for all seeds in the folder of its runs."""
    path = shipped / ZOO
    old: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    measured = {
        seed["digest"] for seed in old.get("seeds", []) if not recipe.task.twins or "cut" in seed
    }
    bundles = {digest_of(bundle): bundle for bundle in (*sorted(runs.glob(f"*/{BUNDLE}")), shipped)}
    new = [
        measure_seed(recipe, seed_of(bundle), bundle)
        for digest, bundle in bundles.items()
        if digest not in measured
    ]
    text = json.dumps(merged(old, recipe, new), allow_nan=False)
    path.write_text(text.replace('{"seed"', '\n{"seed"') + "\n", encoding="utf-8")


def seed_of(bundle: Path) -> int:
    """Return the seed that a bundle was trained with."""
    seed: int = json.loads((bundle / TRAINING).read_text(encoding="utf-8"))["seed"]
    return seed
