"""`python -m app`: the server, configured by the environment; and the operator's commands.

python -m app                     serve
python -m app shares export FILE  and import, prune

A server starts in this order. PyTorch takes seconds to import, so the first two do without it.

1. This file reads the settings, and prints those that are invalid.
2. `app.engine.start_engines` makes engines of them, on a thread: their processes
   (`app.engine.start_processes`) import PyTorch and open the models while this one goes on.
3. `app.server` imports everything else. It checks that the data folder and the database can be
   written, waits for the models, and listens.
4. `app.main` is the application, the same in tests, where models can be on threads: its routes and
   middleware. At its startup it opens the engine and the database, then each subject;
   at its shutdown it closes them in reverse order.
5. `app.pages.health` says to whoever asks whether a model answers and the database can be written.
"""

import asyncio
import sys
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from app.engine.start_engines import begin_launch
from app.settings import Settings


def add_arguments(parser: ArgumentParser) -> None:
    """Add the subcommands."""
    commands = parser.add_subparsers(dest="action", metavar="COMMAND", required=True)
    export = commands.add_parser("export", help="write all shares to a file")
    export.add_argument("file", type=Path)
    load = commands.add_parser("import", help="add the shares of a file, keeping their ids")
    load.add_argument("file", type=Path)
    prune = commands.add_parser("prune", help="delete shares that have expired")
    prune.add_argument(
        "--days",
        type=_days,
        metavar="N",
        help="delete shares older than this, instead of HEADLIGHT_KEEP_SHARES_DAYS",
    )
    prune.add_argument(
        "--share",
        action="append",
        default=[],
        metavar="ID",
        help="delete only this share, unless --days is given",
    )
    withdraw = commands.add_parser(
        "withdraw", help="take collections off the shelf, on which they cannot be put again"
    )
    withdraw.add_argument("collection", nargs="+", metavar="ID")


def _days(text: str) -> float:
    try:
        days = float(text)
    except ValueError:
        days = -1.0
    if not 0 <= days <= 36_500:
        raise ArgumentTypeError("must be a number of days from 0 to 36500")
    return days


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until stopped, or run the command in the arguments; return the exit status."""
    parser = ArgumentParser("python -m app", description="Without a command, run the server.")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    add_arguments(commands.add_parser("shares", help="export, import or prune shares"))
    options = parser.parse_args(arguments)
    try:
        settings = Settings()
    except ValidationError as error:
        for wrong in error.errors():
            name = "HEADLIGHT_" + "_".join(str(step) for step in wrong["loc"]).upper()
            print(f"{name}: {wrong['msg']}", file=sys.stderr)
        return 2
    if options.command == "shares":
        from app.main import STORED  # imports the database's libraries
        from app.operator_commands import run

        return asyncio.run(run(options, settings, STORED))
    launching = begin_launch(settings)  # engines open their models during the import that follows
    try:
        from app.server import start  # imports PyTorch, which takes seconds

        return start(settings, launching)
    finally:
        for launcher in launching.result():  # in case startup or shutdown failed
            launcher.close()
