"""Requests and replies of the lab. `model.lab.request` checks sizes and numbers."""

from dataclasses import fields
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from app.http.request_fields import Name, Strict, Text, fields_of
from model.lab.request import LabRequest, Relative

MAX_LINK = 8_000  # characters of its link: its largest matrices, 12 per number
MAX_BYTES = 1_000_000  # of a body: nine matrices of 64 × 64, with some 25 characters per number


@fields_of(Relative)
class RelativeBody(Strict):
    """One number per offset of a key from its query, added to the scores or multiplied."""


@fields_of(LabRequest)
class LabBody(Strict):
    """Matrices, and the parts to run them through."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "x": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
                    "w_q": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
                    "w_k": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
                    "w_v": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
                    "mask": "causal",
                }
            ]
        }
    )

    relative: RelativeBody | None = None

    def request(self) -> LabRequest:
        """Convert the request to a `LabRequest`."""
        values = {field.name: getattr(self, field.name) for field in fields(LabRequest)}
        if self.relative is not None:
            values["relative"] = Relative(**self.relative.model_dump())
        return LabRequest(**values)


class LabReply(BaseModel):
    """Every step by name, in the order of computation."""

    steps: dict[str, Any] = Field(
        description="Nested lists of float64 (`mask`: booleans; `loss`: one number).",
        examples=[{"weights": [[[1, 0], [0.27, 0.73]]]}],
    )
    dims: dict[str, list[str]] = Field(
        description="The axes of each; in the column convention the last two are swapped.",
        examples=[{"weights": ["head", "query", "key"]}],
    )


class ScalingReply(BaseModel):
    """Results at each d_k: `scores` and `weights` of one query, the others of many."""

    scores: list[list[float]] = Field(description="For each d_k, one number per key.")
    weights: list[list[float]] = Field(description="Their softmax.")
    spread: list[float] = Field(description="Standard deviation of the scores.")
    largest: list[float] = Field(description="Mean of the largest weight.")
    gradient: list[float] = Field(
        description="Mean slope of the largest weight a against its own score, a (1 − a)."
    )


class ScalingsReply(BaseModel):
    """The same random queries and keys, scored without and with 1/√d_k."""

    d_k: list[int]
    dot: ScalingReply
    scaled: ScalingReply


class LabShareState(Strict):
    """Attention by hand: the request, and the link that the page opens with."""

    lab: LabBody
    before: LabBody | None = Field(
        default=None,
        description="If the words are shuffled in the link: the same request in the original "
        "order. Its steps are stored too, as `before.…`.",
    )
    link: Annotated[Text, Field(max_length=MAX_LINK)] = Field(
        description="The query string of the lab's address. It is not checked."
    )
    lang: Name | None = None
