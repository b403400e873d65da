"""Replies about runs, models and tables."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from app.engine.reply_formats import Dtype
from app.http.request_fields import DOCUMENTED, fields_of
from model.adapters.requests.model_info import ModelInfo
from model.adapters.requests.trace import Output
from model.explain.residual_stream import Origin
from model.text.tokens import Token


class Health(BaseModel):
    """The server is up."""

    status: Literal["ok"]
    version: str
    models: list[str]
    unopened: dict[str, str] = Field(
        description="Models that should be served and cannot be opened, each with the reason.",
        examples=[{"mine": "weights.safetensors: it is not a file"}],
    )
    waiting: int = Field(description="Requests waiting for a model.")
    sentence_seconds: float | None = Field(
        description="Seconds that a model lately took for a sentence of usual length; null until "
        "one is measured."
    )
    wait_seconds: float = Field(description="Expected wait of such a sentence.")
    service: Literal["full", "paced", "refusing"] = Field(
        description="The level of service: full; paced, so that pages send less often; refusing "
        "requests that would wait too long."
    )


class Ready(BaseModel):
    """A model answers, and the database accepts a write."""

    status: Literal["ready"]


@fields_of(ModelInfo)
class InfoReply(BaseModel):
    """The description of a model."""

    model_config = ConfigDict(from_attributes=True, **DOCUMENTED)


class ModelReply(InfoReply):
    """A model being served."""

    layers: dict[str, int] = Field(
        description="Number of layers per stack.", examples=[{"encoder": 3, "decoder": 3}]
    )
    heads: dict[str, int] = Field(
        description="Number of heads per attention, by stack.",
        examples=[{"encoder": 8, "decoder": 8}],
    )
    texts: list[str] = Field(
        description="The texts that it reads: `source` and `target`, or only `text`.",
        examples=[["source", "target"]],
    )
    capabilities: Annotated[list[str], BeforeValidator(sorted)] = Field(
        description="The capabilities that it has.", examples=[["decode", "lens", "score"]]
    )


class ListedModelReply(ModelReply):
    """A model in the list of those being served."""

    in_general: dict[str, list[list[tuple[str, float]]]] = Field(
        default={},
        description="What its heads do over many sentences, by attention and head: patterns, each "
        "with the share of rows in which it holds and none before it does. Empty: not measured.",
        examples=[{"encoder.0.self": [[["nearby", 0.72], ["special", 0.15]]]}],
    )


@fields_of(Token)
class TokenReply(BaseModel):
    """A piece of text; `start` and `end` count Unicode code points of the text as sent."""


class TokensReply(BaseModel):
    """The tokens that the encoder and the decoder read."""

    source: list[TokenReply]
    target: list[TokenReply]


class OneTextReply(BaseModel):
    """The tokens that a model of one text read."""

    text: list[TokenReply]


@fields_of(Output)
class OutputReply(BaseModel):
    """The text that was decoded or scored."""

    tokens: list[TokenReply]
    logprobs: list[float | None] = Field(description="Log-probability of each token, in nats.")
    ranks: list[int] = Field(
        default=[],
        description="The rank of each token in the whole vocabulary, from 1. Empty in shares made "
        "before ranks were stored.",
    )
    score: float | None = Field(description="Sum of `logprobs` over the length penalty.")


class TensorReply(BaseModel):
    """A tensor whose axes have names; `over` gives the texts of the query and key axes."""

    dims: list[str] = Field(examples=[["head", "query", "key"]])
    over: dict[str, str] = Field(examples=[{"query": "target", "key": "source"}])
    shape: list[int]
    dtype: Dtype | Literal["int32", "bool"]
    data: list[Any] = Field(description="Nested lists; null where a number is not finite.")


class PieceReply(BaseModel):
    """A token of the vocabulary, without a position in a text."""

    text: str
    special: bool


Measure = list[float | None]


class SummaryReply(BaseModel):
    """Measures of the heads of one attention: one mean per head, over rows that can choose keys.

    A number is null if no row counts; fields that do not apply to the attention are absent.
    """

    entropy: Measure = Field(description="Entropy of a row, in nats.")
    spread: Measure = Field(description="Entropy over its maximum: 1 is uniform attention.")
    first: Measure = Field(description="Weight on the first token.")
    last: Measure = Field(description="Weight on the last token.")
    special: Measure = Field(description="Weight on special tokens.")
    same: Measure = Field(description="Weight on the same word elsewhere.")
    distance: Measure = Field(default=[], description="|query - key| (self-attention).")
    previous: Measure = Field(default=[], description="Weight on the token before (self).")
    itself: Measure = Field(default=[], description="Weight on the token itself (self).")
    next: Measure = Field(default=[], description="Weight on the token after (self).")
    alignment: Measure = Field(
        default=[], description="How close to a one-to-one alignment (cross)."
    )
    pattern: list[str] = Field(description="Pattern of each head, as defined in docs/patterns.md.")


@fields_of(Origin)
class OriginReply(BaseModel):
    """Where a term of a score comes from."""


class ScoreReply(BaseModel):
    """The terms of one score, which name the axes of its tensors `inside.score.…`.

    Its numbers are null if the text does not reach the cell.
    """

    score: float | None = Field(description="scale · q · k + offset, before the mask.")
    offset: float | None = Field(description="What relative positions add to the product.")
    queries: list[OriginReply] = Field(description="The terms of the query: `query_term`.")
    keys: list[OriginReply] = Field(description="The terms of the key: `key_term`.")


class TraceReply(BaseModel):
    """The tokens, the output and the selected tensors of a run."""

    id: str = Field(description="Digest of the request and the model; equal runs have equal ids.")
    model: str
    direction: str | None = Field(default=None, description="Only for models that translate.")
    tokens: TokensReply | OneTextReply
    output: OutputReply | None = Field(default=None, description="Absent if nothing is written.")
    tensors: dict[str, TensorReply]
    pieces: dict[str, PieceReply] = Field(
        default={}, description="The tokens for ids in `…candidates` tensors, by id."
    )
    scores: dict[str, ScoreReply] = Field(
        default={},
        description="The terms of scores by cell, such as `decoder.1.cross.3.4.1`; if selected.",
    )
    summaries: dict[str, SummaryReply] = Field(
        default={}, description="By attention, such as `encoder.0.self`; if requested."
    )
    described: ModelReply | None = Field(
        default=None, description="In a share: the model of this reply, if it is not the share's."
    )


class LabStepReply(BaseModel):
    """A step of attention by hand, like a tensor."""

    dims: list[str] = Field(examples=[["head", "query", "key"]])
    over: dict[str, str] = Field(examples=[{"query": "query", "key": "key"}])
    shape: list[int]
    dtype: Literal["float64", "bool"]
    data: Any = Field(description="Nested lists; one number for `loss`.")


class LabTraceReply(BaseModel):
    """The steps of attention by hand; with shuffled words also the steps `before.…`."""

    tokens: dict[str, list[str]] = Field(description="`query` and `key`, as named in the link.")
    tensors: dict[str, LabStepReply]


class ParametersReply(BaseModel):
    """Matrices and vectors of a model, as in `x @ W + b`."""

    model: str
    tensors: dict[str, TensorReply]


class PositionsReply(BaseModel):
    """A table of positional encodings, and the cosine similarity of every pair of rows."""

    variant: str
    positions: list[list[float]] = Field(description="[length][d_model]")
    similarity: list[list[float]] = Field(description="[length][length]")
