"""Conversion of shares written by earlier versions."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from model.adapters.encoder_decoder_info import attentions
from model.adapters.model_info import CAPABILITIES


def upgraded(model: Mapping[str, Any]) -> dict[str, Any]:
    """Convert the description of a share's model to that of today's `GET /api/models`.

    Before the table of attentions existed, every model was an encoder–decoder with all
    capabilities; before that, a single aligning head was given, by the rows that write.
    """
    known = dict(model)
    aligner = known.pop("aligner", None)
    if aligner:
        known["aligners"] = [{**aligner, "rows": "writes"}]
    if "attentions" not in known:
        layers, heads = known["layers"], known["heads"]
        table = attentions(layers["encoder"], layers["decoder"], heads["encoder"])
        known["attentions"] = [asdict(one) for one in table]
        known["texts"] = ["source", "target"]
        lacks = set() if known.get("examples") else {"learning"}
        known["capabilities"] = sorted(CAPABILITIES.keys() - lacks)
    return known
