"""Run a recipe: every stage of training a model, from one file.

    python -m model recipe runs/second-edition experiments/second-edition.toml

Each stage of the file trains a run, averages bundles, distils a train set, or measures a bundle and
writes its card, in a folder named after the stage (`model.recipe` describes the file). When
the same command is run again, finished stages are kept and an interrupted one continues. The last
line names the result and its digest.
"""

from __future__ import annotations

import argparse
import sys
import time
from contextlib import closing
from pathlib import Path

from model.commands import arguments
from model.commands.train import EVERY, line_of
from model.recipe import read_recipe, run_recipe
from model.train.events import Event, Step
from model.train.prepare import RefusedError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the folder, the recipe, and how far to go."""
    parser.add_argument("folder", type=Path, help="parent folder of all stages")
    parser.add_argument("recipe", type=Path, help="a TOML file of stages")
    parser.add_argument("--until", metavar="STAGE", help="the last stage to run")
    parser.add_argument("--minutes", type=float, help="save the state and stop after this time")
    arguments.device(parser)
    arguments.jobs(parser)


def run(asked: argparse.Namespace) -> None:
    """Run the remaining stages and print progress to standard error."""
    began = told = time.monotonic()
    stages = read_recipe(asked.recipe, asked.folder)
    try:
        with closing(run_recipe(stages, asked.device, asked.jobs, asked.until)) as events:
            for event in events:
                now = time.monotonic()
                if not isinstance(event, Step) or now - told >= EVERY:
                    told = now if isinstance(event, Step) else told
                    _tell(event)
                if asked.minutes is not None and now - began >= asked.minutes * 60:
                    print("stopped; run the same command to continue", file=sys.stderr)
                    return
    except RefusedError as error:
        sys.exit(str(error))


def _tell(event: Event) -> None:
    if line := line_of(event):
        print(line, file=sys.stderr, flush=True)
