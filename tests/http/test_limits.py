"""Limits are defined once: API reference, API and model agree."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import httpx
import pytest
from pydantic import TypeAdapter, ValidationError

from app.engine.model_catalog import Catalog
from app.http import request_fields as fields
from model.adapters.requests.request import Decode, Request
from model.errors import InputError
from tests.serving.api_reference import reference
from tests.serving.problem import hold

# (field, value, minimum, maximum)
DECODE = [
    ("beam", 0, 1, 16),
    ("beam", 17, 1, 16),
    ("length_penalty", -0.1, 0, 5),
    ("length_penalty", 5.1, 0, 5),
    ("temperature", 0.001, 0.01, 100),
    ("temperature", 101.0, 0.01, 100),
    ("top_k", 0, 1, 1_000_000),
    ("top_k", 1_000_001, 1, 1_000_000),
    ("top_p", -0.1, 0, 1),
    ("top_p", 1.5, 0, 1),
    ("seed", -1, 0, 2**31 - 1),
    ("seed", 2**31, 0, 2**31 - 1),
]
DEEDS = [
    ({"set": [0, 0, 1.5]}, "set[2]", "from 0 to 1"),
    ({"temperature": 0.001}, "temperature", "from 0.01 to 100.0"),
    ({"shuffle": -1}, "shuffle", "from 0 to 2147483647"),
    ({"scale": -101}, "scale", "from -100.0 to 100.0"),
    ({"fill": 10001}, "fill", "from -10000.0 to 10000.0"),
]


def schemas() -> dict[str, Any]:
    """Return the schemas of the API reference, by name."""
    by_name: dict[str, Any] = reference()["components"]["schemas"]
    return by_name


@pytest.mark.parametrize(("field", "value", "low", "high"), DECODE)
def test_the_reference_and_the_model_agree(
    reader: httpx.Client,
    catalog: Catalog,
    field: str,
    value: float,
    low: float,
    high: float,
) -> None:
    told = schemas()["DecodeOptions"]["properties"][field]
    told = told.get("anyOf", [told])[0]
    assert (told["minimum"], told["maximum"]) == (low, high)
    body = {"source": "hi", "decode": {field: value}}
    problem = hold(reader.post("/api/trace", json=body), 422, "out-of-range", f"decode.{field}")
    request = Request("hi", decode=replace(Decode(), **{field: value}))  # type: ignore[arg-type]
    with pytest.raises(InputError) as error:
        catalog["en-zh"].check(request)
    assert problem["detail"] == error.value.detail
    shared = reader.post("/api/shares", json={"state": body})
    hold(shared, 422, "out-of-range", f"state.decode.{field}")


@pytest.mark.parametrize(("deed", "field", "limits"), DEEDS)
def test_an_effect_out_of_range(
    reader: httpx.Client, deed: dict[str, Any], field: str, limits: str
) -> None:
    at = "source.position" if "shuffle" in deed else "encoder.0.self"
    body = {"source": "hi", "interventions": [{"at": at, "do": deed}]}
    place = f"interventions[0].do.{field}"
    problem = hold(reader.post("/api/trace", json=body), 422, "out-of-range", place)
    assert problem["detail"] == f"{place} must be {limits}"


def test_defaults_and_words_come_from_the_model() -> None:
    told = schemas()["DecodeOptions"]["properties"]
    defaults = {name: about.get("default") for name, about in told.items()}
    plain = vars(Decode())
    assert defaults == plain | {"prefix": []}
    assert "Number of hypotheses" in told["beam"]["description"]


def test_every_schema_has_a_plain_name() -> None:
    assert not [name for name in schemas() if "__" in name]


def test_the_reference_omits_limits_beyond_any_model(reader: httpx.Client) -> None:
    text = reader.get("/openapi.json").text
    assert not re.search(r"1000000000(?!\.0)", text)  # with .0, the bound of any number


def parts(schema: Any, place: str, seen: set[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield a schema and all within it, each named one once, with places."""
    name = schema.get("$ref", "").rpartition("/")[2]
    inner = [(name, schemas()[name])] if name and name not in seen else []
    seen.add(name)
    for key in ("items", "additionalProperties", "prefixItems", "anyOf", "oneOf", "allOf"):
        found = schema.get(key, [])
        inner += [(place, one) for one in (found if isinstance(found, list) else [found])]
    inner += [(f"{place}.{key}", one) for key, one in schema.get("properties", {}).items()]
    yield place, schema
    for name, one in inner:
        if isinstance(one, dict):
            yield from parts(one, name, seen)


def test_every_number_of_a_request_has_both_bounds() -> None:
    """In the reference, or those of `Whole`, which are beyond any model."""
    found, seen = list[tuple[str, dict[str, Any]]](), set[str]()
    for path, operations in reference()["paths"].items():
        for operation in operations.values():
            bodies = operation.get("requestBody", {}).get("content", {}).values()
            for one in (*operation.get("parameters", ()), *bodies):
                found += parts(one["schema"], f"{path} {one.get('name', '')}", seen)
    numbers = [(place, one) for place, one in found if one.get("type") in ("integer", "number")]
    numbers = [(place, one) for place, one in numbers if not one.keys() & {"const", "enum"}]
    assert len(numbers) > 100
    far = fields.WHOLE["format"]
    assert [
        place
        for place, one in numbers
        if not {"minimum", "maximum"} <= one.keys() and one.get("format") != far
    ] == []


def test_whole_numbers_have_the_bounds_that_the_reference_says() -> None:
    for kind, low in ((fields.Whole, -fields.FAR), (fields.Count, 0)):
        adapter = TypeAdapter(kind)
        assert adapter.json_schema()["format"] == "int32"
        assert fields.FAR < 2**31
        for value in (low, fields.FAR):
            assert adapter.validate_python(value) == value
        for value in (low - 1, fields.FAR + 1):
            with pytest.raises(ValidationError):
                adapter.validate_python(value)
