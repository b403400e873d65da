"""Kinds and messages for pydantic's errors, whose own messages would repeat the input.

Paths into the request, in the fields of errors.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from model.errors import Excess, InputError

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
