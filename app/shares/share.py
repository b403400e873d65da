"""A share, and the seal on its row."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import zstandard
from sqlalchemy import Row

from app.store.seals import check_seal, sealed
from app.store.storage_errors import DamagedError

MOST_BYTES = 1 << 30  # of a reply; 16 million numbers, the usual limit, take 64 MB
FORMAT = 4  # of new shares; `app.shares.formats` reads older ones


@dataclass(frozen=True)
class Answer:
    """An additional request of a share, and its reply: a compressed file."""

    question: dict[str, Any]
    answer: bytes


@dataclass(frozen=True)
class Share:
    """A state, the model's description, and the frozen trace: a compressed file.

    `format` defines how to read them (`app.shares.formats`); `asks` are the additional
    requests whose replies are stored with it; `about` has the author's texts for readers.
    """

    id: str
    format: int
    created: datetime
    state: dict[str, Any]
    model: dict[str, Any]
    trace: bytes
    asks: tuple[dict[str, Any], ...] = ()
    about: dict[str, str] | None = None


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


def seal(share: Any, digest: bytes, questions: Sequence[Mapping[str, Any]]) -> bytes:
    """Return the seal of a share or its row; `digest` is that of its trace."""
    return sealed(
        [share.id, share.format, share.created, digest],
        [share.state, share.model, share.about or None],
        [[question["n"], question["question"], question["digest"]] for question in questions],
    )


def check_share(row: Row[Any], questions: Sequence[Row[Any]]) -> None:
    """Raise DamagedError if a share is not as it was stored.

    A share in a newer format is not checked: its seal may be of something else.
    """
    if row.format <= FORMAT:
        check_seal(
            "share",
            row.seal,
            lambda: seal(row, row.digest, [question._asdict() for question in questions]),
        )
