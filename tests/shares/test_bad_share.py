"""Bad input to a share gets a clear 422 that names the field."""

import json
from typing import Any

import httpx
import pytest

from tests.serving.problem import JSON, OPTIONS_33, hold

BAD: list[tuple[dict[str, Any], str, str]] = [
    ({}, "missing", "state"),
    ({"state": {}}, "missing", "state.source"),
    ({"state": []}, "wrong-type", "state"),
    ({"state": {"source": ""}}, "empty-text", "state.source"),
    ({"state": {"source": "x" * 2_001}}, "text-too-long", "state.source"),
    ({"state": {"source": "hi", "layer": -1}}, "out-of-range", "state.layer"),
    ({"state": {"source": "hi", "model": "no"}}, "unknown-model", "state.model"),
    ({"state": {"source": "hi", "view": "nope"}}, "unknown-value", "state.view"),
    ({"state": {"source": "hi", "block": "nope"}}, "unknown-value", "state.block"),
    ({"state": {"source": "hi", "block": ""}}, "unknown-value", "state.block"),
    ({"state": {"source": "hi", "lang": "tlh"}}, "unknown-value", "state.lang"),
    ({"state": {"source": "hi", "layer": 3}}, "out-of-range", "state.layer"),
    ({"state": {"source": "hi", "head": 8}}, "out-of-range", "state.head"),
    ({"state": {"source": "hi", "Scale": "log"}}, "unknown-field", "state"),
    ({"state": {"source": "hi", "": "log"}}, "unknown-field", "state"),
    ({"state": {"source": "hi", "\ud800": "log"}}, "unknown-field", "state"),
    ({"state": {"source": "hi", "scale\n": "log"}}, "unknown-field", "state"),
    ({"state": {"source": "hi", "a" * 21: "log"}}, "unknown-field", "state"),
    ({"state": {"source": "hi", "model_config": {}}}, "wrong-type", "state.model_config"),
    ({"state": {"source": "hi", "options": 1}}, "wrong-type", "state.options"),
    ({"state": {"source": "hi", "scale": {"a": 1}}}, "wrong-type", "state.scale"),
    ({"state": {"source": "hi", "scale": ["log"]}}, "wrong-type", "state.scale"),
    ({"state": {"source": "hi", "scale": 1}}, "wrong-type", "state.scale"),
    ({"state": {"source": "hi", "scale": None}}, "wrong-type", "state.scale"),
    ({"state": {"source": "hi", "scale": "\0"}}, "not-text", "state.scale"),
    ({"state": {"source": "hi", "scale": "\ud800"}}, "not-text", "state.scale"),
    ({"state": {"source": "hi", "scale": "x" * 2_001}}, "too-long", "state.scale"),
    ({"state": {"source": "hi"} | OPTIONS_33}, "too-long", "state"),
    ({"state": {"source": "hi"}, "select": ["*.q", "no"]}, "unknown-tensor", "select[1]"),
    ({"state": {"source": "hi"}, "select": "*"}, "wrong-type", "select"),
    ({"state": {"source": "hi"}, "asks": {}}, "wrong-type", "asks"),
    ({"state": {"source": "hi"}, "asks": [1]}, "wrong-type", "asks[0]"),
    ({"state": {"source": "hi"}, "asks": [{}]}, "missing", "asks[0]"),
    ({"state": {"source": "hi"}, "asks": [{"secret": 1}]}, "unknown-field", "asks[0]"),
    (
        {"state": {"source": "hi"}, "asks": [{"parameters": {"select": []}}] * 21},
        "too-long",
        "asks",
    ),
    (
        {"state": {"source": "hi"}, "asks": [{"trace": {"source": " "}}]},
        "empty-text",
        "asks[0].trace.source",
    ),
    (
        {"state": {"source": "hi"}, "asks": [{"trace": {"source": "a", "select": ["b"]}}]},
        "unknown-tensor",
        "asks[0].trace.select[0]",
    ),
    (
        {"state": {"source": "hi"}, "asks": [{"parameters": {"select": ["no"]}}]},
        "unknown-tensor",
        "asks[0].parameters.select[0]",
    ),
    (
        {"state": {"source": "hi"}, "asks": [{"parameters": {"select": [], "model": "b"}}]},
        "unknown-model",
        "asks[0].parameters.model",
    ),
]


@pytest.mark.parametrize(("body", "kind", "field"), BAD)
def test_share(reader: httpx.Client, body: dict[str, Any], kind: str, field: str) -> None:
    content = json.dumps(body).encode()
    response = reader.post("/api/shares", content=content, headers=JSON)
    hold(response, 422, kind, field)


@pytest.mark.parametrize(
    ("body", "kind", "field"), [one for one in BAD if set(one[0]) <= {"state"}]
)
def test_handout_of_an_invalid_state(
    reader: httpx.Client, body: dict[str, Any], kind: str, field: str
) -> None:
    content = json.dumps(body).encode()
    response = reader.post("/api/handout", content=content, headers=JSON)
    hold(response, 422, kind, field)


@pytest.mark.parametrize(
    ("block", "query", "key"),
    [
        ("encoder", "source", "source"),
        ("decoder", "target", "target"),
        ("cross", "target", "source"),
    ],
)
async def test_a_pin_must_be_within_the_tokens(
    client: httpx.AsyncClient, block: str, query: str, key: str
) -> None:
    """The last row and column can be pinned, the next cannot; the default block is cross."""
    run = {"source": "The cat sat on the mat.", "target": "猫坐着。"}
    tokens = (await client.post("/api/trace", json=run)).json()["tokens"]
    last = {"query": len(tokens[query]) - 1, "key": len(tokens[key]) - 1, "layer": 2, "head": 7}
    places = [{"block": block}, {}] if block == "cross" else [{"block": block}]
    for place in places:
        state = {**run, **place, **last}
        made = await client.post("/api/shares", json={"state": state})
        assert made.status_code == 201, made.text
        for name, value in last.items():
            beyond = {"state": {**state, name: value + 1}}
            for path in ("/api/shares", "/api/handout"):
                response = await client.post(path, json=beyond)
                problem = hold(response, 422, "out-of-range", f"state.{name}")
                assert problem["detail"] == f"state.{name} must be from 0 to {value}"


def test_errors_list_the_allowed_values(reader: httpx.Client) -> None:
    response = reader.post("/api/shares", json={"state": {"source": "hi", "block": "nope"}})
    assert response.json()["detail"] == "state.block must be one of: encoder, decoder, cross"
