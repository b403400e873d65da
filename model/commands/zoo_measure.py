"""Measure the models of the zoo and write `docs/zoo.md`.

    python -m model zoo measure reverse sort

Without a name, all models are measured. The results of every seed are written next to the shipped
bundle as `zoo.json`: right answers by length, also beyond the training lengths, the attention of
each head, and the learning curve. Complete results of the same weights are kept.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from model.bundle.measurements import ZOO
from model.bundle.weights import TRAINING, digest_of
from model.commands import arguments, zoo_train
from model.train.run import BUNDLE
from model.train.workers import spread
from model.zoo.measuring import measure_seed, merged
from model.zoo.page import PAGE, page, read_results
from model.zoo.training import SHIPPED, Recipe, chosen, read_recipes


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the names and the folders."""
    zoo_train.names(parser)
    parser.add_argument("--zoo", type=Path, default=SHIPPED, help="where the bundles are")
    parser.add_argument("--page", type=Path, default=PAGE, help="the page to write")
    arguments.jobs(parser)


def run(asked: argparse.Namespace) -> None:
    """Measure the models whose results are missing or outdated, then write the page."""
    recipes = read_recipes()
    shipped = [one for one in chosen(recipes, asked.names) if (asked.zoo / one.name).is_dir()]
    tasks = [(recipe, asked.zoo / recipe.name, asked.runs / recipe.name) for recipe in shipped]
    for _ in spread(measure, tasks, asked.jobs):
        pass
    asked.page.write_text(page(recipes, read_results(recipes, asked.zoo)), encoding="utf-8")


def measure(recipe: Recipe, shipped: Path, runs: Path) -> None:
    """Write the results of one model, for all seeds in the folder of its runs."""
    path = shipped / ZOO
    old: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    known = {one["digest"] for one in old.get("seeds", []) if not recipe.task.twins or "cut" in one}
    bundles = {digest_of(one): one for one in (*sorted(runs.glob(f"*/{BUNDLE}")), shipped)}
    new = [
        measure_seed(recipe, seed_of(bundle), bundle)
        for digest, bundle in bundles.items()
        if digest not in known
    ]
    text = json.dumps(merged(old, recipe, new), allow_nan=False)
    path.write_text(text.replace('{"seed"', '\n{"seed"') + "\n", encoding="utf-8")


def seed_of(bundle: Path) -> int:
    """Return the seed that a bundle was trained with."""
    seed: int = json.loads((bundle / TRAINING).read_text(encoding="utf-8"))["seed"]
    return seed
