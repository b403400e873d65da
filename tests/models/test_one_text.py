"""Models of one text over HTTP: the server uses only their own descriptions."""

import io
import json
from collections.abc import AsyncIterator
from typing import Any, Literal

import httpx
import numpy as np
import pytest
from PIL import Image

from app.engine.model_catalog import Catalog
from app.engine.reply_formats import Reply
from app.traces.replies import TraceReply
from app.traces.schemas import DecodeLine
from headlight import show
from model.adapters.requests.request import Decode
from tests.model.decoder_only import OneText
from tests.serving.fixtures import Serving
from tests.serving.problem import hold

OCTETS = {"Accept": "application/octet-stream"}
ASKED = {"text": "The cat sat", "select": ["*"], "summarise": ["*"], "pad_to": 20}
KINDS: list[Literal["decoder", "encoder"]] = ["decoder", "encoder"]


@pytest.fixture(scope="module")
def models() -> dict[str, OneText]:
    return {kind: OneText(kind) for kind in KINDS}


@pytest.fixture
async def client(
    serving: Serving, catalog: Catalog, models: dict[str, OneText]
) -> AsyncIterator[httpx.AsyncClient]:
    async with serving(catalog=Catalog.of({**catalog, **models})) as client:
        yield client


@pytest.mark.parametrize("kind", KINDS)
async def test_it_is_described(
    client: httpx.AsyncClient, models: dict[str, OneText], kind: str
) -> None:
    listed = (await client.get("/api/models")).json()
    (found,) = (one for one in listed if one["id"] == kind)
    assert found["kind"] == kind
    assert found["texts"] == ["text"]
    assert found["capabilities"] == sorted(models[kind].info.capabilities)
    assert found["layers"] == {kind: 2}
    mask = {"decoder": "causal", "encoder": "padding"}[kind]
    assert [(one["query"], one["key"], one["mask"]) for one in found["attentions"]] == [
        ("text", "text", mask)
    ] * 2


@pytest.mark.parametrize("kind", KINDS)
async def test_both_forms_hold_what_python_holds(
    client: httpx.AsyncClient, models: dict[str, OneText], kind: str
) -> None:
    asked = ASKED | {"model": kind}
    trace = models[kind].trace("The cat sat", select="*", summarise="*", pad_to=20)
    document = (await client.post("/api/trace", json=asked)).json()
    TraceReply.model_validate(document)
    assert not {"direction", "output"} & document.keys()
    assert list(document["tokens"]) == ["text"]
    assert [one["id"] for one in document["tokens"]["text"]] == [
        token.id for token in trace.texts["text"]
    ]
    file = Reply.parse((await client.post("/api/trace", json=asked, headers=OCTETS)).content)
    assert file.document["id"] == document["id"]
    assert file.arrays.keys() == document["tensors"].keys() == set(trace)
    for name, tensor in trace.tensors.items():
        told = document["tensors"][name]
        assert (told["over"], told["dims"]) == (dict(tensor.over), list(tensor.dims))
        for numbers in (np.array(told["data"]), file.arrays[name]):
            np.testing.assert_allclose(numbers, tensor.value.numpy(), atol=1e-4)
    assert document["summaries"].keys() == set(models[kind].info.places)
    assert ("pieces" in document) == (kind == "decoder")


async def test_its_continuation_is_streamed(
    client: httpx.AsyncClient, models: dict[str, OneText]
) -> None:
    asked = {"text": "The cat", "model": "decoder", "decode": {"max_tokens": 4}}
    response = await client.post("/api/decode", json=asked)
    lines: list[dict[str, Any]] = [json.loads(line) for line in response.text.splitlines()]
    for line in lines:
        DecodeLine.model_validate(line)
    start, *_, end = lines
    read = models["decoder"].trace("The cat").texts["text"]
    assert [one["id"] for one in start["start"]["tokens"]["text"]] == [one.id for one in read]
    assert "direction" not in start["start"]
    *_, last = models["decoder"].decode("The cat", decode=Decode(max_tokens=4)).steps
    written = [one["id"] for one in end["end"]["output"]["tokens"]]
    assert tuple(written) == last.written[0].ids


@pytest.mark.parametrize(
    ("path", "body", "kind", "field"),
    [
        ("trace", {"source": "The cat", "model": "decoder"}, "missing", "text"),
        ("trace", {"text": "The cat"}, "missing", "source"),
        ("trace", {"text": "The cat", "source": "The cat"}, "unknown-field", None),
        ("trace", {"text": "The cat", "target": "猫", "model": "decoder"}, "unknown-field", None),
        ("trace", {"text": 3, "model": "decoder"}, "wrong-type", "text"),
        ("trace", {"text": "", "model": "decoder"}, "empty-text", "text"),
        (
            "trace",
            {"text": "A", "model": "decoder", "select": ["inside.logit.self"]},
            "unsupported",
            "select[0]",
        ),
        ("decode", {"text": "The cat", "model": "encoder"}, "unsupported", "model"),
        ("sweep", {"text": "The cat", "model": "decoder"}, "unsupported", "model"),
        (
            "shares",
            {"state": {"text": "A", "model": "decoder", "pad_to": 1000}},
            "out-of-range",
            "state.pad_to",
        ),
        ("shares", {"state": {"text": 1}}, "wrong-type", "state.text"),
    ],
)
async def test_invalid_requests_are_named(
    client: httpx.AsyncClient, path: str, body: dict[str, Any], kind: str, field: str | None
) -> None:
    hold(await client.post(f"/api/{path}", json=body), 422, kind, field)


async def test_its_parameters_are_its_own(client: httpx.AsyncClient) -> None:
    hold(await client.get("/api/models/decoder/parameters"), 422, "unsupported", "select")
    hold(await client.get("/api/models/decoder/learning"), 404, "no-learning", "id")


@pytest.mark.parametrize("kind", KINDS)
async def test_a_share_of_it_opens(
    client: httpx.AsyncClient, models: dict[str, OneText], kind: str
) -> None:
    state = {"text": "The cat sat", "model": kind, "layer": 1, "head": 2, "theme": "dark"}
    made = await client.post("/api/shares", json={"state": state})
    assert made.status_code == 201, made.text
    path = f"/api/shares/{made.json()['id']}"
    kept = (await client.get(path)).json()
    assert kept["state"] == state
    assert kept["model"]["attentions"][0]["query"] == "text"
    weights = models[kind].trace("The cat sat")[f"{kind}.1.self.weights"].value
    frozen = np.array(kept["trace"]["tensors"][f"{kind}.1.self.weights"]["data"])
    np.testing.assert_allclose(frozen, weights, atol=1e-5)
    picture = await client.get(f"/s/{made.json()['id']}/preview.png")
    assert Image.open(io.BytesIO(picture.content)).size == (1200, 630)
    page = await client.get(f"/s/{made.json()['id']}")
    assert "The cat sat" in page.text
    handout = await client.post("/api/handout", json={"state": state})
    assert handout.status_code == 200
    assert "<title>The cat sat" in handout.text


async def test_a_view_may_have_an_option_of_that_name(client: httpx.AsyncClient) -> None:
    state = {"source": "The cat sat", "text": "large"}
    made = await client.post("/api/shares", json={"state": state})
    assert made.status_code == 201, made.text
    assert (await client.get(f"/api/shares/{made.json()['id']}")).json()["state"] == state


def test_a_notebook_shows_it(models: dict[str, OneText]) -> None:
    assert b"<title>The cat sat" in show(models["decoder"], "The cat sat").html
