"""Codes of rooms, and the keys that control them."""

import hashlib
import hmac
import secrets

from app.store.ids import ALPHABET, new_edit_key

CODE_LENGTH = 6  # 31 ** 6 = 887 million, and few wrong codes per minute are answered


def new_code() -> str:
    """Return a random code, short enough to type from a projector."""
    return "".join(secrets.choice(ALPHABET) for _ in range(CODE_LENGTH))


def normalised(text: str) -> str:
    """Return a typed code in lower case, without spaces and hyphens."""
    return "".join(sign for sign in text.lower() if sign not in " -\u2010\u2011")


def is_code(text: str) -> bool:
    """Return whether a text has the form of a code."""
    return len(text) == CODE_LENGTH and set(text) <= set(ALPHABET)


def new_key() -> str:
    """Return an unguessable key: slightly more than 128 random bits."""
    return new_edit_key()


def hashed(key: str) -> str:
    """Return the hash under which a key is stored. The key is random, so no salt is needed."""
    return hashlib.sha256(key.encode()).hexdigest()


def opens(key: str, stored: str | None) -> bool:
    """Return whether a key has this hash, in constant time."""
    return stored is not None and hmac.compare_digest(hashed(key), stored)
