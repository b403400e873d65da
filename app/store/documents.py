"""Documents as bytes, their ids and keys, and the seals by which damage is noticed.

A document becomes bytes only if it loads again as it was. Ids and keys are random, and easy to
read aloud. A seal is the digest of all that a reader gets of a row.
"""

import hashlib
import hmac
import json
import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import orjson
from pydantic import BaseModel

from app.store.storage_errors import DamagedError, Stored, undamaged
from model.errors import InputError


def dumped(document: Any) -> bytes:
    """Return a document as the JSON that is stored: values of JSON, or a model of pydantic.

    Raises InputError unless it loads again as it is: not for a number that is not finite or has
    more than 64 bits, a text with lone surrogates, or a value outside its model's bounds.
    """
    try:
        if isinstance(document, BaseModel):
            content = document.model_dump_json().encode()
            reads_back = type(document).model_validate_json(content) == document
        else:
            content = orjson.dumps(document)
            reads_back = json.loads(content) == document
    except (TypeError, ValueError):
        reads_back = False
    if not reads_back:
        detail = "this cannot be stored: it would not be read again as it is"
        raise InputError("wrong-type", "", detail)
    return content


# Lower case, without letters or digits that look alike. 31 ** 13 > 2 ** 64
ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"
ID_LENGTH = 13
KEY_LENGTH = 26  # 31 ** 26 > 2 ** 128


def digest_of(content: bytes) -> bytes:
    """Return the SHA-256 of a content. Blocks: 2 ms per megabyte."""
    return hashlib.sha256(content).digest()


def is_id(text: str) -> bool:
    """Return whether a text has the form of an id."""
    return len(text) == ID_LENGTH and set(text) <= set(ALPHABET)


def new_id() -> str:
    """Return an unguessable id: slightly more than 64 random bits."""
    return _random(ID_LENGTH)


def new_edit_key() -> str:
    """Return an unguessable key: slightly more than 128 random bits."""
    return _random(KEY_LENGTH)


def key_from(digest: bytes) -> str:
    """Return an edit key made from a secret digest of at least 32 bytes."""
    number = int.from_bytes(digest)
    letters = []
    for _ in range(KEY_LENGTH):
        number, letter = divmod(number, len(ALPHABET))
        letters.append(ALPHABET[letter])
    return "".join(letters)


def key_digest(key: str) -> bytes:
    """Return the digest under which a key is stored. The key is random, so no salt is needed."""
    return digest_of(key.strip().lower().encode())


def opens(key: str, stored: bytes | None) -> bool:
    """Return whether a typed key has this digest, in constant time."""
    return stored is not None and hmac.compare_digest(stored, key_digest(key))


def _random(length: int) -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(length))


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
