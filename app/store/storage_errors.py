"""Errors of the store, independent of the database.

StorageError   the database cannot do this now; `kind` is one of `DETAILS`
DamagedError   the stored data differs from what was written
"""

import logging
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import asyncpg
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as NoConnectionError

from app.http.problems import ProblemError, ReportedError
from app.store.disk_files import FULL, UNAVAILABLE, disk_problem
from model.errors import InputError

Stored = Literal["share", "collection", "assignment", "study"]
BUSY = "storage-busy"
QUOTA = "quota-reached"

DETAILS = {
    BUSY: "the database is busy",
    FULL: "the database has no room left",
    UNAVAILABLE: "the database cannot be used",
    QUOTA: "the shares of this address have reached their limit",
}
# Status, and the seconds after which to retry.
STATUS = {BUSY: (503, 2), UNAVAILABLE: (503, 30), FULL: (507, 600), QUOTA: (507, 600)}
# Kinds of the databases' errors, by SQLite's primary codes and PostgreSQL's SQLSTATE.
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

# SQLite's codes for pages that are not as it wrote them.
DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}

log = logging.getLogger(__name__)


class StorageError(ReportedError):
    """The database cannot do this now; `kind` is one of `DETAILS`."""

    def __init__(self, kind: str, detail: str = "") -> None:
        super().__init__(detail or DETAILS[kind])
        self.kind = kind

    def problem(self) -> ProblemError:
        status, seconds = STATUS[self.kind]
        headers = {"Retry-After": str(seconds)}
        return ProblemError(status, self.kind, f"{self}; try again later", headers=headers)


class DamagedError(ReportedError):
    """Something exists, but its stored data cannot be read, or is not as it was stored."""

    def __init__(self, kind: Stored = "share") -> None:
        super().__init__(f"the stored data of this {kind} is damaged")
        self.kind = kind

    def problem(self) -> ProblemError:
        return ProblemError(410, f"damaged-{self.kind}", str(self))


@contextmanager
def files() -> Iterator[None]:
    """Turn an error of the disk into a StorageError, and let any other through."""
    try:
        yield
    except Exception as error:
        if kind := disk_problem(error):
            detail = "the disk has no room left" if kind == FULL else "files cannot be written"
            raise StorageError(kind, detail) from error
        raise


@contextmanager
def translated() -> Iterator[None]:
    """Turn errors of a database into a StorageError; log their codes but not their messages.

    The messages of a database may repeat users' texts.
    """
    try:
        yield
    except (SQLAlchemyError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
        if isinstance(error, SQLAlchemyError) and not isinstance(
            error, DBAPIError | NoConnectionError
        ):
            raise  # a bug
        kind, code = _judged(error)
        log.warning("%s: %s", kind, code)
        raise StorageError(kind) from error


@contextmanager
def undamaged(kind: Stored = "share") -> Iterator[None]:
    """Turn what a database, or the reading of a row, raises about damage into DamagedError.

    An InputError is about what somebody sent, and passes.
    """
    try:
        yield
    except InputError:
        raise
    except (ValueError, TypeError, AttributeError, OverflowError) as error:
        raise DamagedError(kind) from error
    except DBAPIError as error:
        if is_damage(error):
            raise DamagedError(kind) from error
        raise


@contextmanager
def writable() -> Iterator[None]:
    """Turn the same into a StorageError: a database that is damaged cannot be written."""
    try:
        with undamaged():
            yield
    except DamagedError as error:
        log.error("%s: the database is damaged", UNAVAILABLE)
        raise StorageError(UNAVAILABLE) from error


def is_damage(error: Exception) -> bool:
    """Return whether a database's error says that its file is not as it was written."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    if not isinstance(cause, sqlite3.Error):
        return False
    code = getattr(cause, "sqlite_errorcode", None)
    if code is None:  # raised by the driver, for a text that is not in UTF-8
        return "decode" in str(cause)
    return code & 0xFF in DAMAGED


def _judged(error: Exception) -> tuple[str, str]:
    """Return the kind of a failure, and the database's own code for it."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    name = type(cause).__name__
    if isinstance(cause, sqlite3.Error):
        code = getattr(cause, "sqlite_errorcode", 0)
        return SQLITE.get(code & 0xFF, UNAVAILABLE), getattr(cause, "sqlite_errorname", name)
    if state := getattr(cause, "sqlstate", None):
        return POSTGRES.get(state, UNAVAILABLE), f"{name} {state}"
    if isinstance(error, NoConnectionError | TimeoutError):
        return BUSY, name
    return (disk_problem(cause) if cause else None) or UNAVAILABLE, name
