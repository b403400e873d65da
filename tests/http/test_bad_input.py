"""Bad input gets a clear 4xx that names the field, never a 500, and never repeats the input."""

import json
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, TypeAdapter, ValidationError

from app.http.problems import URN
from app.http.request_fields import Strict
from app.traces.schemas import AnyTraceRequest
from tests.serving.fixtures import Serving
from tests.serving.problem import JSON, OPTIONS_33, hold

DEEP = "[" * 40_000
FREEZES_9 = [{"at": "encoder.0.self", "do": {"freeze": {"source": f"{n} cats."}}} for n in range(9)]

BODIES = [
    # (body, status, kind, field)
    ("{", 400, "invalid-json", None),
    ('{"source": "hi",}', 400, "invalid-json", None),
    (DEEP, 400, "invalid-json", None),
    ('{"source": ' + DEEP, 400, "invalid-json", None),
    ('{"source": "hi", "pad_to": ' + "9" * 5_000 + "}", 400, "invalid-json", None),
    (b'{"source": "\xff\xfe"}', 400, "invalid-json", None),
    ("", 422, "missing", None),
    ("null", 422, "wrong-type", None),
    ("[]", 422, "wrong-type", None),
    ('"hi"', 422, "wrong-type", None),
    ("{}", 422, "missing", "source"),
    ('{"source": null}', 422, "wrong-type", "source"),
    ('{"source": 1}', 422, "wrong-type", "source"),
    ('{"source": NaN}', 422, "wrong-type", "source"),
    ('{"source": ["hi"]}', 422, "wrong-type", "source"),
    ('{"source": ""}', 422, "empty-text", "source"),
    ('{"source": " \\n\\t\\u3000"}', 422, "empty-text", "source"),
    ('{"source": "a\\u0000b"}', 422, "not-text", "source"),
    ('{"source": "\\ud800"}', 422, "not-text", "source"),
    ('{"source": "hi", "target": "\\udfff"}', 422, "not-text", "target"),
    ('{"source": "hi", "target": "\\u0000"}', 422, "not-text", "target"),
    (json.dumps({"source": "x" * 2_001}), 422, "text-too-long", "source"),
    (json.dumps({"source": "word " * 399}), 422, "text-too-long", "source"),
    (json.dumps({"source": "hi", "target": "x" * 2_001}), 422, "text-too-long", "target"),
    ('{"source": "hi", "colour": 1}', 422, "unknown-field", None),
    ('{"source": "hi", "decode": {"luck": 1}}', 422, "unknown-field", "decode"),
    ('{"source": "hi", "model": "gpt"}', 422, "unknown-model", "model"),
    ('{"source": "hi", "model": "../../etc/passwd"}', 422, "unknown-model", "model"),
    ('{"source": "hi", "direction": "fr-en"}', 422, "unknown-direction", "direction"),
    ('{"source": "hi", "select": ["nothing.*"]}', 422, "unknown-tensor", "select[0]"),
    ('{"source": "hi", "select": ["*", ""]}', 422, "unknown-tensor", "select[1]"),
    ('{"source": "hi", "select": "*"}', 422, "wrong-type", "select"),
    ('{"source": "hi", "select": [1]}', 422, "wrong-type", "select[0]"),
    ('{"source": "hi", "select": ["é"]}', 422, "unknown-value", "select[0]"),
    (json.dumps({"source": "hi", "select": ["*"] * 10_000}), 422, "too-many-patterns", "select"),
    (json.dumps({"source": "hi", "select": ["*a" * 32]}), 422, "unknown-tensor", "select[0]"),
    (json.dumps({"source": "hi", "select": ["*a" * 65]}), 422, "too-long", "select[0]"),
    ('{"source": "hi", "select": ["*.q@"]}', 422, "unknown-value", "select[0]"),
    ('{"source": "hi", "select": ["*.q@0;1"]}', 422, "unknown-value", "select[0]"),
    ('{"source": "hi", "select": ["*.q:float64"]}', 422, "unknown-value", "select[0]"),
    ('{"source": "hi", "select": ["*.q:uint8"]}', 422, "not-weights", "dtype"),
    ('{"source": "hi", "select": ["*.mask", "*.q@99"]}', 422, "bad-selection", "select[1]"),
    ('{"source": "hi", "select": ["*.q@0,0,0,0"]}', 422, "bad-selection", "select[0]"),
    ('{"source": "hi", "select": ["*.q@2:2"]}', 422, "bad-selection", "select[0]"),
    ('{"source": "hi", "select": ["nothing@0:2"]}', 422, "unknown-tensor", "select[0]"),
    ('{"source": "hi", "dtype": "float64"}', 422, "unknown-value", "dtype"),
    ('{"source": "hi", "dtype": "uint8", "select": ["*.q"]}', 422, "not-weights", "dtype"),
    ('{"source": "hi", "decode": "greedy"}', 422, "wrong-type", "decode"),
    ('{"source": "hi", "decode": {"method": "dream"}}', 422, "unknown-value", "decode.method"),
    ('{"source": "hi", "decode": {"beam": 1000000000}}', 422, "out-of-range", "decode.beam"),
    ('{"source": "hi", "decode": {"beam": 0}}', 422, "out-of-range", "decode.beam"),
    ('{"source": "hi", "decode": {"beam": 2.5}}', 422, "wrong-type", "decode.beam"),
    ('{"source": "hi", "decode": {"beam": "4"}}', 422, "wrong-type", "decode.beam"),
    ('{"source": "hi", "decode": {"beam": true}}', 422, "wrong-type", "decode.beam"),
    ('{"source": "hi", "decode": {"max_tokens": -1}}', 422, "out-of-range", "decode.max_tokens"),
    (
        '{"source": "hi", "decode": {"length_penalty": NaN}}',
        422,
        "not-finite",
        "decode.length_penalty",
    ),
    (
        '{"source": "hi", "decode": {"length_penalty": -Infinity}}',
        422,
        "not-finite",
        "decode.length_penalty",
    ),
    (
        '{"source": "hi", "decode": {"length_penalty": 1e999}}',
        422,
        "not-finite",
        "decode.length_penalty",
    ),
    ('{"source": "hi", "pad_to": 1000000000}', 422, "out-of-range", "pad_to"),
    ('{"source": "hi", "pad_to": -3}', 422, "out-of-range", "pad_to"),
    ('{"source": "hi", "pad_to": ' + "9" * 400 + "}", 422, "out-of-range", "pad_to"),
]

