"""The golden traces against NumPy: the files of earlier commits are correct, not only unchanged."""

import json
import re
from typing import Any

import numpy as np
import pytest
import zstandard
from safetensors.numpy import load_file

from app.engine.reply_formats import Reply
from tests.golden.agree import essence
from tests.golden.look import BUNDLE, GOLDEN
from tests.model.numpy_reference import Array, NumpyTransformer, log_softmax, score, softmax

REQUESTS: dict[str, dict[str, Any]] = json.loads((GOLDEN / "traces.json").read_text())
NUMBERED = sorted(path.name.partition(".")[0] for path in (GOLDEN / "traces").glob("*.zst"))
NEAR = 5e-5
OVER_SOURCE = re.compile(r"(encoder\.\d\.self|decoder\.\d\.cross)\.mask")
# Tested elsewhere: gradients by differences (test_inside), parts of a logit by their sum (below).
ELSEWHERE = ("inside.relevance.", "inside.logit.")


def golden(name: str) -> Reply:
    packed = (GOLDEN / f"traces/{name}.safetensors.zst").read_bytes()
    return Reply.parse(zstandard.decompress(packed))


class Changes:
    """A second implementation of the interventions of `changed`."""

    def __init__(self) -> None:
        self.means = load_file(BUNDLE / "means.safetensors")

    def __call__(self, name: str, value: Array) -> Array:
        value = value.copy()
        if name == "encoder.1.self.weights":  # head 2: zero
            value[2] = 0
        elif name == "encoder.0.self.mix":  # head 5: its mean
            value[5] = self.means[name][5]
        elif name == "decoder.1.cross.weights":  # head 3: query 2 looks at key 1 by half
            others = np.arange(value.shape[-1]) != 1
            value[3, 2, others] *= 0.5 / value[3, 2, others].sum()
            value[3, 2, 1] = 0.5
        elif OVER_SOURCE.fullmatch(name):
            value[:, 2] = False  # nobody looks at source token 2
        return value


@pytest.fixture(scope="module")
def witness() -> NumpyTransformer:
    return NumpyTransformer(BUNDLE)


def witnessed(witness: NumpyTransformer, name: str, document: dict[str, Any]) -> dict[str, Array]:
    """Run a golden document in NumPy, with the quantities derived from it."""
    tokens = document["tokens"]
    source, target = ([token["id"] for token in tokens[text]] for text in ("source", "target"))
    real = [sum(token["text"] != "<pad>" for token in one) for one in tokens.values()]
    if name == "changed":
        return witness.run(source, target, *real, change=Changes())
    return witness.run(source, target, *real)


def lens(witness: NumpyTransformer, run: dict[str, Array], written: list[int]) -> dict[str, Array]:
    """Apply the output matrix to each decoder layer's output."""
    layers = range(witness.config["decoder_layers"])
    streams = np.stack([run[f"decoder.{layer}.ffn.norm"] for layer in layers])
    likely = softmax(streams @ witness.weights["embedding.weight"].T)  # (L, T, V)
    own = likely[:, range(len(written)), written]
    above = likely[:, : len(written)] > own[..., None]
    return {
        "inside.lens.probabilities": -np.sort(-likely, axis=-1)[..., :10],
        "inside.lens.candidates": np.argsort(-likely, axis=-1)[..., :10],
        "inside.lens.written": own,
        "inside.lens.rank": 1 + above.sum(axis=-1),
        "inside.logit.total": run["decoder.logits"][range(len(written)), written],
    }


def neighbours(witness: NumpyTransformer, source: list[int]) -> dict[str, Array]:
    """Return the ten other rows of the embedding table that point most like those of the source."""
    table = witness.weights["embedding.weight"]
    unit = table / np.linalg.norm(table, axis=-1, keepdims=True)
    cosines = unit[source] @ unit.T
    cosines[range(len(source)), source] = -np.inf
    nearest = np.argsort(-cosines, axis=-1)[:, :10]
    return {
        "inside.nearest.candidates": nearest,
        "inside.nearest.cosines": np.take_along_axis(cosines, nearest, axis=-1),
    }


def step(array: Array) -> Array:
    """Return the tolerance of a number: the rounding of its type, at least `NEAR`."""
    if array.dtype == np.float16:
        return np.asarray(NEAR + np.abs(array.astype(float)) * 2.0**-11)
    return np.full(array.shape, NEAR + (0.5 if array.dtype == np.uint8 else 0))


@pytest.mark.parametrize("name", NUMBERED)
def test_a_golden_trace_is_right(witness: NumpyTransformer, name: str) -> None:
    then = golden(name)
    run = witnessed(witness, name, then.document)
    written = [token["id"] for token in then.document["output"]["tokens"]]
    likely = softmax(run["decoder.logits"])
    run["decoder.probabilities"] = -np.sort(-likely, axis=-1)[:, :10]
    run["decoder.candidates"] = np.argsort(-likely, axis=-1)[:, :10]
    run |= lens(witness, run, written)
    run |= neighbours(witness, [token["id"] for token in then.document["tokens"]["source"]])
    for tensor, array in then.arrays.items():
        if tensor in run or not tensor.startswith(ELSEWHERE):
            scaled = run[tensor] * (255 if array.dtype == np.uint8 else 1)
            off = np.abs(essence(tensor, array) - essence(tensor, scaled))
            assert (off <= step(array)).all(), (tensor, off.max())


@pytest.mark.parametrize("name", [*NUMBERED, "names"])
def test_a_golden_output_is_right(witness: NumpyTransformer, name: str) -> None:
    if name == "names":
        document = json.loads((GOLDEN / "traces/names.json").read_text())
    else:
        document = golden(name).document
    output = document["output"]
    written = [token["id"] for token in output["tokens"]]
    logits = witnessed(witness, name, document)["decoder.logits"][: len(written)]
    logprobs = log_softmax(logits)[range(len(written)), written]
    np.testing.assert_allclose(output["logprobs"], logprobs, rtol=0, atol=NEAR)
    own = logits[range(len(written)), written]
    assert output["ranks"] == (1 + (logits > own[:, None]).sum(axis=-1)).tolist()
    decode = REQUESTS[name].get("decode", {})
    expected = score(logprobs, decode.get("length_penalty", 0.6))
    assert output["score"] == pytest.approx(expected, abs=NEAR * len(written))
    if "target" not in REQUESTS[name] and decode.get("method") != "beam":
        drawn_from = decode.get("top_k", 1)  # greedy: the first
        assert max(output["ranks"]) <= drawn_from


def test_the_parts_of_a_golden_logit_are_all_of_it(witness: NumpyTransformer) -> None:
    then = golden("inside")
    written = len(then.document["output"]["tokens"])
    parts = [
        array.sum(axis=tuple(range(array.ndim - 1)))[:written]
        for name, array in then.arrays.items()
        if name.startswith("inside.logit.") and not name.endswith(".total")
    ]
    assert len(parts) == 7
    logits = witnessed(witness, "inside", then.document)["decoder.logits"]
    own = logits[range(written), [token["id"] for token in then.document["output"]["tokens"]]]
    np.testing.assert_allclose(sum(parts), own, rtol=0, atol=NEAR)
