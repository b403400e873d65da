"""The arguments of `python -m app shares`, apart from what runs them: parsing needs no database."""

from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the subcommands."""
    commands = parser.add_subparsers(dest="action", metavar="COMMAND", required=True)
    export = commands.add_parser("export", help="write all shares into a file")
    export.add_argument("file", type=Path)
    load = commands.add_parser("import", help="keep the shares of such a file, under their ids")
    load.add_argument("file", type=Path)
    prune = commands.add_parser("prune", help="delete shares that have expired")
    prune.add_argument(
        "--days",
        type=_days,
        metavar="N",
        help="delete what is older than this, in place of HEADLIGHT_KEEP_SHARES_DAYS",
    )
    prune.add_argument(
        "--share",
        action="append",
        default=[],
        metavar="ID",
        help="delete this share, and no others unless --days is given",
    )


def _days(text: str) -> float:
    try:
        days = float(text)
    except ValueError:
        days = -1.0
    if not 0 <= days <= 36_500:
        raise ArgumentTypeError("takes a number of days from 0 to 36500")
    return days
