"""`python -m app shares`: commands for operators, with or without a running server."""

import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack

from app.settings import Settings
from app.shares.store import SHARES, Shares
from app.store.archive import Counted, read_archive, write_archive
from app.store.expiry import prune
from app.store.quota import Limits
from app.store.storage_errors import StorageError, translated
from app.store.store import Store, StoredKind, open_store
from model.errors import FileError


async def run(asked: Namespace, settings: Settings, kinds: Sequence[StoredKind]) -> int:
    """Run the command on all kinds of what is stored; return the exit status."""
    try:
        async with AsyncExitStack() as opened:
            with translated():
                store = await opened.enter_async_context(
                    open_store(settings.database, Limits.of(settings), kinds)
                )
            return await _ACTIONS[asked.action](asked, store)
    except (FileError, StorageError, OSError) as error:
        print(error, file=sys.stderr)
        return 1


async def _export(asked: Namespace, store: Store) -> int:
    counted = await write_archive(store, asked.file)
    print(f"Exported {_words(counted)}")
    damaged = sum(kind.left for kind in counted.values())
    if damaged:
        print(f"{damaged} are damaged and were skipped", file=sys.stderr)
    return 1 if damaged else 0


async def _import(asked: Namespace, store: Store) -> int:
    counted = await read_archive(store, asked.file)
    print(f"Imported {_words(counted)}; {counted[SHARES].left} already existed")
    return 0


async def _prune(asked: Namespace, store: Store) -> int:
    shares = Shares(store)
    found = {share_id: await shares.remove(share_id.lower()) for share_id in asked.share}
    unknown = [share_id for share_id, deleted in found.items() if not deleted]
    deleted = len(found) - len(unknown)
    if asked.days is not None or not asked.share:
        deleted += (await prune(store, asked.days))[SHARES]
    print(f"Deleted {deleted} shares")
    for share_id in unknown:
        print(f"there is no share {share_id}", file=sys.stderr)
    return 1 if unknown else 0


def _words(counted: Mapping[str, Counted]) -> str:
    """Return numbers of shares, and of whatever else was transferred."""
    told = [f"{one.taken} {kind}" for kind, one in counted.items() if one.taken or kind == SHARES]
    return " and ".join(told)


_ACTIONS = {"export": _export, "import": _import, "prune": _prune}