INTERVENTIONS: list[tuple[Any, str, str]] = [
    ({"at": "encoder.0.self", "head": 99, "do": "zero"}, "out-of-range", ".head"),
    ({"at": "encoder.0.self", "head": -1, "do": "zero"}, "out-of-range", ".head"),
    ({"at": "encoder.0.self", "head": "1", "do": "zero"}, "wrong-type", ".head"),
    ({"at": "encoder.99.self", "do": "zero"}, "unknown-place", ".at"),
    ({"at": "encoder.0.cross", "do": "zero"}, "unknown-place", ".at"),
    ({"at": "", "do": "zero"}, "unknown-place", ".at"),
    ({"at": "source.position", "do": "uniform"}, "unknown-place", ".at"),
    ({"at": "encoder.0.self", "do": "drop"}, "unknown-place", ".at"),
    ({"at": "source.position", "head": 0, "do": "drop"}, "unknown-field", ".head"),
    ({"at": "encoder.0.self", "do": "average"}, "unknown-value", ".do"),
    ({"at": "encoder.0.self", "do": {"melt": [0, 0]}}, "unknown-value", ".do"),
    ({"at": "encoder.0.self"}, "missing", ".do"),
    ({"at": "encoder.0.self", "do": "zero", "when": 1}, "unknown-field", ""),
    ("zero", "wrong-type", ""),
]


@pytest.mark.parametrize(("body", "status", "kind", "field"), BODIES)
def test_body(
    reader: httpx.Client, body: str | bytes, status: int, kind: str, field: str | None
) -> None:
    hold(reader.post("/api/trace", content=body, headers=JSON), status, kind, field)


