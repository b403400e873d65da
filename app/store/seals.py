"""Seals: the digest of all that a reader gets of a row, by which damage is noticed."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import orjson

from app.store.ids import digest_of
from app.store.storage_errors import DamagedError, Stored, undamaged


def in_utc(moment: datetime) -> datetime:
    """Return a time as read from the database, with its time zone."""
    return moment.replace(tzinfo=moment.tzinfo or UTC)  # SQLite does not store the time zone


def sealed(*facts: Any) -> bytes:
    """Return the seal of facts: values of JSON, times and bytes."""
    options = orjson.OPT_SORT_KEYS | orjson.OPT_PASSTHROUGH_DATETIME
    return digest_of(orjson.dumps(facts, default=_plain, option=options))


def check_seal(kind: Stored, seal: bytes | None, expected: Callable[[], bytes]) -> None:
    """Raise DamagedError if a row is not as it was stored; rows from before seals have none.

    `expected` computes the seal of what was read, which fails if that has another form.
    """
    with undamaged(kind):
        matches = seal in (None, expected())
    if not matches:
        raise DamagedError(kind)


def _plain(fact: Any) -> str:
    if isinstance(fact, datetime):
        return in_utc(fact).astimezone(UTC).isoformat()
    if isinstance(fact, bytes):
        return fact.hex()
    raise TypeError
