"""What a question about a figure is about."""

from typing import Annotated, Literal

from pydantic import Field

from app.http.fields import Count, Magnitude, Name, Number, Strict, Text

MAX_LINK = 16_000  # characters
SHARE = r"^[a-z0-9]{1,32}$"

# Absent from replies where it does not apply, as in the page's own predictions.
Optional = Field(exclude_if=lambda value: value is None)


class Asked(Strict):
    """What a question is about, in the words of the page's predictions."""

    kind: Name
    link: Annotated[Text, Field(max_length=MAX_LINK)] = Field(description="A query string.")
    page: Literal["workspace", "lab"] = "workspace"
    share: Annotated[
        Annotated[str, Field(pattern=SHARE, description="Whose stored numbers answer it")] | None,
        Optional,
    ] = None
    step: Annotated[Name | None, Optional] = None
    row: Annotated[Count | None, Optional] = None
    column: Annotated[Count | None, Optional] = None
    value: Annotated[Number | None, Optional] = Field(
        default=None,
        description="The right number, if no model computes it; sent to nobody until revealed.",
    )
    within: Annotated[Magnitude | None, Optional] = None
    scene: Annotated[Name | None, Optional] = Field(
        default=None,
        description="The question of the presented lesson that this is: the page of a student who "
        "reads the lesson in another language words it.",
    )
    words: Annotated[Text, Field(max_length=500)] = Field(
        default="", description="The question as its author wrote it; absent: the page words it."
    )
