"""What the API takes and answers, as pydantic models: the source of the OpenAPI reference.

What only a model can judge (a tensor's name, a head, a length in tokens) it judges itself.
"""

from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, Tag
from pydantic import Strict as Strictly

from app.schemas.fields import (
    ONE_TEXT,
    TWO_TEXTS,
    ByTexts,
    Name,
    Pattern,
    Strict,
    Text,
    Whole,
)
from app.schemas.interventions import InterventionRequest
from model.adapters.request import Decode, Request


class DecodeOptions(Strict):
    """How a target is written when none is given."""

    method: Literal["greedy", "beam", "sample"] = "greedy"
    beam: Whole = Field(default=4, description="Hypotheses kept (for `beam`).")
    length_penalty: float = Field(default=0.6, description="α of the length penalty (for `beam`).")
    max_tokens: Whole | None = Field(default=None, description="Tokens written at most.")
    temperature: float = Field(default=1.0, description="Under 1 safer, over 1 bolder (`sample`).")
    top_k: Whole | None = Field(default=None, description="Of the k most probable (`sample`).")
    top_p: float = Field(default=1.0, description="Of the fewest with this probability (`sample`).")
    seed: Whole = Field(default=0, description="The same seed draws the same (for `sample`).")
    prefix: Annotated[tuple[Whole, ...], Strictly(False)] = Field(
        default=(), description="Ids of the vocabulary that it begins with, whatever the method."
    )


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


class Run(Sentence, Running):
    """A sentence and how to run it."""

    target: Text | None = Field(
        default=None, description="Score this text; absent: the model writes one."
    )


class OneTextRun(OneText, Running):
    """A text and how to run it."""


class Recording(Strict):
    """What to record of a run."""

    select: list[Pattern] = Field(
        default=["*.weights"],
        description='Patterns (`*`, `?`, `[…]`) of tensor names. `[]` selects none, `["*"]` all '
        "but `….logits` and what is computed from the others, which `inside.*` names.",
    )
    summarise: list[Pattern] = Field(
        default=[],
        description="Patterns of attentions, such as `encoder.*.self`, to say of each head in a "
        "few numbers what it does. They come from the exact weights, whatever `dtype` is.",
        examples=[["encoder.*.self"]],
    )
    dtype: Literal["float32", "float16", "uint8"] = Field(
        default="float32",
        description="Of the numbers sent. `uint8` is value · 255, for weights only.",
    )


class TraceRequest(Run, Recording):
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


class OneTextTraceRequest(OneTextRun, Recording):
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


class HeadReply(BaseModel):
    """A head of the cross attention, by some of its rows."""

    model_config = ConfigDict(from_attributes=True)

    layer: int
    head: int
    rows: Literal["writes", "reads"] = Field(
        description="Those that write a word, or those that read it, one later."
    )


class TaughtReply(HeadReply):
    """One that training asked to align."""

    since: int = Field(description="The step of the training from which on it did.")


class AlignerReply(HeadReply):
    """The one that is nearest to word alignments made by people."""

    error_rate: float = Field(description="AER on pairs that it was not chosen by, 0 to 1.")


class AttentionReply(BaseModel):
    """An attention of a layer: `{place}.weights` and the like are its tensors."""

    model_config = ConfigDict(from_attributes=True)

    place: str = Field(examples=["encoder.0.self"])
    stack: str = Field(examples=["encoder"])
    layer: int
    kind: Literal["self", "cross"]
    query: str = Field(description="The text whose tokens look.", examples=["source"])
    key: str = Field(description="The text whose tokens are looked at.", examples=["source"])
    heads: int
    kv_heads: int = Field(description="Heads of keys and values.")
    mask: str = Field(examples=["padding", "causal"])
    scoring: str = Field(examples=["scaled-dot"])


class ModelReply(BaseModel):
    """A model that is served."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    name: str
    kind: Literal["encoder-decoder", "encoder", "decoder"]
    layers: dict[str, int] = Field(examples=[{"encoder": 3, "decoder": 3}])
    heads: dict[str, int] = Field(examples=[{"encoder": 8, "decoder": 8}])
    d_model: int
    parameters: int
    vocabulary: int
    languages: list[str]
    max_tokens: int
    digest: str = Field(description="Of config, tokenizer and weights.")
    card: str = Field(description="The model card, in Markdown.")
    aligners: list[AlignerReply] = Field(
        default=[],
        description="The head nearest to alignments made by people, by the rows that write a word "
        "and by those that read it; first the better one on the pairs that they were chosen by.",
    )
    taught: list[TaughtReply] = Field(
        default=[], description="Heads that training asked to align; all others were left alone."
    )
    examples: int = Field(
        default=0, description="Sentences that were watched while it was learned: `…/learning`."
    )
    texts: list[str] = Field(
        description="The texts that it reads: `source` and `target`, or one `text`.",
        examples=[["source", "target"]],
    )
    attentions: list[AttentionReply] = Field(description="Every attention, in order.")
    capabilities: Annotated[list[str], BeforeValidator(sorted)] = Field(
        description="What can be asked of it.", examples=[["decode", "lens", "score"]]
    )


class TokenReply(BaseModel):
    """A piece of text; `start` and `end` count Unicode code points of the text as sent."""

    text: str
    id: int
    start: int
    end: int
    special: bool


class TokensReply(BaseModel):
    """What the encoder and the decoder read."""

    source: list[TokenReply]
    target: list[TokenReply]


class OneTextReply(BaseModel):
    """What a model of one text read."""

    text: list[TokenReply]


class OutputReply(BaseModel):
    """What was written, or scored."""

    text: str
    tokens: list[TokenReply]
    logprobs: list[float | None] = Field(description="Of each token, in nats.")
    ranks: list[int] = Field(
        default=[],
        description="The place of each token among all of the vocabulary, from 1. Shares made "
        "before there were any have none.",
    )
    score: float | None = Field(description="Sum of `logprobs` over the length penalty.")
    finished: bool = Field(description="Whether it ends in `<eos>`.")


class TensorReply(BaseModel):
    """A tensor whose axes have names; `over` says which tokens an axis follows."""

    dims: list[str] = Field(examples=[["head", "query", "key"]])
    over: dict[str, str] = Field(examples=[{"query": "target", "key": "source"}])
    shape: list[int]
    dtype: Literal["float32", "float16", "uint8", "int32", "bool"]
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
