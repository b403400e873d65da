"""Contents, the files of shares: compressed, and each stored once, by its SHA-256.

Contents change in the same transaction as the shares that refer to them, one writer at a time, so
that no content is missing or unused.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence

import zstandard
from sqlalchemy import delete, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from app.store.storage_errors import DamagedError
from app.store.tables import answers, contents, shares

MOST_BYTES = 1 << 30  # of a reply; 16 million numbers, the usual limit, take 64 MB


def thawed(frozen: bytes) -> bytes:
    """Return the file that a compressed one holds. Blocks.

    Raises DamagedError if there is none, and for a size that no reply has before any work; content
    that is not of the stated size is refused by the library.
    """
    try:
        if not 0 <= zstandard.frame_content_size(frozen) <= MOST_BYTES:
            raise DamagedError
        return zstandard.decompress(frozen)
    except zstandard.ZstdError as error:
        raise DamagedError from error


def digest_of(content: bytes) -> bytes:
    """Return the SHA-256 under which a content is stored. Blocks: 2 ms per megabyte."""
    return hashlib.sha256(content).digest()


def digests_of(files: Sequence[bytes]) -> list[bytes]:
    """Return the digest of each file. Blocks."""
    return [digest_of(one) for one in files]


def checked(digest: bytes, content: bytes | None) -> bytes:
    """Return the content if it matches its digest. Blocks.

    Raises DamagedError otherwise.
    """
    if content is None or digest_of(content) != digest:
        raise DamagedError
    return content


async def lacking(connection: AsyncConnection, files: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
    """Return the files, by digest, that are not stored yet."""
    found = await connection.scalars(
        select(contents.c.digest).where(contents.c.digest.in_(list(files)))
    )
    known = set(found)
    return {digest: content for digest, content in files.items() if digest not in known}


async def put(connection: AsyncConnection, files: Mapping[bytes, bytes]) -> None:
    """Store files that are not stored yet."""
    rows = [
        {"digest": digest, "size": len(content), "content": content}
        for digest, content in files.items()
    ]
    if rows:
        await connection.execute(insert(contents), rows)


async def drop(connection: AsyncConnection, digests: Iterable[bytes]) -> None:
    """Delete the contents that no share refers to any more."""
    held = (
        select(table.c.digest).where(table.c.digest == contents.c.digest).exists()
        for table in (shares, answers)
    )
    unheld = [~one for one in held]
    for digest in set(digests):
        await connection.execute(delete(contents).where(contents.c.digest == digest, *unheld))
