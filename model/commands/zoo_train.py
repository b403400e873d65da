"""Train the small models of the zoo, all or those that are named.

    python -m model zoo train reverse sort

A line of `model/zoo/zoo.toml` says what each learns and how. Every seed trains in a folder of its
own, `runs/zoo/reverse/1`, and goes on there after an interruption; the bundle of the first seed is
copied to where `load("zoo/reverse")` finds it.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from model.commands import arguments
from model.commands.train import line_of
from model.train.events import Finished, Look, Started
from model.train.workers import spread
from model.zoo.recipes import Recipe, chosen, read_recipes
from model.zoo.training import SHIPPED, ship, train_recipe

RUNS = Path("runs/zoo")
SEEDS = (1, 2, 3)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the names, the seeds and the folders."""
    names(parser)
    parser.add_argument("--seeds", type=int, nargs="+", default=[*SEEDS], help="(1 2 3)")
    parser.add_argument("--zoo", type=Path, default=SHIPPED, help="where bundles are shipped")
    arguments.jobs(parser)


def names(parser: argparse.ArgumentParser) -> None:
    """Which models, and where their runs are."""
    parser.add_argument("names", nargs="*", metavar="NAME", help="models of the table (all)")
    parser.add_argument("--runs", type=Path, default=RUNS, help=f"folder of the runs ({RUNS})")


def run(asked: argparse.Namespace) -> None:
    """Trains, the first seeds of all before the second ones, and ships what the first seed made."""
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
    """Trains one model and prints its looks; the bundle's folder."""
    bundle = folder
    for event in train_recipe(recipe, seed, folder):
        if isinstance(event, Started | Look | Finished):
            print(f"{recipe.name} {seed}: {line_of(event)}", file=sys.stderr, flush=True)
        if isinstance(event, Finished):
            bundle = Path(event.bundle)
    return bundle
