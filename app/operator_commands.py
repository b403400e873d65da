"""`python -m app shares`: commands for operators, with or without a running server."""

import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack

from app.collections.store import Collections
from app.settings import Settings
from app.shares.store import SHARES, Shares
from app.store.archive import Counted, read_archive, write_archive
from app.store.storage_errors import StorageError, translated
from app.store.store import Limits, Store, StoredKind, open_store, prune
from model.errors import FileError


async def run(options: Namespace, settings: Settings, kinds: Sequence[StoredKind]) -> int:
    """Run the command on all kinds of what is stored; return the exit status."""
    try:
        async with AsyncExitStack() as opened:
            with translated():
                store = await opened.enter_async_context(
                    open_store(settings.database, Limits.of(settings), kinds)
                )
            return await _ACTIONS[options.action](options, store)
    except (FileError, StorageError, OSError) as error:
        print(error, file=sys.stderr)
        return 1


async def _export(options: Namespace, store: Store) -> int:
    counted = await write_archive(store, options.file)
    print(f"Exported {_words(counted)}")
    damaged = sum(kind.left for kind in counted.values())
    if damaged:
        print(f"{damaged} are damaged and were skipped", file=sys.stderr)
    return 1 if damaged else 0


async def _import(options: Namespace, store: Store) -> int:
    counted = await read_archive(store, options.file)
    print(f"Imported {_words(counted)}; {counted[SHARES].left} already existed")
    return 0


async def _prune(options: Namespace, store: Store) -> int:
    shares = Shares(store)
    removed = {share_id: await shares.remove(share_id.lower()) for share_id in options.share}
    unknown = [share_id for share_id, deleted in removed.items() if not deleted]
    deleted = len(removed) - len(unknown)
    if options.days is not None or not options.share:
        deleted += (await prune(store, options.days))[SHARES]
    print(f"Deleted {deleted} shares")
    for share_id in unknown:
        print(f"there is no share {share_id}", file=sys.stderr)
    return 1 if unknown else 0


async def _withdraw(options: Namespace, store: Store) -> int:
    collections = Collections(store)
    unknown = [name for name in options.collection if not await collections.withdraw(name)]
    print(f"Took {len(options.collection) - len(unknown)} collections off the shelf")
    for name in unknown:
        print(f"there is no collection {name}", file=sys.stderr)
    return 1 if unknown else 0


def _words(counted: Mapping[str, Counted]) -> str:
    """Return numbers of shares, and of whatever else was transferred."""
    words = [
        f"{count.taken} {kind}" for kind, count in counted.items() if count.taken or kind == SHARES
    ]
    return " and ".join(words)


_ACTIONS = {"export": _export, "import": _import, "prune": _prune, "withdraw": _withdraw}
