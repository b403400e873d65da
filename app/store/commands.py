"""`python -m app shares`: what an operator does with shares, beside a server that runs or not."""

import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from contextlib import AsyncExitStack
from pathlib import Path

from app.settings import Settings
from app.store.quota import Limits
from app.store.share_archive import ArchiveError, read_archive, write_archive
from app.store.storage_errors import StorageError, translated
from app.store.store import Store, open_store


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


async def run(asked: Namespace, settings: Settings) -> int:
    """Does what was asked; returns the exit status."""
    try:
        async with AsyncExitStack() as opened:
            with translated():
                store = await opened.enter_async_context(
                    open_store(settings.database, Limits.of(settings))
                )
            return await _ACTIONS[asked.action](asked, store)
    except (ArchiveError, StorageError, OSError) as error:
        print(error, file=sys.stderr)
        return 1


async def _export(asked: Namespace, store: Store) -> int:
    counted = await write_archive(store, asked.file)
    print(f"Exported {counted.taken} shares")
    if counted.left:
        print(f"{counted.left} shares are damaged and were left out", file=sys.stderr)
    return 1 if counted.left else 0


async def _import(asked: Namespace, store: Store) -> int:
    counted = await read_archive(store, asked.file)
    print(f"Imported {counted.taken} shares; {counted.left} were there already")
    return 0


async def _prune(asked: Namespace, store: Store) -> int:
    found = {share_id: await store.remove(share_id.lower()) for share_id in asked.share}
    unknown = [share_id for share_id, deleted in found.items() if not deleted]
    deleted = len(found) - len(unknown)
    if asked.days is not None or not asked.share:
        deleted += await store.prune(asked.days)
    print(f"Deleted {deleted} shares")
    for share_id in unknown:
        print(f"there is no share {share_id}", file=sys.stderr)
    return 1 if unknown else 0


_ACTIONS = {"export": _export, "import": _import, "prune": _prune}


def _days(text: str) -> float:
    try:
        days = float(text)
    except ValueError:
        days = -1.0
    if not 0 <= days <= 36_500:
        raise ArgumentTypeError("takes a number of days from 0 to 36500")
    return days