@pytest.mark.parametrize(
    ("path", "body", "told"),
    [
        ("/api/trace", {"source": "x" * 2_001}, (2_000, "characters", 2_001)),
        ("/api/trace", {"source": "word " * 399}, (128, "tokens", 401)),
        ("/api/trace", {"source": "hi", "target": "x" * 2_002}, (2_000, "characters", 2_002)),
        ("/api/trace", {"source": "hi", "select": ["*a" * 65]}, (128, "characters", None)),
        ("/api/trace", {"source": "hi", "select": ["*"] * 257}, (256, "entries", 257)),
        ("/api/trace", {"source": "x" * 300_000}, (250_000, "bytes", None)),
        (
            "/api/trace",
            {"source": "hi", "interventions": [{"at": "encoder.0.self", "do": "zero"}] * 65},
            (64, "entries", 65),
        ),
        ("/api/trace", {"source": "hi", "interventions": FREEZES_9}, (8, "entries", 9)),
        ("/api/shares", {"state": {"source": "word " * 399}}, (128, "tokens", 401)),
        (
            "/api/shares",
            {"state": {"source": "hi", "note": "x" * 2_001}},
            (2_000, "characters", 2_001),
        ),
        ("/api/shares", {"state": {"source": "hi"} | OPTIONS_33}, (32, "entries", None)),
        (
            "/api/shares",
            {"state": {"source": "hi"}, "asks": [{"parameters": {"select": []}}] * 21},
            (20, "entries", None),
        ),
    ],
)
def test_errors_give_the_limit_and_the_excess(
    reader: httpx.Client,
    path: str,
    body: dict[str, Any],
    told: tuple[int, str, int | None],
) -> None:
    problem = reader.post(path, json=body).json()
    assert tuple(problem.get(name) for name in ("limit", "unit", "value")) == told
    assert str(told[0]) in problem["detail"]


def test_only_excess_errors_have_a_limit(reader: httpx.Client) -> None:
    problem = reader.post("/api/trace", json={"source": ""}).json()
    assert not {"limit", "unit", "value"} & problem.keys()


@pytest.mark.parametrize(("intervention", "kind", "field"), INTERVENTIONS)
def test_intervention(reader: httpx.Client, intervention: object, kind: str, field: str) -> None:
    request = {"source": "hi", "interventions": [intervention]}
    response = reader.post("/api/trace", json=request)
    hold(response, 422, kind, f"interventions[0]{field}")


@pytest.mark.parametrize("media_type", [None, "text/plain", "application/xml", "nonsense", "é"])
def test_content_type(reader: httpx.Client, media_type: str | None) -> None:
    headers = [(b"Content-Type", media_type.encode())] if media_type else []
    response = reader.post("/api/trace", content=b'{"source": "hi"}', headers=headers)
    hold(response, 415, "unsupported-media-type", None)


@pytest.mark.parametrize("chunked", [False, True])
async def test_body_over_the_limit(client: httpx.AsyncClient, chunked: bool) -> None:
    body = json.dumps({"source": "x" * 300_000}).encode()

    async def chunks() -> Any:
        for start in range(0, len(body), 1_000):
            yield body[start : start + 1_000]

    content = chunks() if chunked else body
    response = await client.post("/api/trace", content=content, headers=JSON)
    assert "250000" in hold(response, 413, "body-too-large", None)["detail"]


@pytest.mark.parametrize(
    ("path", "status", "kind", "field"),
    [
        ("/api/nothing", 404, "not-found", None),
        ("/api/models/gpt/parameters", 404, "unknown-model", "id"),
        ("/api/models/en-zh/parameters?select=nope", 422, "unknown-tensor", "select[0]"),
        ("/api/models/en-zh/parameters?select=", 422, "unknown-tensor", "select[0]"),
        ("/api/models/en-zh/parameters?select=" + "a" * 2_001, 422, "too-long", "select"),
        ("/api/positions", 422, "missing", "length"),
        ("/api/positions?length=4", 422, "missing", "d_model"),
        ("/api/positions?length=four&d_model=4", 422, "wrong-type", "length"),
        ("/api/positions?length=NaN&d_model=4", 422, "wrong-type", "length"),
        ("/api/positions?length=0&d_model=4", 422, "out-of-range", "length"),
        ("/api/positions?length=4&d_model=1000000000", 422, "out-of-range", "d_model"),
        (f"/api/positions?length={'9' * 5000}&d_model=4", 422, "wrong-type", "length"),
        ("/api/positions?length=4&d_model=4&variant=x", 422, "unknown-variant", "variant"),
        ("/api/shares/nothing", 404, "unknown-share", "id"),
        ("/api/shares/%00", 404, "unknown-share", "id"),
        ("/api/shares/%F0%9F%98%80", 404, "unknown-share", "id"),
        ("/api/shares/2222222222222", 404, "unknown-share", "id"),
        ("/api/shares/" + "2" * 3_000, 404, "unknown-share", "id"),
        ("/api/shares/%00/asks/0", 404, "unknown-share", "id"),
        ("/api/shares/2222222222222/asks/x", 422, "wrong-type", "n"),
        (f"/api/shares/2222222222222/asks/{'9' * 5000}", 422, "wrong-type", "n"),
    ],
)
def test_path(reader: httpx.Client, path: str, status: int, kind: str, field: str | None) -> None:
    hold_field = field and field.partition("[")[0]
    response = reader.get(path)
    assert response.status_code == status, response.text
    assert response.json()["type"] == URN + kind
    assert (response.json().get("field") or "").partition("[")[0] == (hold_field or "")


