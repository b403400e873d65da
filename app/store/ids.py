"""Ids of what is stored, and the keys of its owners: random, and easy to read aloud."""

import hashlib
import hmac
import secrets

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
