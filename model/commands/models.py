"""Train a model on parallel text and write it as a bundle.

    python -m model train runs/mine --train pairs.tsv --dev dev.tsv

After an interruption, run the same command again: training resumes where it stopped. The result is
`runs/mine/bundle`, which the server loads with HEADLIGHT_MODELS="mine=runs/mine/bundle". Options
can also come from a JSON or TOML file (`--plan`); the command line takes precedence.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import MISSING
from pathlib import Path
from typing import Any, get_origin

from model.train.events import (
    Distilled,
    Event,
    Finished,
    Look,
    StageBegun,
    StageDone,
    Started,
    Step,
    Tidied,
)
from model.train.plan import PLAN_OPTIONS, PlanOption, TrainingPlan, read_plan
from model.train.prepare import RefusedError
from model.train.run import train

EVERY = 15.0  # seconds between progress lines


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the folder, a plan's file, and every option of a plan, from its dataclasses."""
    parser.add_argument("folder", type=Path, help=PLAN_OPTIONS["folder"].help)
    parser.add_argument("--plan", type=Path, help="a JSON or TOML file with any of these options")
    for name, option in PLAN_OPTIONS.items():
        if name != "folder":
            parser.add_argument(f"--{name.replace('_', '-')}", **_how(option))


def _how(option: PlanOption) -> dict[str, Any]:
    """Return argparse's arguments for an option; an omitted option is not in the namespace."""
    how: dict[str, Any] = {"default": argparse.SUPPRESS, "help": option.help}
    if option.kind is bool:
        return how | {"action": argparse.BooleanOptionalAction}
    if option.default not in (MISSING, None, ()):
        shown = option.default if get_origin(option.kind) is not tuple else " ".join(option.default)
        how["help"] = f"{option.help} ({shown})".strip()
    if option.name == "languages":
        return how | {"nargs": 2, "metavar": ("A", "B")}
    if get_origin(option.kind) is tuple:
        return how | {"type": Path, "nargs": "+", "metavar": "TSV"}
    return how | {"type": option.kind, "metavar": option.kind.__name__.upper()}


def plan_of(asked: argparse.Namespace) -> TrainingPlan:
    """Return the plan of a command line, on top of its `--plan` file, if any.

    Raises `ValueError` for an invalid plan.
    """
    file = read_plan(asked.plan) if asked.plan else {}
    said = {name: value for name, value in vars(asked).items() if name in PLAN_OPTIONS}
    return TrainingPlan.from_json({**file, **said})


def run(asked: argparse.Namespace) -> None:
    """Train and print progress to standard error."""
    told = time.monotonic()
    try:
        for event in train(plan_of(asked)):
            if isinstance(event, Step):
                if time.monotonic() - told < EVERY:
                    continue
                told = time.monotonic()
            if line := line_of(event):
                print(line, file=sys.stderr, flush=True)
    except RefusedError as error:
        sys.exit(str(error))


def line_of(event: Event) -> str | None:
    """Return an event as one line, or None if it is not worth printing."""
    match event:
        case Tidied():
            counts = ", ".join(f"{name} {count:,}" for name, count in event.counts.items())
            return f"{event.kept:,} of {event.read:,} pairs; {counts}"
        case Started():
            resuming = f"; resuming at step {event.step}, epoch {event.epoch + 1}"
            return (
                f"{event.parameters:,} parameters, {event.examples:,} examples, {event.device}, "
                f"{event.threads} threads{resuming if event.step else ''}"
            )
        case Step():
            return (
                f"epoch {event.epoch:.2f}/{event.epochs}, step {event.step}: loss "
                f"{event.mean:.4f}, {event.speed:,.0f} tokens/s, at most "
                f"{event.left / 60:.1f} min left"
            )
        case Look():
            return (
                f"step {event.step}: train loss {event.train:.4f} (smoothed), dev loss "
                f"{event.dev:.4f} nats/token, best {event.best:.4f} at step {event.best_step}"
            )
        case Finished():
            return f"wrote {event.bundle}"
        case Distilled():
            return f"part {event.done} of {event.parts}"
        case StageBegun():
            return f"stage {event.number} of {event.stages}: {event.name}"
        case StageDone():
            return f"{event.name}: {event.result}, SHA-256 {event.digest}"
    return None
