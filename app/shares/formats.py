"""A share, the seal on its row, and how shares of older formats are read.

A share's format defines how its state, its trace and its replies are read. New shares are written
in `FORMAT`. Stored rows are never rewritten; when read, they are converted one format at a time:

    1 ─▶ UPGRADES[1] ─▶ 2 ─▶ UPGRADES[2] ─▶ … ─▶ FORMAT

To change the format: increase `FORMAT`, add the conversion from the previous format, and run
``python -m tests.golden.make``, which stores shares of the new format for the tests.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import orjson
import zstandard
from pydantic_core import to_jsonable_python
from sqlalchemy import Row

from app.http.file_formats import metadata, with_metadata
from app.http.problems import ProblemError, ReportedError
from app.store.documents import check_seal, sealed
from app.store.storage_errors import DamagedError
from model.adapters.encoder_decoder.description import attentions
from model.adapters.requests.model_info import CAPABILITIES

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


def upgraded(model: Mapping[str, Any]) -> dict[str, Any]:
    """Convert the description of a share's model to the current form of `GET /api/models`.

    Before the table of attentions existed, every model was an encoder–decoder with all
    capabilities. Even earlier, only one aligning head was given, for the rows that predict a word.
    """
    fields = dict(model)
    aligner = fields.pop("aligner", None)
    if aligner:
        fields["aligners"] = [{**aligner, "rows": "writes"}]
    if "attentions" not in fields:
        layers, heads = fields["layers"], fields["heads"]
        table = attentions(layers["encoder"], layers["decoder"], heads["encoder"])
        fields["attentions"] = to_jsonable_python(table)
        fields["texts"] = ["source", "target"]
        lacks = {"chat", "pair"} if fields.get("examples") else {"chat", "pair", "learning"}
        fields["capabilities"] = sorted(CAPABILITIES.keys() - lacks)
    return fields


def changes_of_heads(answer: bytes) -> bytes:
    """Convert the reply to a sweep, in which changes of any kind were called heads."""
    file = thawed(answer)
    document = orjson.loads(metadata(file)["trace"])
    if "lines" not in document:
        return answer
    for line in document["lines"]:
        for part in (line, line.get("start") or {}):
            if "heads" in part:
                part["changes"] = part.pop("heads")
    texts = {**metadata(file), "trace": orjson.dumps(document).decode()}
    return zstandard.compress(with_metadata(file, texts))


class NewerShareError(ReportedError):
    """A share was written in a format newer than this server's."""

    def problem(self) -> ProblemError:
        return ProblemError(501, "newer-share", str(self), field="format")


@dataclass(frozen=True)
class Upgrade:
    """The conversion from one format to the next."""

    share: Callable[[Share], Share]
    answer: Callable[[bytes], bytes] = lambda answer: answer  # an additional reply, compressed


UPGRADES: Mapping[int, Upgrade] = {
    # A model is described by its table of attentions and its capabilities.
    1: Upgrade(lambda share: replace(share, model=upgraded(share.model))),
    # A share can be one of the lab: its state has "lab", and there is no model.
    2: Upgrade(lambda share: share),
    # A sweep counts and lists `changes`, which were called `heads`.
    3: Upgrade(lambda share: share, changes_of_heads),
}


def upgrade(share: Share) -> Share:
    """Convert a share to the current format. Raises NewerShareError for a newer one."""
    for step in _steps(share.format):
        share = step.share(share)
    return replace(share, format=FORMAT)


def upgrade_answer(answer: bytes, written: int) -> bytes:
    """Convert a stored reply from format `written` to the current one; raises as `upgrade` does."""
    for step in _steps(written):
        answer = step.answer(answer)
    return answer


def _steps(written: int) -> Iterator[Upgrade]:
    if written > FORMAT:
        detail = f"the share has format {written}; this server reads formats up to {FORMAT}"
        raise NewerShareError(detail)
    return (UPGRADES[number] for number in range(written, FORMAT))
