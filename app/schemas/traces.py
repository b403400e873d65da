"""What the API takes and answers, as pydantic models: the source of the OpenAPI reference.

What only a model can judge (a tensor's name, a head, a length in tokens) it judges itself.
"""

from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, Tag

from app.engine.selection import Dtype
from app.schemas.fields import (
    ONE_TEXT,
    TWO_TEXTS,
    ByTexts,
    Name,
    NamePattern,
    Selected,
    Strict,
    Text,
    Whole,
)
from app.schemas.from_dataclass import DOCUMENTED, fields_of
from app.schemas.interventions import InterventionRequest
from model.adapters.model_info import ModelInfo
from model.adapters.request import Decode, Output, Request
from model.text.tokens import Token


@fields_of(Decode)
class DecodeOptions(Strict):
    """How a target is written when none is given."""


class Asking(Strict):
    """What every request for a run takes, whichever texts its model reads."""

    model: Name | None = Field(default=None, description="A model's id; absent: the first model.")
    decode: DecodeOptions = DecodeOptions()
    interventions: list[InterventionRequest] = Field(default=[], description="Applied in order.")

    @property
    def texts(self) -> dict[str, str | None]:
        """The texts as sent, by name; the first is the one that is read."""
        raise NotImplementedError

    def asked(self) -> Request:
        """The same as the model takes it, with nothing selected."""
        read, *_ = self.texts.values()
        return Request(
            source=read or "",
            decode=Decode(**self.decode.model_dump()),
            interventions=tuple(one.intervention() for one in self.interventions),
            select=(),
        )


class Sentence(Asking):
    """A sentence for an encoder–decoder, and how a translation of it is written."""

    source: Text = Field(description="The sentence, as typed.")
    direction: Name | None = Field(default=None, description="Such as `en-zh`; absent: by script.")

    @property
    def texts(self) -> dict[str, str | None]:
        return {"source": self.source, "target": getattr(self, "target", None)}

    def asked(self) -> Request:
        return replace(super().asked(), direction=self.direction)


class OneText(Asking):
    """A text for a model that reads one."""

    text: Text = Field(description="The text, as typed.")

    @property
    def texts(self) -> dict[str, str | None]:
        return {"text": self.text}


class Running(Asking):
    """How to run it."""

    pad_to: Whole | None = Field(default=None, description="Pad each text to this many tokens.")

    def request(self, select: list[str], summarise: list[str]) -> Request:
        """The same as the model takes it."""
        return replace(
            self.asked(),
            target=self.texts.get("target"),
            select=tuple(select),
            summarise=tuple(summarise),
            pad_to=self.pad_to,
        )


class RunRequest(Sentence, Running):
    """A sentence and how to run it."""

    target: Text | None = Field(
        default=None, description="Score this text; absent: the model writes one."
    )


class OneTextRunRequest(OneText, Running):
    """A text and how to run it."""


class Recording(Strict):
    """What to record of a run."""

    select: list[Selected] = Field(
        default=["*.weights"],
        description='Patterns (`*`, `?`, `[…]`) of tensor names. `[]` selects none, `["*"]` all '
        "but `….logits` and what is computed from the others, which `inside.*` names. After a "
        "pattern may stand a window, an index or a range for each axis, and a dtype: "
        "`encoder.0.self.weights@3,0:64,0:64:float16`. A tensor stands in the reply under its "
        "name with both.",
    )
    summarise: list[NamePattern] = Field(
        default=[],
        description="Patterns of attentions, such as `encoder.*.self`, to say of each head in a "
        "few numbers what it does. They come from the exact weights, whatever `dtype` is.",
        examples=[["encoder.*.self"]],
    )
    dtype: Dtype = Field(
        default="float32",
        description="Of the numbers sent, where `select` says no other. `uint8` is value · 255, "
        "for weights only.",
    )


class TraceRequest(RunRequest, Recording):
    """A sentence, how to run it, and what to record."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"source": "The cat sat on the mat."},
                {
                    "source": "The cat sat on the mat.",
                    "target": "猫坐在垫子上。",
                    "select": ["encoder.0.self.*"],
                    "interventions": [{"at": "encoder.1.self", "head": 3, "do": "zero"}],
                },
            ]
        }
    )


class OneTextTraceRequest(OneTextRunRequest, Recording):
    """A text, how to run it, and what to record."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"text": "The cat sat"}]})


AnyTraceRequest = Annotated[
    Annotated[TraceRequest, Tag(TWO_TEXTS)] | Annotated[OneTextTraceRequest, Tag(ONE_TEXT)],
    Field(discriminator=ByTexts),
]


class Health(BaseModel):
    """The server is up and its models are loaded."""

    status: Literal["ok"]
    version: str
    models: list[str]
    waiting: int = Field(description="Requests that wait for a model.")


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
        description="What `limit` counts: tokens, characters, bytes, entries or numbers.",
    )
    value: int | None = Field(default=None, description="How many there were.")
