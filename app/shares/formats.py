"""Converts shares written by earlier versions.

The format of shares: its number, and how to read shares of older formats.

A share's format defines how its state, its trace and its replies are read. New shares are written
in `FORMAT`. Stored rows are never rewritten; when read, they are converted one format at a time:

    1 ─▶ UPGRADES[1] ─▶ 2 ─▶ UPGRADES[2] ─▶ … ─▶ FORMAT

To change the format: increase `FORMAT` in `app.shares.share`, add the conversion from the previous
format, and run ``python -m tests.golden.make``, which stores shares of the new format for the
tests.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import orjson
import zstandard
from pydantic_core import to_jsonable_python

from app.http.problems import ProblemError, ReportedError
from app.http.safetensors_file import metadata, with_metadata
from app.shares.share import FORMAT as FORMAT
from app.shares.share import Share, thawed
from model.adapters.encoder_decoder.description import attentions
from model.adapters.requests.model_info import CAPABILITIES


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
        lacks = {"chat"} if fields.get("examples") else {"chat", "learning"}
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
