"""Types of request fields, and the errors for values that do not fit them.

Types are strict: no unknown field, no number in quotes, no NaN, no lone surrogate, no NUL. Errors
have their own kinds and messages, since pydantic's would repeat the input.

Schemas derived from dataclasses, with their fields, limits, defaults and descriptions.

    @fields_of(Decode)
    class DecodeOptions(Strict):
        ...

A field that the schema defines itself is kept. An attribute's docstring becomes its description.
"""

import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, fields
from typing import Annotated, Any, Final, TypeVar, Union, get_args, get_origin, get_type_hints

from pydantic import (
    AfterValidator,
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

from model.errors import Excess, InputError
from model.request_limits import interval

# Limits beyond any model, but within what JSON and the database can store. The models check the
# real limits, so the API reference does not show these, but that they fit 32 bits.
FAR = 1_000_000_000

WHOLE = {"type": "integer", "format": "int32"}

Whole = Annotated[int, Field(ge=-FAR, le=FAR), WithJsonSchema(WHOLE)]

Count = Annotated[int, Field(ge=0, le=FAR), WithJsonSchema({**WHOLE, "minimum": 0})]

# Sums and means of many such numbers are finite, so that what is computed from them can be stored.
Number = Annotated[float, Field(ge=-FAR, le=FAR, allow_inf_nan=False)]

Magnitude = Annotated[float, Field(ge=0, le=FAR, allow_inf_nan=False)]


def unicode_text(text: str) -> str:
    """Return a text that can be stored. Raises an error of pydantic otherwise."""
    if "\0" in text:
        raise PydanticCustomError("nul", "must not contain NUL")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise PydanticCustomError("surrogate", "must not contain lone surrogates") from error
    return text


Text = Annotated[str, AfterValidator(unicode_text)]

Name = Annotated[str, Field(max_length=64), AfterValidator(unicode_text)]

NamePattern = Annotated[Name, Field(pattern=r"^[A-Za-z0-9_.*?\[\]!-]*$")]

# Controls, the ends of lines and paragraphs, and what changes the direction of other text.
NOT_IN_A_LINE = {*map(chr, (*range(32), *range(127, 160), 0x2028, 0x2029, *range(0x202A, 0x202F)))}

NOT_IN_A_LINE |= {chr(code) for code in range(0x2066, 0x206A)}


def shown_on_one_line(text: str) -> str:
    """Return a text without spaces around it. Raises an error of pydantic if it is not one line."""
    if NOT_IN_A_LINE & {*text}:
        raise PydanticCustomError("one_line", "not on one line")
    if not text.strip():
        raise PydanticCustomError("blank", "blank")
    return " ".join(text.split())


LISTS = ("list", "tuple", "set", "frozenset", "dict")


def _fail_fast(schema: Any) -> None:
    for key, part in schema.items() if isinstance(schema, dict) else enumerate(schema):
        if isinstance(part, dict | list | tuple) and key not in ("metadata", "default"):
            _fail_fast(part)
    if isinstance(schema, dict) and schema.get("type") in LISTS:
        schema["fail_fast"] = True


class Strict(BaseModel):
    """A request, or a part of one."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False, frozen=True)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Stop at the first wrong entry of a list: a problem names one, and all take long."""
        schema: CoreSchema = handler(source)
        _fail_fast(schema)
        return schema


union_tags: set[str] = set()


def union_tag(name: str) -> str:
    """Return the tag of a kind of field, which is left out of the paths in errors."""
    union_tags.add(name)
    return name


RULES = {
    "missing": ("missing", "is required"),
    "extra_forbidden": ("unknown-field", "has an unknown field"),
    "literal_error": ("unknown-value", "must be {expected}"),
    "string_too_long": ("too-long", "may have at most {max_length} characters"),
    "string_too_short": ("too-short", "must have at least {min_length} characters"),
    "too_long": ("too-long", "may have at most {max_length} entries"),
    "too_short": ("too-short", "must have at least {min_length} entries"),
    "range": ("out-of-range", "must be from {low} to {high}"),
    "greater_than_equal": ("out-of-range", "must be at least {ge}"),
    "greater_than": ("out-of-range", "must be more than {gt}"),
    "less_than_equal": ("out-of-range", "must be at most {le}"),
    "less_than": ("out-of-range", "must be less than {lt}"),
    "finite_number": ("not-finite", "must be a finite number"),
    "string_unicode": ("not-text", "must not contain lone surrogates"),
    "surrogate": ("not-text", "must not contain lone surrogates"),
    "one_line": ("not-text", "must be a single line of text"),
    "blank": ("too-short", "must not be blank"),
    "nul": ("not-text", "must not contain NUL"),
    "option_name": ("unknown-field", "has an unknown field"),
    "patterns_many": ("too-many-patterns", "has more than {limit} patterns"),
    "pairs_many": ("too-long", "may have at most {limit} edges and rows to replace together"),
    "options_many": ("too-long", "may have at most {limit} view options"),
    "answer_alone": ("missing", "needs a question beside an answer"),
    "one_link": ("missing", "must have one of link, share and lesson"),
    "figure_alone": ("missing", "needs a lesson beside a figure"),
    "one_question": ("missing", "must have one of trace, parameters, learning and sweep"),
    "string_pattern_mismatch": ("unknown-value", "has characters that are not allowed"),
    "string_type": ("wrong-type", "must be text"),
    "list_type": ("wrong-type", "must be a list"),
    "union_tag_not_found": ("unknown-value", "must be an effect with its arguments"),
    "union_tag_invalid": ("unknown-value", "must be an effect with its arguments"),
    "tuple_type": ("wrong-type", "must be a list"),
    "model_attributes_type": ("wrong-type", "must be an object"),
    "model_type": ("wrong-type", "must be an object"),
    "dict_type": ("wrong-type", "must be an object"),
}


def rule(error_type: str, context: Mapping[str, Any]) -> tuple[str, str]:
    """Return the kind and the message for one of pydantic's errors."""
    if error_type.startswith("int_"):
        return "wrong-type", "must be a whole number"
    if error_type.startswith("float_"):
        return "wrong-type", "must be a number"
    kind, words = RULES.get(error_type, ("wrong-type", "is not valid here"))
    return kind, words.format_map(context)


COUNTS = {
    "string_too_long": "characters",
    "too_long": "entries",
    "options_many": "entries",
    "pairs_many": "entries",
    "patterns_many": "entries",
}


def excess(error_type: str, context: Mapping[str, Any]) -> Excess | None:
    """Return the exceeded limit of an error; pydantic does not always give the actual count."""
    if error_type not in COUNTS:
        return None
    limit = context.get("max_length", context.get("limit"))
    return (
        Excess(int(limit), COUNTS[error_type], context.get("value")) if limit is not None else None
    )


@contextmanager
def within(place: str, but: str | None = None) -> Iterator[None]:
    """Prefix the field of an InputError with `place`, its path in the request.

    A field that begins with `but` is at the top level and keeps its name.
    """
    try:
        yield
    except InputError as error:
        if but and error.field.startswith(but):
            raise
        field = f"{place}.{error.field}".removesuffix(".")
        detail = str(error)
        named = detail.replace(error.field, field, 1) if error.field else f"{field}: {detail}"
        raise InputError(error.kind, field, named, error.excess) from error


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
