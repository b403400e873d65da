r"""Train variants of a run and measure each on dev: ablations, and searches for a better shape.

    python -m model measure variants runs/shapes shapes.txt --test tatoeba=dev.tsv -- \
        --train pairs.tsv --dev dev.tsv --steps 2000

Each line of the file is `name: options`, options of `train` that follow the common ones after
`--` ($VARIABLES are substituted). Every variant is trained with every seed and translates the test
sets greedily; then the table is printed, in Markdown. After an interruption, run the same command
again: finished runs are kept, the rest continues.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from model.commands import arguments, train
from model.measure.training_variants import (
    Variant,
    folder_name,
    measured_variants,
    read_variants,
    side_by_side,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the variants and the texts to translate."""
    parser.add_argument("folder", type=Path, help="parent folder of all runs")
    parser.add_argument("variants", type=Path, help="lines of `name: options`")
    arguments.test_sets(parser)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1], help="(1)")
    arguments.jobs(parser)


def run(asked: argparse.Namespace) -> None:
    """Train and measure what is not done yet, then print the table."""
    runs = argparse.ArgumentParser(prog="python -m model train")
    train.add_arguments(runs)
    lines = read_variants(asked.variants.read_text(encoding="utf-8"))
    variants = []
    for seed in asked.seeds:
        for name, options in lines.items():
            folder = asked.folder / f"{folder_name(name)}-{seed}"
            line = [str(folder), *asked.handed_on, *options, "--seed", str(seed)]
            variants.append(Variant(name, train.plan_of(runs.parse_args(line))))
    print(side_by_side(measured_variants(variants, dict(asked.test), asked.typed, asked.jobs)))
