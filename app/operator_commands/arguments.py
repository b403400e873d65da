"""The arguments of `python -m app shares`, without importing the database's libraries."""

from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path


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
