"""What requests are made of.

They are strict: no field that is not known, no number in quotes, no NaN, no lone surrogate, no NUL.
"""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

# Far beyond any model, and within what JSON and the database hold. The model has the real limits,
# so the reference does not say these.
FAR = 1_000_000_000
Whole = Annotated[int, Field(ge=-FAR, le=FAR), WithJsonSchema({"type": "integer"})]
Count = Annotated[int, Field(ge=0, le=FAR), WithJsonSchema({"type": "integer", "minimum": 0})]


def _unicode(text: str) -> str:
    if "\0" in text:
        raise PydanticCustomError("nul", "must not contain NUL")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise PydanticCustomError("surrogate", "must not contain lone surrogates")
    return text


Text = Annotated[str, AfterValidator(_unicode)]
Name = Annotated[str, Field(max_length=64), AfterValidator(_unicode)]
NamePattern = Annotated[Name, Field(pattern=r"^[A-Za-z0-9_.*?\[\]!-]*$")]


class Strict(BaseModel):
    """A request, or a part of one."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False, frozen=True)
