"""Types of request fields.

They are strict: no unknown field, no number in quotes, no NaN, no lone surrogate, no NUL.
"""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

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
