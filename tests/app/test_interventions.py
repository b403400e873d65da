"""Interventions over HTTP: their arguments, and the errors for invalid ones."""

from typing import Any

import httpx
import pytest

SENTENCE = {"source": "The cat sat.", "target": "猫坐着。"}


async def traced(client: httpx.AsyncClient, *made: dict[str, Any]) -> httpx.Response:
    return await client.post("/api/trace", json={**SENTENCE, "interventions": list(made)})


@pytest.mark.parametrize(
    "made",
    [
        {"at": "encoder.0.self", "head": 1, "do": "uniform"},
        {"at": "encoder.0.self", "head": 1, "do": "mean"},
        {"at": "encoder.0.self", "head": 1, "do": {"set": [1, 2, 0.5], "renormalise": True}},
        {"at": "decoder.0.self", "do": {"cut": [2, 1]}},
        {"at": "decoder.0.cross", "head": 0, "do": {"temperature": 2}},
        {"at": "encoder.0.self", "do": {"freeze": {"source": "A dog ran."}}},
        {"at": "source", "do": {"mask": 2}},
        {"at": "source.position", "do": {"shuffle": 3}},
        {"at": "encoder.0.ffn.residual", "do": "drop"},
    ],
    ids=lambda made: str(made["do"]),
)
async def test_every_effect_changes_what_is_seen(
    client: httpx.AsyncClient, made: dict[str, Any]
) -> None:
    plain, changed = (await traced(client)).json(), await traced(client, made)
    assert changed.status_code == 200, changed.text
    found = changed.json()
    assert found["id"] != plain["id"]
    assert found["output"]["logprobs"] != plain["output"]["logprobs"]


@pytest.mark.parametrize(
    ("do", "field"),
    [
        ("melt", "do"),
        ({}, "do"),
        (None, "do"),
        ({"melt": 1}, "do"),
        ({"cut": [1]}, "do.cut[1]"),
        ({"cut": ["1", 2]}, "do.cut[0]"),
        ({"cut": [1, 99]}, "do.cut[1]"),
        ({"cut": [-1, 0]}, "do.cut[0]"),
        ({"cut": 3}, "do.cut"),
        ({"cut": [0, 0], "also": 1}, "do"),
        ({"set": [0, 0, 7]}, "do.set[2]"),
        ({"set": [0, 0, 0.5], "renormalise": "yes"}, "do.renormalise"),
        ({"temperature": 0}, "do.temperature"),
        ({"temperature": 1e300}, "do.temperature"),
        ({"freeze": {"source": " "}}, "do.freeze.source"),
        ({"freeze": {"source": "a", "target": 3}}, "do.freeze.target"),
        ({"freeze": {}}, "do.freeze.source"),
    ],
    ids=str,
)
async def test_invalid_interventions_are_named(
    client: httpx.AsyncClient, do: object, field: str
) -> None:
    reply = await traced(client, {"at": "encoder.0.self", "do": do})
    assert reply.status_code == 422, reply.text
    assert reply.json()["field"] == f"interventions[0].{field}"
    assert "pydantic" not in reply.text
