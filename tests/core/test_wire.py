"""The golden files of tests/core/wire.test.js equal what the server writes today.

``python -m tests.core.test_wire`` writes them anew.
"""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from app.engine.reply_formats import Dtype, trace_reply
from model.adapters.requests.request import Request
from model.adapters.requests.trace import Output, Trace, candidates
from model.text.tokens import Token
from model.trace.tensor_tap import HEAD, KEY, QUERY, RANK, NamedTensor
from tests.serving.slow import Slow

GOLDEN = Path(__file__).parent / "golden"


def golden_trace(names: tuple[str, ...] | None = None) -> Trace:
    """Return a trace with every dtype, signed zeros, extremes and non-finite numbers."""
    tokens = tuple(Token(text, i, i, i + 1, special=i == 0) for i, text in enumerate("<猫 ’"))
    self_attention, ranked = {QUERY: "source", KEY: "source"}, {QUERY: "target"}
    weights = torch.linspace(0, 1, 32).reshape(2, 4, 4)
    odd = torch.tensor([[1e-38, -3.25, torch.inf, torch.nan]] * 4)
    tensors = {
        "encoder.0.self.weights": NamedTensor((HEAD, QUERY, KEY), self_attention, weights),
        "encoder.0.self.mask": NamedTensor((QUERY, KEY), self_attention, torch.eye(4).bool()),
        "encoder.0.self.scores": NamedTensor((QUERY, KEY), self_attention, odd),
        "decoder.candidates": NamedTensor((QUERY, RANK), ranked, torch.arange(12).reshape(4, 3)),
    }
    chosen = {name: tensors[name] for name in names or tensors}
    output = Output("猫", tokens[1:2], (-0.5,), (3,), -0.5, finished=False)
    texts = {"source": tokens, "target": tokens[:1]}
    pieces = {id_: Token("a", id_, 0, 0, special=False) for id_ in candidates(chosen)}
    return Trace(Slow.info, Request(""), texts, chosen, output, "zh-en", pieces=pieces)


def files() -> dict[str, bytes]:
    """Return every golden file, as the server writes it."""
    reply = trace_reply(golden_trace(), "id", "en-zh")
    weights = golden_trace(("encoder.0.self.weights",))
    small: tuple[Dtype, ...] = ("float16", "uint8")
    return {
        "trace.json": reply.json(),
        "trace.safetensors": reply.safetensors(share={"id": "abc"}),
    } | {
        f"{dtype}.safetensors": trace_reply(weights, "id", "en-zh", dtype).safetensors()
        for dtype in small
    }


@pytest.mark.parametrize(
    "name", ["trace.json", *(f"{n}.safetensors" for n in ("trace", "float16", "uint8"))]
)
def test_golden_files_are_what_the_server_writes(name: str) -> None:
    assert content((GOLDEN / name).read_bytes()) == content(files()[name])


def content(file: bytes) -> object:
    """Return the content of a file, since safetensors does not order its metadata."""
    if file.startswith(b"{"):
        return file
    end = 8 + int.from_bytes(file[:8], "little")
    return json.loads(file[8:end]), file[end:]


def test_golden_trace_has_every_dtype_that_travels() -> None:
    arrays = trace_reply(golden_trace(), "id", "en-zh").arrays.values()
    assert {array.dtype for array in arrays} == {np.dtype(d) for d in ("f4", "?", "i4")}


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for golden, data in files().items():
        (GOLDEN / golden).write_bytes(data)
