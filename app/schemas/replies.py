"""What the API answers about runs, models and tables, as pydantic models."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from app.engine.tensor_selection import Dtype
from app.schemas.from_dataclass import DOCUMENTED, fields_of
from model.adapters.model_info import ModelInfo
from model.adapters.request import Output
from model.text.tokens import Token


class Health(BaseModel):
    """The server is up."""

    status: Literal["ok"]
    version: str
    models: list[str]
    waiting: int = Field(description="Requests that wait for a model.")


class Ready(BaseModel):
    """A model answers, and the database takes a write."""

    status: Literal["ready"]


@fields_of(ModelInfo)
class InfoReply(BaseModel):
    """What a model says of itself."""

    model_config = ConfigDict(from_attributes=True, **DOCUMENTED)


class ModelReply(InfoReply):
    """A model that is served."""

    layers: dict[str, int] = Field(
        description="How many each stack has.", examples=[{"encoder": 3, "decoder": 3}]
    )
    heads: dict[str, int] = Field(
        description="How many an attention of each stack has.",
        examples=[{"encoder": 8, "decoder": 8}],
    )
    texts: list[str] = Field(
        description="The texts that it reads: `source` and `target`, or one `text`.",
        examples=[["source", "target"]],
    )
    capabilities: Annotated[list[str], BeforeValidator(sorted)] = Field(
        description="What can be asked of it.", examples=[["decode", "lens", "score"]]
    )


@fields_of(Token)
class TokenReply(BaseModel):
    """A piece of text; `start` and `end` count Unicode code points of the text as sent."""


class TokensReply(BaseModel):
    """What the encoder and the decoder read."""

    source: list[TokenReply]
    target: list[TokenReply]


class OneTextReply(BaseModel):
    """What a model of one text read."""

    text: list[TokenReply]


@fields_of(Output)
class OutputReply(BaseModel):
    """What was written, or scored."""

    tokens: list[TokenReply]
    logprobs: list[float | None] = Field(description="Of each token, in nats.")
    ranks: list[int] = Field(
        default=[],
        description="The place of each token among all of the vocabulary, from 1. Shares made "
        "before there were any have none.",
    )
    score: float | None = Field(description="Sum of `logprobs` over the length penalty.")


class TensorReply(BaseModel):
    """A tensor whose axes have names; `over` says which tokens an axis follows."""

    dims: list[str] = Field(examples=[["head", "query", "key"]])
    over: dict[str, str] = Field(examples=[{"query": "target", "key": "source"}])
    shape: list[int]
    dtype: Dtype | Literal["int32", "bool"]
    data: list[Any] = Field(description="Nested lists; null where a number is not finite.")


class PieceReply(BaseModel):
    """A token of the vocabulary, without a place."""

    text: str
    special: bool


Measure = list[float | None]


class SummaryReply(BaseModel):
    """What the heads of one attention do: means over the rows that have a choice, a head each.

    Null where no row counts; without the fields that this kind of attention has not.
    """

    entropy: Measure = Field(description="Of a row, in nats.")
    spread: Measure = Field(description="Entropy over its largest: 1 is looking everywhere alike.")
    first: Measure = Field(description="Share of the weight on the first token.")
    last: Measure = Field(description="Share on the last token.")
    special: Measure = Field(description="Share on special tokens.")
    same: Measure = Field(description="Share on the same word elsewhere.")
    distance: Measure = Field(default=[], description="|query - key| (self attention).")
    previous: Measure = Field(default=[], description="Share on the token before (self).")
    itself: Measure = Field(default=[], description="Share on the token itself (self).")
    next: Measure = Field(default=[], description="Share on the token after (self).")
    alignment: Measure = Field(default=[], description="How nearly one to one (cross).")
    pattern: list[str] = Field(description="One of the patterns that the docs define.")


class TraceReply(BaseModel):
    """Everything that happened inside, as far as it was selected."""

    id: str = Field(description="Digest of the request and the model: equal for equal runs.")
    model: str
    direction: str | None = Field(default=None, description="Of a model that translates.")
    tokens: TokensReply | OneTextReply
    output: OutputReply | None = Field(default=None, description="Absent where nothing is written.")
    tensors: dict[str, TensorReply]
    pieces: dict[str, PieceReply] = Field(
        default={}, description="What the ids in tensors named `…candidates` mean, by id."
    )
    summaries: dict[str, SummaryReply] = Field(
        default={}, description="By attention, such as `encoder.0.self`; where asked for."
    )


class LabStepReply(BaseModel):
    """A step of attention by hand, like a tensor."""

    dims: list[str] = Field(examples=[["head", "query", "key"]])
    over: dict[str, str] = Field(examples=[{"query": "query", "key": "key"}])
    shape: list[int]
    dtype: Literal["float64", "bool"]
    data: Any = Field(description="Nested lists; of `loss` one number.")


class LabTraceReply(BaseModel):
    """The steps of attention by hand; of shuffled words also those `before.…`."""

    tokens: dict[str, list[str]] = Field(description="`query` and `key`, as the link names them.")
    tensors: dict[str, LabStepReply]


class ParametersReply(BaseModel):
    """Matrices and vectors of a model, as in `x @ W + b`."""

    model: str
    tensors: dict[str, TensorReply]


class PositionsReply(BaseModel):
    """A table of positional encodings, and the cosine similarity of every two rows."""

    variant: str
    positions: list[list[float]] = Field(description="[length][d_model]")
    similarity: list[list[float]] = Field(description="[length][length]")


class ProblemReply(BaseModel):
    """A problem document (RFC 9457)."""

    type: str = Field(examples=["urn:headlight:text-too-long"])
    title: str
    status: int
    detail: str
    field: str | None = None
    limit: int | None = Field(default=None, description="What is taken at most.")
    unit: str | None = Field(
        default=None,
        description="What `limit` counts: tokens, characters, bytes, entries, numbers, or units of "
        "work.",
    )
    value: int | None = Field(default=None, description="How many there were.")
