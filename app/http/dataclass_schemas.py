"""Schemas derived from dataclasses, with their fields, limits, defaults and descriptions.

    @fields_of(Decode)
    class DecodeOptions(Strict):
        ...

A field that the schema defines itself is kept. An attribute's docstring becomes its description.
"""

import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Annotated, Any, Final, TypeVar, Union, get_args, get_origin, get_type_hints

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    TypeAdapter,
    WithJsonSchema,
    create_model,
)
from pydantic import GetJsonSchemaHandler as JsonHandler
from pydantic import Strict as Strictly
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from app.http.field_errors import Strict, Whole
from model.request_limits import interval

Schema = TypeVar("Schema", bound=BaseModel)
# The contents of fields of these types are checked where they are used.
KEPT: Final[Mapping[Any, Any]] = {Sequence: list[Any], Mapping: dict[str, Any]}
DOCUMENTED: Final = ConfigDict(use_attribute_docstrings=True)


def fields_of(kind: type) -> Callable[[type[Schema]], type[Schema]]:
    """Return a decorator that adds the fields of a dataclass that the schema does not define."""
    hints = get_type_hints(kind, include_extras=True)
    documents = TypeAdapter(list[kind], config=DOCUMENTED).json_schema()["$defs"]  # type: ignore[valid-type]
    properties = documents[kind.__name__]["properties"]

    def extend(schema: type[Schema]) -> type[Schema]:
        strict = issubclass(schema, Strict)
        new: dict[str, Any] = {
            field.name: (
                requested(hints[field.name]) if strict else hints[field.name],
                Field(
                    **_default(field),
                    description=properties[field.name].get("description"),
                ),
            )
            for field in fields(kind)
            if field.name not in schema.model_fields
        }
        return create_model(
            schema.__name__,
            __base__=schema,
            __module__=schema.__module__,
            __doc__=schema.__doc__,
            **new,
        )

    return extend


def _default(field: Any) -> dict[str, Any]:
    if field.default_factory is not MISSING:
        return {"default_factory": field.default_factory}
    return {"default": ... if field.default is MISSING else field.default}


def requested(hint: Any) -> Any:
    """Convert a type of `model/` for requests: tuples become lists, integers fit JSON's range."""
    origin, parts = get_origin(hint), get_args(hint)
    if hint is int:
        return Whole
    if origin is Annotated:
        return Annotated[parts[0], Within(hint)]
    if origin in KEPT:
        return Annotated[KEPT[origin], WithJsonSchema(TypeAdapter(hint).json_schema())]
    if origin is tuple:
        inner = tuple(part if part is ... else requested(part) for part in parts)
        return Annotated[tuple[inner], Strictly(False)]  # type: ignore[valid-type]
    if origin in (types.UnionType, Union):
        return Union[tuple(requested(part) for part in parts)]  # noqa: UP007
    return hint


class Within:
    """The range of a type as one rule, so that an error can name both of its ends."""

    def __init__(self, hint: Any) -> None:
        limits = interval(hint)
        if limits is None:
            raise TypeError(f"{hint} has no range")
        self.ends = {"low": limits.ge, "high": limits.le}

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        low: Any = self.ends["low"]
        high: Any = self.ends["high"]

        def check(value: float) -> float:
            if not low <= value <= high:
                raise PydanticCustomError("range", "from {low} to {high}", self.ends)
            return value

        return core_schema.no_info_after_validator_function(check, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: JsonHandler
    ) -> dict[str, Any]:
        return handler(schema) | {"minimum": self.ends["low"], "maximum": self.ends["high"]}
