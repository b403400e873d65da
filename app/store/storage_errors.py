"""What keeps the store from answering, whichever database it is.

StorageError   the database cannot do this now; `kind` says which of `DETAILS`
DamagedError   what is kept is not what was put there
"""

import errno
import logging
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

import asyncpg
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as NoConnectionError

BUSY, FULL, UNAVAILABLE = "storage-busy", "storage-full", "storage-unavailable"
QUOTA = "quota-reached"

DETAILS = {
    BUSY: "the database is busy",
    FULL: "the database has no room left",
    UNAVAILABLE: "the database cannot be used",
    QUOTA: "this address keeps as much as one address may",
}
# What the databases themselves say, by SQLite's primary codes and PostgreSQL's SQLSTATE.
SQLITE = {
    sqlite3.SQLITE_BUSY: BUSY,
    sqlite3.SQLITE_LOCKED: BUSY,
    sqlite3.SQLITE_FULL: FULL,
}
POSTGRES = {
    "55P03": BUSY,  # lock_not_available
    "57014": BUSY,  # query_canceled
    "40001": BUSY,  # serialization_failure
    "40P01": BUSY,  # deadlock_detected
    "53300": BUSY,  # too_many_connections
    "53100": FULL,  # disk_full
}

log = logging.getLogger(__name__)


class StorageError(Exception):
    """The database cannot do this now; `kind` is one of `DETAILS`."""

    def __init__(self, kind: str, detail: str = "") -> None:
        super().__init__(detail or DETAILS[kind])
        self.kind = kind


class DamagedError(Exception):
    """A share is there, but what is kept of it cannot be read."""

    def __init__(self) -> None:
        super().__init__("what is kept of this share is damaged")


@contextmanager
def translated() -> Iterator[None]:
    """Turns whatever a database raises into a StorageError, and logs its code: no words of it.

    A database repeats in its messages what it was sent.
    """
    try:
        yield
    except (SQLAlchemyError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
        if isinstance(error, SQLAlchemyError) and not isinstance(
            error, DBAPIError | NoConnectionError
        ):
            raise  # a mistake of ours
        kind, code = _judged(error)
        log.warning("%s: %s", kind, code)
        raise StorageError(kind) from error


def _judged(error: Exception) -> tuple[str, str]:
    """The kind of a failure, and what the database calls it."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    name = type(cause).__name__
    if isinstance(cause, sqlite3.Error):
        code = getattr(cause, "sqlite_errorcode", 0)
        return SQLITE.get(code & 0xFF, UNAVAILABLE), getattr(cause, "sqlite_errorname", name)
    if state := getattr(cause, "sqlstate", None):
        return POSTGRES.get(state, UNAVAILABLE), f"{name} {state}"
    if isinstance(error, NoConnectionError | TimeoutError):
        return BUSY, name
    if isinstance(cause, OSError) and cause.errno in (errno.ENOSPC, errno.EDQUOT):
        return FULL, name
    return UNAVAILABLE, name
