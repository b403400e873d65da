"""POST /api/trace replies as documented, in both formats, with consistent numbers."""

from typing import Any

import httpx
import numpy as np
import pytest

from app.engine.model_catalog import Catalog
from app.engine.reply_formats import Reply

SENTENCE = "The cat sat on the mat."
OCTETS = {"Accept": "application/octet-stream"}


async def ask(client: httpx.AsyncClient, **request: object) -> dict[str, Any]:
    response = await client.post("/api/trace", json=request)
    assert response.status_code == 200, response.text
    document: dict[str, Any] = response.json()
    return document


def test_the_document_has_the_documented_form(reader: httpx.Client, catalog: Catalog) -> None:
    response = reader.post("/api/trace", json={"source": SENTENCE})
    document = response.json()
    info = catalog["en-zh"].info
    assert response.headers["content-type"] == "application/json"
    assert response.headers["cache-control"] == "no-store"
    assert list(document) == ["id", "model", "direction", "tokens", "output", "tensors"]
    assert (document["model"], document["direction"]) == ("en-zh", "en-zh")
    assert set(document["output"]) == {
        "text",
        "tokens",
        "logprobs",
        "ranks",
        "score",
        "finished",
        "continues",
        "rows",
    }
    blocks = info.layers["encoder"] + 2 * info.layers["decoder"]
    assert len(document["tensors"]) == blocks
    cross = document["tensors"]["decoder.0.cross.weights"]
    source, target = (len(document["tokens"][side]) for side in ("source", "target"))
    assert cross["dims"] == ["head", "query", "key"]
    assert cross["over"] == {"query": "target", "key": "source"}
    assert cross["shape"] == [info.heads["decoder"], target, source]
    assert cross["dtype"] == "float32"
    weights = np.array(cross["data"])
    assert list(weights.shape) == cross["shape"]
    np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-5)


def test_spans_tile_the_sentence(reader: httpx.Client) -> None:
    document = reader.post("/api/trace", json={"source": "ＡＢ c，猫😀"}).json()
    pieces = [token for token in document["tokens"]["source"] if not token["special"]]
    assert pieces[0]["start"] == 0
    assert pieces[-1]["end"] == 7


def test_both_formats_have_the_same_content(reader: httpx.Client) -> None:
    request = {"source": SENTENCE, "target": "猫坐着。", "select": ["*.mask", "*.q", "decoder.c*"]}
    document = reader.post("/api/trace", json=request).json()
    response = reader.post("/api/trace", json=request, headers=OCTETS)
    assert response.headers["content-type"] == "application/octet-stream"
    reply = Reply.parse(response.content)
    for name, tensor in document["tensors"].items():
        np.testing.assert_allclose(np.array(tensor.pop("data")), reply.arrays[name], atol=1e-6)
        assert reply.arrays[name].dtype == tensor["dtype"]
    assert reply.document == document
    dtypes = {tensor["dtype"] for tensor in document["tensors"].values()}
    assert dtypes == {"bool", "float32", "int32"}


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        ("*/*", "application/json"),
        ("application/json", "application/json"),
        ("text/html, application/*;q=0.5", "application/json"),
        ("application/octet-stream, application/json;q=0.9", "application/octet-stream"),
        ("application/octet-stream;q=0.1, application/json;q=0.9", "application/json"),
    ],
)
def test_accept_chooses(reader: httpx.Client, accept: str, form: str) -> None:
    request = {"source": "hello", "select": []}
    response = reader.post("/api/trace", json=request, headers={"Accept": accept})
    assert response.headers["content-type"] == form
    assert "accept" in response.headers["vary"].lower()


def test_unavailable_formats_are_406(reader: httpx.Client) -> None:
    request = {"source": "hello", "select": []}
    response = reader.post("/api/trace", json=request, headers={"Accept": "image/png"})
    assert response.status_code == 406
    assert response.json()["type"] == "urn:headlight:not-acceptable"


async def test_selection(client: httpx.AsyncClient, catalog: Catalog) -> None:
    none = await ask(client, source="hello", select=[])
    assert none["tensors"] == {}
    response = await client.post(
        "/api/trace", json={"source": "hello", "target": "好", "select": ["*"]}, headers=OCTETS
    )
    names = Reply.parse(response.content).arrays.keys()
    assert "decoder.logits" not in names
    assert {"source.position", "encoder.0.ffn.hidden", "decoder.0.cross.scores"} <= names
    asked = await ask(client, source="hello", target="好", select=["decoder.logits"])
    shape = asked["tensors"]["decoder.logits"]["shape"]
    assert shape[-1] == catalog["en-zh"].info.vocabulary


def test_dtypes(reader: httpx.Client) -> None:
    request = {"source": SENTENCE, "target": "猫", "select": ["encoder.0.self.weights"]}
    arrays = {}
    for dtype in ("float32", "float16", "uint8"):
        response = reader.post("/api/trace", json={**request, "dtype": dtype}, headers=OCTETS)
        arrays[dtype] = Reply.parse(response.content).arrays["encoder.0.self.weights"]
        assert arrays[dtype].dtype == dtype
    exact = arrays["float32"]
    np.testing.assert_allclose(arrays["float16"], exact, atol=1e-3)
    np.testing.assert_array_equal(arrays["uint8"], np.rint(exact * 255))


def test_masks_are_sent_and_infinities_are_not(reader: httpx.Client) -> None:
    request = {"source": SENTENCE, "target": "猫", "select": ["decoder.*"], "pad_to": 16}
    text = reader.post("/api/trace", json=request).text
    assert "Infinity" not in text
    assert "NaN" not in text


async def test_the_id_depends_only_on_request_and_model(client: httpx.AsyncClient) -> None:
    async def identity(**request: object) -> object:
        return (await ask(client, **{"source": "hello", "target": "好", "select": [], **request}))[
            "id"
        ]

    same = await identity()
    assert same == await identity(model="en-zh", decode={}, interventions=[])
    others = [
        await identity(target="你好"),
        await identity(select=["*.weights"]),
        await identity(dtype="float16"),
        await identity(interventions=[{"at": "encoder.0.self", "do": "zero"}]),
    ]
    assert len({same, *others}) == 5


async def test_interventions_change_what_follows(client: httpx.AsyncClient) -> None:
    request = {"source": SENTENCE, "target": "猫", "select": ["encoder.0.self.weights"]}
    change = {"at": "encoder.0.self", "head": 1, "do": "zero"}
    document = await ask(client, **request, interventions=[change])
    weights = np.array(document["tensors"]["encoder.0.self.weights"]["data"])
    assert not weights[1].any()
    assert weights[0].any()


async def test_positions_are_dropped_on_one_side(client: httpx.AsyncClient) -> None:
    request = {"source": "The cat sat.", "target": "猫坐着。", "select": ["*.position", "*.input"]}
    change = {"at": "target.position", "do": "drop"}
    document = await ask(client, **request, interventions=[change])
    tensors = {name: np.array(tensor["data"]) for name, tensor in document["tensors"].items()}
    assert tensors["source.position"].any()
    assert not tensors["target.position"].any()


async def test_beam_is_taken(client: httpx.AsyncClient) -> None:
    decode = {"method": "beam", "beam": 2, "max_tokens": 5}
    document = await ask(client, source="hello", decode=decode, select=[])
    assert 1 <= len(document["output"]["tokens"]) <= 5
