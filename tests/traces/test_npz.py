"""Replies as NPZ files: the same numbers as other formats, and nothing pickled."""

import io
import json
from typing import Any

import httpx
import numpy as np
import pytest
from numpy.typing import NDArray

from app.engine.reply_formats import Reply

SENTENCE = {"source": "The cat sat on the mat.", "target": "猫坐在垫子上。", "select": ["*"]}
NPZ = {"Accept": "application/x-npz"}
BINARY = {"Accept": "application/octet-stream"}


def opened(file: bytes) -> dict[str, NDArray[Any]]:
    with np.load(io.BytesIO(file), allow_pickle=False) as arrays:
        return dict(arrays)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
async def test_the_arrays_are_those_of_the_other_form(
    client: httpx.AsyncClient, dtype: str
) -> None:
    body = {**SENTENCE, "dtype": dtype}
    reply = await client.post("/api/trace", json=body, headers=NPZ)
    assert reply.headers["content-type"] == "application/x-npz"
    arrays = opened(reply.content)
    other = Reply.parse((await client.post("/api/trace", json=body, headers=BINARY)).content)
    document = json.loads(str(arrays.pop("trace.json")))
    assert document["id"] == other.document["id"]
    assert document["tokens"] == other.document["tokens"]
    assert arrays.keys() == other.arrays.keys() == document["tensors"].keys()
    for name, array in arrays.items():
        assert array.dtype == other.arrays[name].dtype
        assert list(array.shape) == document["tensors"][name]["shape"]
        np.testing.assert_allclose(
            array.astype(float),
            other.arrays[name].astype(float),
            atol=1e-3 * (dtype != "float32") + 1e-5,
        )


def test_shares_and_parameters_are_available_as_npz(reader: httpx.Client) -> None:
    state = {"source": "The cat", "target": "猫"}
    made = reader.post("/api/shares", json={"state": state}).json()
    arrays = opened(reader.get(f"/api/shares/{made['id']}", headers=NPZ).content)
    assert json.loads(str(arrays["share.json"]))["state"] == state
    assert "decoder.0.cross.weights" in arrays
    reply = reader.get("/api/models/en-zh/parameters?select=encoder.0.self.W_q", headers=NPZ)
    assert opened(reply.content)["encoder.0.self.W_q"].shape == (256, 256)


def test_json_is_the_default_format(reader: httpx.Client) -> None:
    for accept in ("*/*", "application/*", "application/json, application/x-npz"):
        reply = reader.post("/api/trace", json=SENTENCE, headers={"Accept": accept})
        assert reply.headers["content-type"] == "application/json"
    reply = reader.post("/api/trace", json=SENTENCE, headers={"Accept": "text/csv"})
    assert reply.status_code == 406
