"""The rooms of a single server in a file, so that a restart loses no room, key or answer.

Every change is written at once. A server that is killed has lost nothing; a power cut can cost the
last changes. The file belongs to one server at a time: another one that starts in the same folder
keeps its rooms in memory only. A lesson goes on if the disk fails; the failure is logged.
"""

import logging
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from app.store.disk_files import make_private_file

LOCK_SECONDS = 2.0  # to wait for a server that is ending
TABLES = """
PRAGMA locking_mode = EXCLUSIVE;
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
PRAGMA secure_delete = ON;
CREATE TABLE IF NOT EXISTS rooms (
    code TEXT PRIMARY KEY, document BLOB, until REAL, holder TEXT
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS fields (
    code TEXT, part TEXT, name TEXT, value BLOB, holder TEXT, size INTEGER,
    PRIMARY KEY (code, part, name)
) WITHOUT ROWID;
"""

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class StoredRoom:
    """A room as a file has it: `seconds` are left of it, `holder` opened it."""

    code: str
    document: bytes
    seconds: float
    holder: str


@dataclass(frozen=True)
class Field:
    """A field of a room; `size` is how many bytes of the room's are counted for it."""

    value: bytes
    holder: str = ""
    size: int = 0


class RoomsFile:
    """A file of rooms and their fields. No method raises: what cannot be written is logged."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    @classmethod
    def open(cls, path: Path) -> Self | None:
        """Open or create a file; None if another server has it, or if it is damaged or unusable."""
        with ExitStack() as opened:
            try:
                make_private_file(path)
                database = sqlite3.connect(path, timeout=LOCK_SECONDS, isolation_level=None)
                opened.callback(database.close)
                database.executescript(TABLES)
                if database.execute("PRAGMA quick_check").fetchall() != [("ok",)]:
                    raise sqlite3.DatabaseError("it is damaged")
                database.execute("DELETE FROM rooms WHERE until <= ?", (time.time(),))
                database.execute("DELETE FROM fields WHERE code NOT IN (SELECT code FROM rooms)")
            except (OSError, sqlite3.Error) as error:
                log.warning("rooms end with this server: %s: %s", path, error)
                return None
            opened.pop_all()
        return cls(database)

    def rooms(self) -> Iterator[StoredRoom]:
        """Yield the rooms that have not expired."""
        now = time.time()
        rows = self._database.execute("SELECT code, document, until - ?, holder FROM rooms", (now,))
        for row in rows.fetchall():
            yield StoredRoom(*row)

    def fields(self, code: str) -> Iterator[tuple[str, str, Field]]:
        """Yield the part, the name and the content of each field of a room."""
        select = "SELECT part, name, value, holder, size FROM fields WHERE code = ?"
        for part, name, *values in self._database.execute(select, (code,)):
            yield part, name, Field(*values)

    def keep(self, room: StoredRoom) -> None:
        """Write a room, instead of its earlier document."""
        values = room.code, room.document, time.time() + room.seconds, room.holder
        self._write("INSERT OR REPLACE INTO rooms VALUES (?, ?, ?, ?)", [values])

    def set(self, code: str, part: str, name: str, field: Field) -> None:
        """Write a field, instead of an earlier one."""
        values = code, part, name, field.value, field.holder, field.size
        self._write("INSERT OR REPLACE INTO fields VALUES (?, ?, ?, ?, ?, ?)", [values])

    def drop(self, code: str, part: str, names: Iterable[str]) -> None:
        """Delete fields."""
        rows = [(code, part, name) for name in names]
        self._write("DELETE FROM fields WHERE code = ? AND part = ? AND name = ?", rows)

    def delete(self, codes: Iterable[str]) -> None:
        """Delete rooms with all their fields."""
        rows = [(code,) for code in codes]
        self._write("DELETE FROM fields WHERE code = ?", rows)
        self._write("DELETE FROM rooms WHERE code = ?", rows)
        with suppress(sqlite3.Error):  # the log that is not emptied now has their bytes until later
            self._database.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Give the file back."""
        self._database.close()

    def _write(self, statement: str, rows: Iterable[tuple[object, ...]]) -> None:
        try:
            self._database.executemany(statement, rows)
        except sqlite3.Error as error:
            log.error("a change of a room is in memory only: %s", error)
