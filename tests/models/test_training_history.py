"""Training history over HTTP: compared with the file in the bundle and with a trace."""

from typing import Any

import httpx
import numpy as np
import pytest
import safetensors.numpy

from app.engine.model_catalog import Catalog
from app.engine.reply_formats import Reply
from model.bundle.measurements import LEARNING, Learning, load_learning
from model.bundle.weights import CHECKPOINTS
from tests.serving.fixtures import Serving
from tests.serving.slow import Slow

PATH = "/api/models/en-zh/learning"
BINARY = {"Accept": "application/octet-stream"}


@pytest.fixture(scope="module")
def kept() -> Learning:
    """The history in the shipped bundle."""
    return load_learning(CHECKPOINTS / "en-zh" / LEARNING)


async def read(client: httpx.AsyncClient, path: str) -> dict[str, Any]:
    response = await client.get(path)
    assert response.is_success, response.text
    document: dict[str, Any] = response.json()
    return document


async def test_overview(client: httpx.AsyncClient, kept: Learning, catalog: Catalog) -> None:
    told = await read(client, PATH)
    assert (told["model"], told["digest"]) == ("en-zh", catalog["en-zh"].info.digest)
    assert [one["step"] for one in told["snapshots"]] == [one.step for one in kept.snapshots]
    assert [one["bleu"] for one in told["snapshots"]] == [one.bleu for one in kept.snapshots]
    assert [one["source"] for one in told["examples"]] == [one.source for one in kept.examples]
    (model,) = (await client.get("/api/models")).json()
    assert model["examples"] == len(told["examples"])


async def test_an_example_is_the_file_in_both_forms(
    client: httpx.AsyncClient, kept: Learning
) -> None:
    for number, example in enumerate(kept.examples):
        told = await read(client, f"{PATH}/{number}")
        file = (await client.get(f"{PATH}/{number}", headers=BINARY)).content
        about, arrays = Reply.metadata(file)["trace"], safetensors.numpy.load(file)
        tensors = told.pop("tensors")
        assert about.pop("tensors") == {
            name: {key: value for key, value in tensor.items() if key != "data"}
            for name, tensor in tensors.items()
        }
        assert told == about
        assert (told["example"], told["texts"]) == (number, example.texts)
        for name, weights in kept.of(number).items():
            np.testing.assert_array_equal(arrays[name], weights.numpy())
            assert tensors[name]["data"] == weights.tolist()
            assert (tensors[name]["dims"], tensors[name]["dtype"]) == (
                ["head", "query", "key"],
                "uint8",
            )
        assert {name for name in arrays if not name.endswith(".mask")} == set(kept.of(number))


async def test_the_last_step_is_the_model_that_is_served(client: httpx.AsyncClient) -> None:
    told = await read(client, f"{PATH}/0")
    source, text = told["examples"][0]["source"], told["output"]["text"]
    request = {"source": source, "target": text, "select": ["*.weights", "*.mask"]}
    trace = (await client.post("/api/trace", json=request)).json()
    assert told["tokens"] == trace["tokens"]
    assert told["output"]["tokens"] == trace["output"]["tokens"]
    assert told["direction"] == trace["direction"]
    step = told["snapshots"][-1]["step"]
    for name, tensor in trace["tensors"].items():
        mask = name.endswith(".mask")
        found = told["tensors"][name if mask else f"{step}.{name}"]
        assert (found["dims"], found["over"]) == (tensor["dims"], tensor["over"])
        if mask:
            assert found["data"] == tensor["data"]
        else:
            exact = np.array(tensor["data"])
            np.testing.assert_allclose(np.array(found["data"]) / 255, exact, atol=0.5 / 255 + 1e-5)


def test_an_unchanged_history_is_304(reader: httpx.Client) -> None:
    for path in (PATH, f"{PATH}/0"):
        first = reader.get(path)
        assert first.headers["cache-control"] == "no-cache"
        again = reader.get(path, headers={"If-None-Match": first.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
    binary = reader.get(f"{PATH}/0", headers=BINARY)
    assert binary.headers["etag"] != first.headers["etag"]
    assert "Accept" in binary.headers["vary"]


async def test_unknown_examples_are_refused(client: httpx.AsyncClient, serving: Serving) -> None:
    count = len((await read(client, PATH))["examples"])
    for path, status, kind, field in (
        ("/api/models/nobody/learning", 404, "unknown-model", "id"),
        ("/api/models/nobody/learning/0", 404, "unknown-model", "id"),
        (f"{PATH}/{count}", 422, "out-of-range", "example"),
        (f"{PATH}/-1", 422, "out-of-range", "example"),
        (f"{PATH}/one", 422, "wrong-type", "example"),
    ):
        response = await client.get(path)
        problem = response.json()
        assert (response.status_code, problem["type"]) == (status, f"urn:headlight:{kind}"), path
        assert problem["field"] == field
    assert f"from 0 to {count - 1}" in (await client.get(f"{PATH}/{count}")).json()["detail"]
    assert (await client.get(f"{PATH}/0", headers={"Accept": "image/png"})).status_code == 406
    async with serving(catalog=Catalog.of({"slow": Slow()})) as other:
        for path in ("/api/models/slow/learning", "/api/models/slow/learning/0"):
            response = await other.get(path)
            assert response.status_code == 404
            assert response.json()["type"] == "urn:headlight:no-learning"
        assert (await read(other, "/api/models"))[0]["examples"] == 0  # type: ignore[index]


async def test_a_share_keeps_an_example(client: httpx.AsyncClient) -> None:
    body = {"state": {"source": "Hello."}, "asks": [{"learning": {"example": 1}}]}
    share = (await client.post("/api/shares", json=body)).json()
    path = f"/api/shares/{share['id']}"
    assert (await read(client, path))["asks"] == body["asks"]
    assert await read(client, f"{path}/asks/0") == await read(client, f"{PATH}/1")

    wrong = {"state": body["state"], "asks": [{"learning": {"example": 99}}]}
    problem = (await client.post("/api/shares", json=wrong)).json()
    assert problem["field"] == "asks[0].learning.example"
    assert problem["detail"].startswith("asks[0].learning.example must be from 0 to")
