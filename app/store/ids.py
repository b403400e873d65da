"""Ids of shares, and the keys that delete them: random, and easy to read aloud."""

import secrets

from app.store.tables import ID_LENGTH

# Lower case, without letters or digits that look alike. 31 ** 13 > 2 ** 64
ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"
KEY_LENGTH = 26  # 31 ** 26 > 2 ** 128


def is_id(text: str) -> bool:
    """Return whether a text has the form of an id."""
    return len(text) == ID_LENGTH and set(text) <= set(ALPHABET)


def new_id() -> str:
    """Return an unguessable id: slightly more than 64 random bits."""
    return _random(ID_LENGTH)


def new_edit_key() -> str:
    """Return an unguessable key: slightly more than 128 random bits."""
    return _random(KEY_LENGTH)


def _random(length: int) -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(length))
