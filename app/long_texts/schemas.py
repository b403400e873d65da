"""Requests for pictures of attention over a long text, and their replies."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from app.http.problems import ProblemReply
from app.http.request_fields import Count, Name, NamePattern, Strict
from app.traces.replies import OneTextReply, OutputReply, TensorReply, TokenReply
from app.traces.schemas import ByTexts, OneText, Translation

Range = Annotated[
    list[Count], Field(min_length=2, max_length=2, description="First token, and the end.")
]
Edges = Annotated[list[Count], Field(min_length=2, max_length=513)]


class Seen(Strict):
    """The heads to show, and the resolution."""

    select: list[NamePattern] = Field(
        default=["*"],
        description="Patterns of attentions, such as `encoder.*.self`. `[]`: only the tokens, "
        "without a run, for any model.",
    )
    cells: Annotated[int, Field(ge=1, le=1_024)] = Field(
        default=256, description="Maximum number of rows and columns of a picture."
    )
    dtype: Literal["float16", "float32", "uint8"] = Field(
        default="float16",
        description="Type of the numbers sent. `uint8` is value · 254; 255 is a hidden cell.",
    )


class OverviewRequest(Translation, Seen):
    """A long source and its target, and the heads to show."""


class OneTextOverviewRequest(OneText, Seen):
    """A long text, and the heads to show."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"text": "The cat sat", "model": "smollm2", "cells": 64}]}
    )


class TileEdges(Strict):
    """Edges of groups of tokens, such as sentences: a group is between two neighbouring edges."""

    query: Edges
    key: Edges


class Window(Strict):
    """A window of one head."""

    at: Name = Field(description="An attention.", examples=["decoder.3.self"])
    head: Count
    query: Range | None = Field(default=None, description="Absent: all; not with `edges`.")
    key: Range | None = None
    cells: Annotated[list[Count], Field(min_length=2, max_length=2)] | None = Field(
        default=None,
        description="Maximum number of rows and columns; absent: every token, if the reply fits.",
    )
    edges: TileEdges | None = Field(
        default=None,
        description="Groups as cells: the mean over a group's queries of their total weight on a "
        "group's keys.",
    )


class TileRequest(Translation, Window):
    """A long source and its target, and a window of one head."""


class OneTextTileRequest(OneText, Window):
    """A long text, and a window of one head."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "text": "The cat sat",
                    "model": "smollm2",
                    "at": "decoder.3.self",
                    "head": 4,
                    "query": [0, 3],
                    "key": [0, 3],
                }
            ]
        }
    )


AnyOverviewRequest = ByTexts[OverviewRequest, OneTextOverviewRequest]
AnyTileRequest = ByTexts[TileRequest, OneTextTileRequest]


class Span(BaseModel):
    """Tokens per cell; the last cell may have fewer."""

    query: int
    key: int


class EdgesReply(BaseModel):
    """The edges of the groups."""

    query: list[int]
    key: list[int]


class CellsReply(TensorReply):
    """A picture; a cell is null if the mask hides all of it."""

    span: Span | None = None


class OneHeadReply(CellsReply):
    """A picture of one head."""

    at: str | None = Field(default=None, description="Its attention; only in a share.")
    head: int
    query: list[int] | None = Field(default=None, description="The window, as requested.")
    key: list[int] | None = None
    edges: EdgesReply | None = None


class ReadReply(BaseModel):
    """The tokens of a source and a target."""

    source: list[TokenReply]
    target: list[TokenReply] = Field(
        default=[], description="Absent if only tokens were requested, and there is no target."
    )


class OverviewReply(BaseModel):
    """Pictures of heads over a long text."""

    id: str = Field(description="Digest of the request and the model.")
    model: str
    direction: str | None = Field(default=None, description="Only for models that translate.")
    tokens: ReadReply | OneTextReply
    output: OutputReply | None = Field(default=None, description="Absent if nothing is written.")
    tensors: dict[str, OneHeadReply | CellsReply] = Field(
        description="`….weights.max` (head, query_cell, key_cell): the largest weight of a cell."
    )


class ProgressReply(BaseModel):
    """How far a request is."""

    phase: Literal["queue", "pass", "pictures"]
    done: int = Field(description="Layers of the pass, or attentions whose pictures are made.")
    of: int = Field(description="Their number; 0 if it is not known.")
    seconds: float = Field(description="Since the request.")


class FileReply(BaseModel):
    """The reply."""

    file: str = Field(description="The safetensors file of the reply, in base64.")


class OverviewLine(BaseModel):
    """A line of the stream: any number of `progress`, then `end`; or `error`, which is last."""

    progress: ProgressReply | None = None
    end: FileReply | None = None
    error: ProblemReply | None = None


class TileReply(BaseModel):
    """A window of one head."""

    id: str
    model: str
    tensors: dict[str, OneHeadReply] = Field(
        description="`….weights.max` (query_cell, key_cell): the largest weight of a cell; with "
        "`edges` `….weights.sum`."
    )
