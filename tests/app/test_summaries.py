"""Summaries of heads: in both formats, from exact weights, part of the request's identity."""

from typing import Any

import httpx
import numpy as np
import pytest

from app.engine.catalog import Catalog
from app.engine.wire import Reply

SENTENCE = "The cat sat on the mat."
OCTETS = {"Accept": "application/octet-stream"}
ASKED = {
    "source": SENTENCE,
    "target": "猫坐在垫子上。",
    "summarise": ["encoder.*.self", "*.1.cross"],
}


async def ask(client: httpx.AsyncClient, **more: object) -> dict[str, dict[str, list[Any]]]:
    response = await client.post("/api/trace", json={**ASKED, **more})
    assert response.status_code == 200, response.text
    summaries: dict[str, dict[str, list[Any]]] = response.json()["summaries"]
    return summaries


async def test_summaries_are_of_the_requested_attentions(
    client: httpx.AsyncClient, catalog: Catalog
) -> None:
    info = catalog["en-zh"].info
    said = await ask(client, select=[])
    layers = range(info.layers["encoder"])
    assert list(said) == [*(f"encoder.{layer}.self" for layer in layers), "decoder.1.cross"]
    for place, summary in said.items():
        assert ("alignment" in summary) == place.endswith("cross")
        assert ("distance" in summary) == place.endswith("self")
        assert {len(measure) for measure in summary.values()} == {info.heads["encoder"]}


async def test_no_summaries_by_default(client: httpx.AsyncClient) -> None:
    response = await client.post("/api/trace", json={"source": "hello", "select": []})
    assert "summaries" not in response.json()


async def test_numbers_follow_from_the_weights(client: httpx.AsyncClient) -> None:
    name = "encoder.0.self.weights"
    response = await client.post("/api/trace", json={**ASKED, "select": [name]}, headers=OCTETS)
    reply = Reply.parse(response.content)
    said, weights = reply.document["summaries"]["encoder.0.self"], reply.arrays[name]
    count = weights.shape[-1]
    entropy = -(weights * np.log(np.maximum(weights, 1e-30))).sum(-1).mean(-1)
    offset = np.abs(np.subtract.outer(np.arange(count), np.arange(count)))
    np.testing.assert_allclose(said["entropy"], entropy, atol=1e-5)
    np.testing.assert_allclose(said["distance"], (weights * offset).sum(-1).mean(-1), atol=1e-4)
    np.testing.assert_allclose(said["first"], weights[..., 0].mean(-1), atol=1e-6)
    np.testing.assert_allclose(said["special"], weights[..., [0, -1]].sum(-1).mean(-1), atol=1e-6)


async def test_both_forms_and_all_dtypes_say_the_same(client: httpx.AsyncClient) -> None:
    exact = await ask(client, select=[])
    rough = {**ASKED, "dtype": "uint8"}
    assert (await client.post("/api/trace", json=rough)).json()["summaries"] == exact
    response = await client.post("/api/trace", json=rough, headers=OCTETS)
    assert Reply.parse(response.content).document["summaries"] == exact


async def test_they_are_part_of_the_id(client: httpx.AsyncClient) -> None:
    async def identity(**more: object) -> str:
        request = {**ASKED, "select": [], **more}
        return str((await client.post("/api/trace", json=request)).json()["id"])

    assert await identity() == await identity()
    assert await identity() != await identity(summarise=["encoder.*.self"])
    assert await identity(summarise=[]) != await identity()


@pytest.mark.parametrize(
    ("summarise", "kind", "field"),
    [
        (["encoder.*.self", "nowhere"], "unknown-place", "summarise[1]"),
        (["encoder.0.ffn"], "unknown-place", "summarise[0]"),
        (["encoder.0.self.weights"], "unknown-place", "summarise[0]"),
        (["*"] * 257, "too-many-patterns", "summarise"),
        (["a b"], "unknown-value", "summarise[0]"),
        ("*", "wrong-type", "summarise"),
    ],
)
async def test_bad_patterns_are_named(
    client: httpx.AsyncClient, summarise: object, kind: str, field: str
) -> None:
    response = await client.post("/api/trace", json={"source": "hello", "summarise": summarise})
    assert response.status_code == 422
    assert response.json()["type"] == f"urn:headlight:{kind}"
    assert response.json()["field"] == field


async def test_an_ablated_head_has_no_pattern(client: httpx.AsyncClient) -> None:
    change = {"at": "encoder.0.self", "head": 1, "do": "zero"}
    said = (await ask(client, select=[], interventions=[change]))["encoder.0.self"]
    assert said["pattern"][1] == "none"
    assert said["entropy"][1] is None
    assert said["entropy"][0] is not None


async def test_a_share_stores_all_summaries(client: httpx.AsyncClient) -> None:
    state = {"source": SENTENCE, "target": "猫坐着。"}
    made = (await client.post("/api/shares", json={"state": state})).json()
    kept = (await client.get(f"/api/shares/{made['id']}")).json()["trace"]
    asked = {**state, "select": [], "summarise": ["*"]}
    live = (await client.post("/api/trace", json=asked)).json()
    assert kept["summaries"] == live["summaries"]
    attentions = {name.removesuffix(".weights") for name in kept["tensors"] if "weights" in name}
    assert set(kept["summaries"]) == attentions
