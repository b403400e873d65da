"""Frozen replies, as stored: safetensors files, compressed."""

import zstandard

from app.store.storage_errors import DamagedError

MOST_BYTES = 1 << 30  # of a reply; 16 million numbers, the usual limit, take 64 MB


def thawed(frozen: bytes) -> bytes:
    """Return the file. Blocks.

    Raises DamagedError if there is none, and for a size that no reply has before any work; content
    that is not of the stated size is refused by the library.
    """
    try:
        if not 0 <= zstandard.frame_content_size(frozen) <= MOST_BYTES:
            raise DamagedError
        return zstandard.decompress(frozen)
    except zstandard.ZstdError as error:
        raise DamagedError from error
