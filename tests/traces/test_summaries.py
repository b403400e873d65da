"""Summaries of heads: in both formats, from exact weights, part of the request's identity."""

from typing import Any

import httpx
import numpy as np
import pytest

from app.engine.model_catalog import Catalog
from app.engine.reply_formats import Reply

SENTENCE = "The cat sat on the mat."
OCTETS = {"Accept": "application/octet-stream"}
ASKED = {
    "source": SENTENCE,
    "target": "猫坐在垫子上。",
    "summarise": ["encoder.*.self", "*.1.cross"],
}


def ask(reader: httpx.Client, **more: object) -> dict[str, dict[str, list[Any]]]:
    response = reader.post("/api/trace", json={**ASKED, **more})
    assert response.status_code == 200, response.text
    summaries: dict[str, dict[str, list[Any]]] = response.json()["summaries"]
    return summaries


def test_summaries_are_of_the_requested_attentions(reader: httpx.Client, catalog: Catalog) -> None:
    info = catalog["en-zh"].info
    said = ask(reader, select=[])
    layers = range(info.layers["encoder"])
    assert list(said) == [*(f"encoder.{layer}.self" for layer in layers), "decoder.1.cross"]
    for place, summary in said.items():
        assert ("alignment" in summary) == place.endswith("cross")
        assert ("distance" in summary) == place.endswith("self")
        assert {len(measure) for measure in summary.values()} == {info.heads["encoder"]}


def test_no_summaries_by_default(reader: httpx.Client) -> None:
    response = reader.post("/api/trace", json={"source": "hello", "select": []})
    assert "summaries" not in response.json()


def test_numbers_follow_from_the_weights(reader: httpx.Client) -> None:
    name = "encoder.0.self.weights"
    response = reader.post("/api/trace", json={**ASKED, "select": [name]}, headers=OCTETS)
    reply = Reply.parse(response.content)
    said, weights = reply.document["summaries"]["encoder.0.self"], reply.arrays[name]
    count = weights.shape[-1]
    entropy = -(weights * np.log(np.maximum(weights, 1e-30))).sum(-1).mean(-1)
    offset = np.abs(np.subtract.outer(np.arange(count), np.arange(count)))
    np.testing.assert_allclose(said["entropy"], entropy, atol=1e-5)
    np.testing.assert_allclose(said["distance"], (weights * offset).sum(-1).mean(-1), atol=1e-4)
    np.testing.assert_allclose(said["first"], weights[..., 0].mean(-1), atol=1e-6)
    np.testing.assert_allclose(said["special"], weights[..., [0, -1]].sum(-1).mean(-1), atol=1e-6)


def test_both_forms_and_all_dtypes_say_the_same(reader: httpx.Client) -> None:
    exact = ask(reader, select=[])
    rough = {**ASKED, "dtype": "uint8"}
    assert reader.post("/api/trace", json=rough).json()["summaries"] == exact
    response = reader.post("/api/trace", json=rough, headers=OCTETS)
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
def test_bad_patterns_are_named(
    reader: httpx.Client, summarise: object, kind: str, field: str
) -> None:
    response = reader.post("/api/trace", json={"source": "hello", "summarise": summarise})
    assert response.status_code == 422
    assert response.json()["type"] == f"urn:headlight:{kind}"
    assert response.json()["field"] == field


def test_an_ablated_head_has_no_pattern(reader: httpx.Client) -> None:
    change = {"at": "encoder.0.self", "head": 1, "do": "zero"}
    said = ask(reader, select=[], interventions=[change])["encoder.0.self"]
    assert said["pattern"][1] == "none"
    assert said["entropy"][1] is None
    assert said["entropy"][0] is not None


def test_a_share_stores_all_summaries(reader: httpx.Client) -> None:
    state = {"source": SENTENCE, "target": "猫坐着。"}
    made = reader.post("/api/shares", json={"state": state}).json()
    kept = reader.get(f"/api/shares/{made['id']}").json()["trace"]
    asked = {**state, "select": [], "summarise": ["*"]}
    live = reader.post("/api/trace", json=asked).json()
    assert kept["summaries"] == live["summaries"]
    attentions = {name.removesuffix(".weights") for name in kept["tensors"] if "weights" in name}
    assert set(kept["summaries"]) == attentions
