"""The rooms of a single server in a file, so that a restart loses no room, key or answer.

Every change is written at once, as a whole or not at all. A server that is killed has lost nothing;
a power cut can cost the last changes. The file belongs to one server at a time: another one that
starts in the same folder keeps its rooms in memory only. A lesson goes on if the disk fails; the
failure is logged, and what was not written is written once it can be (`MemoryBus`).
"""

import logging
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
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
# Columns of the rows that can be read at all: SQLite stores anything in any column.
TYPES = {
    "rooms": {"code": "text", "document": "blob", "until": "real", "holder": "text"},
    "fields": dict.fromkeys(("code", "part", "name", "holder"), "text")
    | {"value": "blob", "size": "integer"},
}
KEEP_ROOM = "INSERT OR REPLACE INTO rooms VALUES (?, ?, ?, ?)"
SET_FIELD = "INSERT OR REPLACE INTO fields VALUES (?, ?, ?, ?, ?, ?)"
DROP_FIELD = "DELETE FROM fields WHERE code = ? AND part = ? AND name = ?"
DROP_FIELDS = "DELETE FROM fields WHERE code = ?"
DROP_ROOM = "DELETE FROM rooms WHERE code = ?"

Rows = Sequence[tuple[object, ...]]

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


PlacedField = tuple[str, str, Field]  # with its part and name


class RoomsFile:
    """A file of rooms and their fields.

    No method raises: each that writes returns whether it could, and logs if not.
    """

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
                # A text that is not in UTF-8 any more is no reason not to start.
                database.text_factory = lambda text: text.decode(errors="replace")
                _delete_other_types(database)
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

    def fields(self, code: str) -> Iterator[PlacedField]:
        """Yield the part, the name and the content of each field of a room."""
        select = "SELECT part, name, value, holder, size FROM fields WHERE code = ?"
        for part, name, *values in self._database.execute(select, (code,)):
            yield part, name, Field(*values)

    def keep(self, room: StoredRoom) -> bool:
        """Write a room, instead of its earlier document."""
        return self._write((KEEP_ROOM, [_row(room)]))

    def set(self, code: str, part: str, name: str, field: Field) -> bool:
        """Write a field, instead of an earlier one."""
        return self._write((SET_FIELD, [_field_row(code, part, name, field)]))

    def rewrite(self, room: StoredRoom, fields: Iterable[PlacedField]) -> bool:
        """Write a room with these fields and no others."""
        rows = [_field_row(room.code, *placed) for placed in fields]
        gone = (DROP_FIELDS, [(room.code,)])
        return self._write(gone, (KEEP_ROOM, [_row(room)]), (SET_FIELD, rows))

    def drop(self, code: str, part: str, names: Iterable[str]) -> bool:
        """Delete fields."""
        return self._write((DROP_FIELD, [(code, part, name) for name in names]))

    def delete(self, codes: Iterable[str]) -> bool:
        """Delete rooms with all their fields."""
        rows = [(code,) for code in codes]
        deleted = self._write((DROP_FIELDS, rows), (DROP_ROOM, rows))
        with suppress(sqlite3.Error):  # the log that is not emptied now has their bytes until later
            self._database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return deleted

    def close(self) -> None:
        """Give the file back."""
        self._database.close()

    def _write(self, *changes: tuple[str, Rows]) -> bool:
        """Run statements, each for its rows, as one transaction."""
        try:
            self._database.execute("BEGIN IMMEDIATE")
            for statement, rows in changes:
                self._database.executemany(statement, rows)
            self._database.execute("COMMIT")
        except sqlite3.Error as error:
            log.error("a change of a room is in memory only: %s", error)
            with suppress(sqlite3.Error):  # SQLite has rolled some errors back itself
                self._database.rollback()
            return False
        return True


def _row(room: StoredRoom) -> tuple[object, ...]:
    return room.code, room.document, time.time() + room.seconds, room.holder


def _field_row(code: str, part: str, name: str, field: Field) -> tuple[object, ...]:
    return code, part, name, field.value, field.holder, field.size


def _delete_other_types(database: sqlite3.Connection) -> None:
    """Delete rows that hold another type in a column than was written, and log how many."""
    for table, columns in TYPES.items():
        wrong = " OR ".join(f"typeof({name}) != '{type_}'" for name, type_ in columns.items())
        if count := database.execute(f"DELETE FROM {table} WHERE {wrong}").rowcount:
            log.error("%d damaged rows of the table %s are left out", count, table)
