"""What a command has, and arguments shared by several commands."""

from __future__ import annotations

import argparse
from abc import ABC, abstractmethod
from pathlib import Path

from model.bundle.weights import CHECKPOINTS

DEFAULT = CHECKPOINTS / "en-zh"


class Command(ABC):
    """A command; its docstring is its help."""

    @abstractmethod
    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's own arguments."""

    @abstractmethod
    def run(self, args: argparse.Namespace) -> None:
        """Do what is asked."""


def bundle(parser: argparse.ArgumentParser) -> None:
    """Add the bundle to measure; by default the shipped one."""
    parser.add_argument(
        "bundle", type=Path, nargs="?", default=DEFAULT, help="a model's folder (the shipped one)"
    )


def train_files(parser: argparse.ArgumentParser, help_: str) -> None:
    """Add files of parallel text."""
    parser.add_argument("--train", type=Path, nargs="+", required=True, metavar="TSV", help=help_)


def dev_file(parser: argparse.ArgumentParser, help_: str, required: bool = False) -> None:
    """Add a file of parallel text that was not used for training."""
    parser.add_argument("--dev", type=Path, required=required, metavar="TSV", help=help_)


def test_sets(parser: argparse.ArgumentParser) -> None:
    """Add the texts to translate and score: whole test sets, and sentences as people type them."""
    parser.add_argument(
        "--test",
        type=named_file,
        action="append",
        default=[],
        metavar="NAME=TSV",
        help="a test set",
    )
    parser.add_argument(
        "--typed", type=Path, metavar="TSV", help="dev sentences, to vary as people type them"
    )


def jobs(parser: argparse.ArgumentParser) -> None:
    """Add the number of processes that share the work."""
    parser.add_argument("--jobs", type=int, default=1, help="processes, one thread each (1)")


def device(parser: argparse.ArgumentParser) -> None:
    """Add the device that runs the model."""
    parser.add_argument("--device", default="auto", help="auto, cpu or cuda (auto)")


def languages(parser: argparse.ArgumentParser) -> None:
    """Add the languages of the columns, and the direction."""
    parser.add_argument("--languages", nargs=2, default=["en", "zh"], metavar=("A", "B"))
    parser.add_argument("--one-way", action="store_true", help="from A to B only")


def named_file(text: str) -> tuple[str, Path]:
    """Return the two parts of NAME=FILE."""
    name, equals, path = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"not NAME=TSV: {text}")
    return name, Path(path)
