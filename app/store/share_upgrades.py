"""Converts shares written by earlier versions."""

from collections.abc import Mapping
from typing import Any

import orjson
import zstandard
from pydantic_core import to_jsonable_python

from app.http.safetensors_file import metadata, with_metadata
from app.shares.share import thawed
from model.adapters.encoder_decoder.description import attentions
from model.adapters.requests.model_info import CAPABILITIES


def upgraded(model: Mapping[str, Any]) -> dict[str, Any]:
    """Convert the description of a share's model to the current form of `GET /api/models`.

    Before the table of attentions existed, every model was an encoder–decoder with all
    capabilities. Even earlier, only one aligning head was given, for the rows that predict a word.
    """
    known = dict(model)
    aligner = known.pop("aligner", None)
    if aligner:
        known["aligners"] = [{**aligner, "rows": "writes"}]
    if "attentions" not in known:
        layers, heads = known["layers"], known["heads"]
        table = attentions(layers["encoder"], layers["decoder"], heads["encoder"])
        known["attentions"] = to_jsonable_python(table)
        known["texts"] = ["source", "target"]
        lacks = {"chat"} if known.get("examples") else {"chat", "learning"}
        known["capabilities"] = sorted(CAPABILITIES.keys() - lacks)
    return known


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
