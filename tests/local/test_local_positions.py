"""Tables of positional encodings that a page computes are the server's."""

import json
from pathlib import Path

import numpy as np

from app.site import site_description
from app.traces.service import positions_table
from model.adapters.encoder_decoder.encoder_decoder_adapter import load
from tests.local.exported_model import answers

SIZES = [(1, 1), (12, 256), (24, 64), (7, 9), (512, 33), (3, 512)]
REFUSED = [("length", 513, 8), ("d_model", 8, 513), ("length", 0, 8)]


def test_tables_are_those_of_the_server(exported: Path) -> None:
    sizes = [*SIZES, *((length, width) for _, length, width in REFUSED)]
    replies = answers(
        exported,
        [
            {"positions": {"variant": "sinusoidal", "length": length, "d_model": width}}
            for length, width in sizes
        ],
    )
    for (length, width), reply in zip(SIZES, replies, strict=False):
        theirs = json.loads(positions_table("sinusoidal", length, width, 512))
        for name, shape in (("positions", (length, width)), ("similarity", (length, length))):
            mine = np.array(reply[name]).reshape(shape)
            np.testing.assert_allclose(mine, np.array(theirs[name]), atol=1e-6, rtol=0)
    for (field, _, _), refused in zip(REFUSED, replies[len(SIZES) :], strict=True):
        assert refused["problem"] == "out-of-range"
        assert refused["detail"] == f"{field} must be from 1 to 512"


def test_a_learned_table_is_not_offered() -> None:
    offered = {"reverse": True, "reverse-rotary": True, "reverse-learned": False}
    for name, has_table in offered.items():
        capabilities = site_description(load(f"zoo/{name}", "cpu").info)["capabilities"]
        assert ("positions" in capabilities) == has_table
