"""Train the small models of the zoo: all, or those with the given names.

    python -m model zoo train reverse sort

`model/zoo/zoo.toml` defines the task and the options of each model. Every seed trains in its own
folder, `runs/zoo/reverse/1`, and continues there after an interruption. The bundle of the first
seed is copied to where `load("zoo/reverse")` finds it.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from model.commands import arguments
from model.commands.train import line_of
from model.train.events import Finished, Look, Started
from model.train.workers import spread
from model.zoo.training import SHIPPED, Recipe, chosen, read_recipes, ship, train_recipe

RUNS = Path("runs/zoo")
SEEDS = (1, 2, 3)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the names, the seeds and the folders."""
    names(parser)
    parser.add_argument("--seeds", type=int, nargs="+", default=[*SEEDS], help="(1 2 3)")
    parser.add_argument("--zoo", type=Path, default=SHIPPED, help="where bundles are shipped")
    arguments.jobs(parser)


def names(parser: argparse.ArgumentParser) -> None:
    """Add the names of the models, and the folder of their runs."""
    parser.add_argument("names", nargs="*", metavar="NAME", help="models of the table (all)")
    parser.add_argument("--runs", type=Path, default=RUNS, help=f"folder of the runs ({RUNS})")


def run(asked: argparse.Namespace) -> None:
    """Train all first seeds, then all second ones, and so on; ship the bundles of the first."""
    try:
        recipes = chosen(read_recipes(), asked.names)
    except ValueError as error:
        sys.exit(str(error))
    first = asked.seeds[0]
    tasks = [
        (recipe, seed, asked.runs / recipe.name / str(seed))
        for seed in asked.seeds
        for recipe in recipes
    ]
    for (recipe, seed, _), bundle in zip(tasks, spread(train, tasks, asked.jobs), strict=True):
        if seed == first:
            ship(bundle, recipe.name, asked.zoo)


def train(recipe: Recipe, seed: int, folder: Path) -> Path:
    """Train one model and print its progress; return the bundle's folder."""
    bundle = folder
    for event in train_recipe(recipe, seed, folder):
        if isinstance(event, Started | Look | Finished):
            print(f"{recipe.name} {seed}: {line_of(event)}", file=sys.stderr, flush=True)
        if isinstance(event, Finished):
            bundle = Path(event.bundle)
    return bundle
