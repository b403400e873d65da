"""Exports all that is stored to a file, and imports it."""

import os
from collections.abc import Awaitable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZIP_STORED, ZipFile

from sqlalchemy import select

from app.store.archive_file import ArchiveFile, Entries
from app.store.storage_errors import DamagedError
from app.store.store import Store, StoredKind
from model.errors import InputError


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