async def test_wrong_method_lists_the_allowed_ones(client: httpx.AsyncClient) -> None:
    response = await client.delete("/api/trace")
    hold(response, 405, "method-not-allowed", None)
    assert response.headers["allow"] == "POST"


async def test_reply_over_the_limit(serving: Serving) -> None:
    request = {"source": "hi", "target": "你", "select": ["*"]}
    async with serving(max_values=1_000) as client:
        response = await client.post("/api/trace", json=request)
        problem = hold(response, 422, "reply-too-large", "select")
        assert "250" in problem["detail"]


SECRET = "Zqxjkvb"  # not part of any message
JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(codec=None), max_size=8)
    | st.just(SECRET),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([SECRET, "at", "do", "head", "beam", "method"]), inner)
    ),
    max_leaves=6,
)
FIELDS = [
    "source",
    "model",
    "direction",
    "target",
    "decode",
    "interventions",
    "select",
    "dtype",
    "pad_to",
    SECRET,
]


def test_any_json_gets_200_or_a_clear_4xx(reader: httpx.Client) -> None:
    """Any JSON in any field: 200 or a 4xx problem that repeats nothing."""
    bodies: list[dict[str, Any]] = []

    @settings(max_examples=40, database=None, suppress_health_check=list(HealthCheck))
    @given(st.dictionaries(st.sampled_from(FIELDS), JSON_VALUES, max_size=3))
    def collect(body: dict[str, Any]) -> None:
        bodies.append({"source": "hi", "select": [], "decode": {"max_tokens": 1}} | body)

    collect()
    for body in bodies:
        content = json.dumps(body).encode()
        response = reader.post("/api/trace", content=content, headers=JSON)
        assert response.status_code in (200, 400, 422), (body, response.text)
        if response.status_code != 200:
            assert SECRET not in response.text
            assert re.fullmatch(URN + "[a-z-]+", response.json()["type"])


def every(kind: type[BaseModel]) -> Iterator[type[BaseModel]]:
    for below in kind.__subclasses__():
        yield below
        yield from every(below)


def lists_of(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict) and schema.get("type") in ("list", "tuple", "set", "dict"):
        yield schema
    for part in schema.values() if isinstance(schema, dict) else schema:
        if isinstance(part, dict | list | tuple):
            yield from lists_of(part)


def test_every_list_stops_at_its_first_wrong_entry() -> None:
    """All of 100,000 would hold the server's one loop for half a second."""
    schemas = [kind.__pydantic_core_schema__ for kind in every(Strict)]
    lists = [part for schema in schemas for part in lists_of(schema)]
    assert len(schemas) > 50
    assert len(lists) > 100
    assert all(part.get("fail_fast") for part in lists)


@pytest.mark.parametrize(
    "wrong",
    [
        {"interventions": [1] * 1_000},
        {"interventions": [1] * 50_000},
        {"interventions": [{"at": "encoder.0.self", "do": "zero", "units": [-1] * 50_000}]},
        {"interventions": [{"at": "encoder.0.ffn.output", "do": {"add": ["a"] * 50_000}}]},
        {"select": [1] * 200},
        {"select": ["*"] * 50_000},
        {"summarise": ["*"] * 50_000},
        {"decode": {"prefix": ["a"] * 50_000}},
    ],
)
def test_a_body_of_many_wrong_entries_has_one_error(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError) as refused:
        TypeAdapter[Any](AnyTraceRequest).validate_python({"source": "Hi!", **wrong})
    assert refused.value.error_count() == 1
