"""Interventions over HTTP: their arguments, and the errors for invalid ones."""

from typing import Any

import httpx
import pytest

SENTENCE = {"source": "The cat sat.", "target": "猫坐着。"}


def traced(reader: httpx.Client, *made: dict[str, Any]) -> httpx.Response:
    return reader.post("/api/trace", json={**SENTENCE, "interventions": list(made)})


@pytest.mark.parametrize(
    "made",
    [
        {"at": "encoder.0.self", "head": 1, "do": "uniform"},
        {"at": "encoder.0.self", "head": 1, "do": "mean"},
        {"at": "encoder.0.self", "head": 1, "do": {"set": [1, 2, 0.5], "renormalise": True}},
        {"at": "decoder.0.self", "do": {"cut": [2, 1]}},
        {"at": "decoder.0.cross", "head": 0, "do": {"temperature": 2}},
        {"at": "encoder.0.self", "do": {"freeze": {"source": "A dog ran."}}},
        {"at": "encoder.0.self.mix", "head": 1, "do": {"patch": {"source": "The dog ran."}}},
        {
            "at": "decoder.1.ffn.norm",
            "do": {"patch": {"source": "A dog.", "target": "狗。", "rows": [[1, 0]]}},
        },
        {"at": "source", "do": {"mask": 2}},
        {"at": "source.position", "do": {"shuffle": 3}},
        {"at": "encoder.0.ffn.residual", "do": "drop"},
        {"at": "encoder.0.ffn.output", "do": "zero"},
        {"at": "encoder.0.self", "heads": [0, 2], "rows": [1], "do": "zero"},
        {"at": "encoder.0.self.mix", "head": 1, "do": {"scale": 2}},
        {"at": "decoder.1.ffn.hidden", "units": [3], "do": {"fill": 5}},
        {"at": "source.input", "rows": [1], "do": {"add": [0.5] * 256}},
        {"at": "source.input", "do": {"add": {"to": {"source": "A dog.", "row": 1}}}},
        {"at": "decoder.0.cross", "do": {"cut": [[0, 1], [1, 1]]}},
    ],
    ids=lambda made: str(made["do"])[:60],
)
def test_every_effect_changes_what_is_seen(reader: httpx.Client, made: dict[str, Any]) -> None:
    plain, changed = traced(reader).json(), traced(reader, made)
    assert changed.status_code == 200, changed.text
    found = changed.json()
    assert found["id"] != plain["id"]
    assert found["output"]["logprobs"] != plain["output"]["logprobs"]


@pytest.mark.parametrize(
    ("do", "field"),
    [
        ({}, "do"),
        ({"melt": 1}, "do"),
        ({"cut": [1]}, "do.cut[1]"),
        ({"cut": ["1", 2]}, "do.cut[0]"),
        ({"cut": 3}, "do.cut"),
        ({"cut": [0, 0], "also": 1}, "do"),
        ({"set": [0, 0, 7]}, "do.set[2]"),
        ({"set": [0, 0, 0.5], "renormalise": "yes"}, "do.renormalise"),
        ({"temperature": 0}, "do.temperature"),
        ({"temperature": 1e300}, "do.temperature"),
        ({"freeze": {"source": "a", "target": 3}}, "do.freeze.target"),
        ({"freeze": {}}, "do.freeze.source"),
        ({"patch": {"source": "a", "rows": [[0]]}}, "do.patch.rows[0][1]"),
        ({"patch": {"source": "a", "rows": [[0, -1]]}}, "do.patch.rows[0][1]"),
        ({"patch": {"source": "a", "rows": 3}}, "do.patch.rows"),
        ({"patch": {}}, "do.patch.source"),
        ({"cut": [[0, 1], [0]]}, "do.cut[1][1]"),
        ({"scale": "2"}, "do.scale"),
        ({"fill": None}, "do.fill"),
        ({"add": 3}, "do.add"),
        ({"add": []}, "at"),
        ({"add": [1, "2"]}, "do.add[1]"),
        ({"add": {"to": {"source": "a"}}}, "do.add.to.row"),
        ({"add": {"to": {"source": "a", "row": 0}, "times": 1000}}, "do.add.times"),
    ],
    ids=str,
)
def test_invalid_interventions_are_named(reader: httpx.Client, do: object, field: str) -> None:
    reply = traced(reader, {"at": "encoder.0.self", "do": do})
    assert reply.status_code == 422, reply.text
    assert reply.json()["field"] == f"interventions[0].{field}"
    assert "pydantic" not in reply.text
