"""`python -m app shares`: commands for operators, with or without a running server."""

import sys
from argparse import Namespace
from contextlib import AsyncExitStack

from app.settings import Settings
from app.store.expiry import prune
from app.store.quota import Limits
from app.store.share_archive import Counted, read_archive, write_archive
from app.store.storage_errors import StorageError, translated
from app.store.store import Store, open_store
from model.errors import FileError


async def run(asked: Namespace, settings: Settings) -> int:
    """Run the command; return the exit status."""
    try:
        async with AsyncExitStack() as opened:
            with translated():
                store = await opened.enter_async_context(
                    open_store(settings.database, Limits.of(settings))
                )
            return await _ACTIONS[asked.action](asked, store)
    except (FileError, StorageError, OSError) as error:
        print(error, file=sys.stderr)
        return 1


async def _export(asked: Namespace, store: Store) -> int:
    counted = await write_archive(store, asked.file)
    print(f"Exported {counted.taken} shares{_beside(counted)}")
    if counted.left:
        print(f"{counted.left} are damaged and were skipped", file=sys.stderr)
    return 1 if counted.left else 0


async def _import(asked: Namespace, store: Store) -> int:
    counted = await read_archive(store, asked.file)
    print(f"Imported {counted.taken} shares{_beside(counted)}; {counted.left} already existed")
    return 0


async def _prune(asked: Namespace, store: Store) -> int:
    found = {share_id: await store.remove(share_id.lower()) for share_id in asked.share}
    unknown = [share_id for share_id, deleted in found.items() if not deleted]
    deleted = len(found) - len(unknown)
    if asked.days is not None or not asked.share:
        deleted += await prune(store, asked.days)
    print(f"Deleted {deleted} shares")
    for share_id in unknown:
        print(f"there is no share {share_id}", file=sys.stderr)
    return 1 if unknown else 0


def _beside(counted: Counted) -> str:
    more = {"collections": counted.collections, "assignments": counted.assignments}
    return "".join(f" and {number} {name}" for name, number in more.items() if number)


_ACTIONS = {"export": _export, "import": _import, "prune": _prune}
