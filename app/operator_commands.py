"""`python -m app shares`: commands for operators, with or without a running server.

All that is stored is exported to a file, and imported from one.
"""

import os
import sys
from argparse import Namespace
from collections.abc import Awaitable, Mapping, Sequence
from contextlib import AsyncExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZIP_STORED, ZipFile

from sqlalchemy import select

from app.collections.store import Collections
from app.settings import Settings
from app.shares.store import SHARES, Shares
from app.store.archive_file import ArchiveFile, Entries
from app.store.storage_errors import DamagedError, StorageError, translated
from app.store.store import Limits, Store, StoredKind, open_store, prune
from model.errors import FileError, InputError


@dataclass(frozen=True)
class Counted:
    """How many of a kind were transferred, and how many were not.

    Those are damaged in an export, and known already in an import.
    """

    taken: int
    left: int


async def write_archive(store: Store, path: Path) -> dict[str, Counted]:
    """Write everything to a file, readable only by its owner; what is damaged is skipped.

    An incomplete file is never left. Raises StorageError and OSError.
    """
    part = path.with_name(f".{path.name}.part")
    try:
        counted = await _write_all(store, part)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return counted


async def _write_all(store: Store, path: Path) -> dict[str, Counted]:
    with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600), "w+b") as file:
        with ZipFile(file, "w", ZIP_STORED) as opened:
            archive = ArchiveFile(opened)
            counted = {kind.name: await _write_kind(store, archive, kind) for kind in store.kinds}
        file.flush()
        os.fsync(file.fileno())
    return counted


async def _write_kind(store: Store, archive: ArchiveFile, kind: StoredKind) -> Counted:
    table, damaged = kind.table, 0
    async with store.database.reading() as connection:
        ids = list(await connection.scalars(select(table.c.id).order_by(table.c.id)))
    for row_id in ids:
        try:
            await kind.write(store, archive, row_id)
        except DamagedError:
            damaged += 1
    return Counted(len(ids) - damaged, damaged)


async def read_archive(store: Store, path: Path) -> dict[str, Counted]:
    """Store what is in a file under its ids, regardless of limits; known ids are skipped.

    Raises FileError, StorageError and OSError; what was read before the error is kept.
    """
    counted = {}
    with closing(Entries(path, [kind.name for kind in store.kinds])) as entries:
        for kind in store.kinds:
            names = entries.under(kind.name)
            stored = [
                await _taken(kind.read(store, entries, name), entries, name) for name in names
            ]
            counted[kind.name] = Counted(sum(stored), len(stored) - sum(stored))
    return counted


async def _taken(take: Awaitable[bool], entries: Entries, name: str) -> bool:
    """Await what an entry became. Raises FileError if it would not load from the database."""
    try:
        return await take
    except InputError as error:
        raise entries.error(name, str(error)) from error


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
