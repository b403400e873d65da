"""Types of request fields, and the errors for values that do not fit them.

Types are strict: no unknown field, no number in quotes, no NaN, no lone surrogate, no NUL. Errors
have their own kinds and messages, since pydantic's would repeat the input.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from model.errors import Excess, InputError

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


class Strict(BaseModel):
    """A request, or a part of one."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False, frozen=True)


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


COUNTS = {"string_too_long": "characters", "too_long": "entries", "options_many": "entries"}


def excess(error_type: str, context: Mapping[str, Any]) -> Excess | None:
    """Return the exceeded limit of an error; pydantic does not always give the actual count."""
    if error_type not in COUNTS:
        return None
    limit = context.get("max_length", context.get("limit"))
    return Excess(int(limit), COUNTS[error_type]) if limit is not None else None


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
