"""Requests that run a model: the source of the OpenAPI reference.

The model checks the values that depend on it: a tensor's name, a head, a length in tokens.

Requests for the steps of decoding, and the lines of the reply.
"""

from dataclasses import replace
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
)
from pydantic_core import PydanticCustomError

from app.engine.reply_formats import ENTRY, Dtype
from app.http.problems import ProblemReply
from app.http.request_fields import Name, NamePattern, Strict, Text, Whole, unicode_text, union_tag
from app.traces.interventions import DecodeOptions, InterventionRequests, decode_of
from app.traces.replies import OneTextReply, OutputReply, PieceReply, TokenReply
from model.adapters.requests.request import Request, read_alike
from model.trace.tensor_names import MAX_PATTERNS

# A pattern of tensor names, with an optional window and dtype.
Selected = Annotated[str, Field(max_length=128, pattern=ENTRY), AfterValidator(unicode_text)]

TWO_TEXTS, ONE_TEXT = union_tag("two texts"), union_tag("one text")


def by_texts(request: Any) -> str:
    """Choose the kind of request by its texts, so that an error is about the intended kind."""
    keys = request if isinstance(request, dict) else getattr(type(request), "model_fields", ())
    return ONE_TEXT if "text" in keys and "source" not in keys else TWO_TEXTS


OfTwo = TypeVar("OfTwo")
OfOne = TypeVar("OfOne")
# A request with two texts, or with one.
ByTexts = Annotated[
    Annotated[OfTwo, Tag(TWO_TEXTS)] | Annotated[OfOne, Tag(ONE_TEXT)],
    Field(discriminator=Discriminator(by_texts)),
]


class Asking(Strict):
    """Fields of every request for a run, for any model."""

    model: Name | None = Field(default=None, description="A model's id; absent: the first model.")
    decode: DecodeOptions = DecodeOptions()
    interventions: InterventionRequests = Field(default=[], description="Applied in order.")

    @property
    def texts(self) -> dict[str, str | None]:
        """Return the texts as sent, by name; the first is the one that is read."""
        raise NotImplementedError

    def asked(self) -> Request:
        """Convert the request to a `Request` that selects nothing."""
        read, *_ = self.texts.values()
        return Request(
            source=read or "",
            decode=decode_of(self.decode),
            interventions=tuple(intervention.intervention() for intervention in self.interventions),
            select=(),
        )


class Sentence(Asking):
    """A sentence for an encoder–decoder, and how to translate it."""

    source: Text = Field(description="The sentence, as typed.")
    direction: Name | None = Field(
        default=None, description="Such as `en-zh`; absent: detected from the script."
    )

    @property
    def texts(self) -> dict[str, str | None]:
        return {"source": self.source, "target": None}

    def asked(self) -> Request:
        return replace(super().asked(), direction=self.direction)


class Translation(Sentence):
    """A sentence and its translation."""

    target: Text | None = Field(
        default=None, description="The text to score; absent: the model writes one."
    )

    @property
    def texts(self) -> dict[str, str | None]:
        return {"source": self.source, "target": self.target}


class OneText(Asking):
    """A text for a model that reads one."""

    text: Text = Field(description="The text, as typed.")
    chat: bool = Field(
        default=False,
        description="Read the text as a user's turn of a chat, with the model's chat template.",
    )
    pair: Text | None = Field(
        default=None,
        description="A second text, for an encoder: it reads both as one, as its tokenizer joins "
        "them.",
    )

    @property
    def texts(self) -> dict[str, str | None]:
        return {"text": self.text} if self.pair is None else {"text": self.text, "pair": self.pair}

    def asked(self) -> Request:
        request = super().asked()
        if not self.chat and self.pair is None:
            return request
        # Another sentence is another turn, or has the same second text.
        interventions = tuple(
            replace(intervention, value=read_alike(intervention.value, self.chat, self.pair))
            for intervention in request.interventions
        )
        return replace(request, chat=self.chat, pair=self.pair, interventions=interventions)


class Running(Asking):
    """How to run the text."""

    pad_to: Whole | None = Field(default=None, description="Pad each text to this many tokens.")

    def request(self, select: list[str], summarise: list[str]) -> Request:
        """Convert the request to a `Request`."""
        return replace(
            self.asked(),
            target=self.texts.get("target"),
            select=tuple(select),
            summarise=tuple(summarise),
            pad_to=self.pad_to,
        )


class RunRequest(Translation, Running):
    """A sentence and how to run it."""


class OneTextRunRequest(OneText, Running):
    """A text and how to run it."""


def few_patterns(value: Any) -> Any:
    """Return patterns as sent, unless they are too many: before any is checked."""
    if isinstance(value, list) and len(value) > MAX_PATTERNS:
        bounds = {"limit": MAX_PATTERNS, "value": len(value)}
        raise PydanticCustomError("patterns_many", "too many patterns", bounds)
    return value


class Recording(Strict):
    """The tensors to record in a run."""

    select: Annotated[list[Selected], BeforeValidator(few_patterns)] = Field(
        default=["*.weights"],
        description='Patterns (`*`, `?`, `[…]`) of tensor names. `[]` selects none, `["*"]` all '
        "but `….logits` and the derived tensors `inside.*`. A pattern can be followed by "
        "a window (an index or a range for each axis) and a dtype: "
        "`encoder.0.self.weights@3,0:64,0:64:float16`. The tensor's name in the reply "
        "includes both.",
    )
    summarise: Annotated[list[NamePattern], BeforeValidator(few_patterns)] = Field(
        default=[],
        description="Patterns of attentions, such as `encoder.*.self`, whose heads to summarise. "
        "Summaries are computed from the exact weights, whatever `dtype` is.",
        examples=[["encoder.*.self"]],
    )
    dtype: Dtype = Field(
        default="float32",
        description="Type of the numbers sent, unless `select` gives another. `uint8` is "
        "value · 255, for weights only.",
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


AnyTraceRequest = ByTexts[TraceRequest, OneTextTraceRequest]


MAX_CANDIDATES = 50


class Watching(Strict):
    """The data to report for each step."""

    candidates: Annotated[Whole, Field(ge=1, le=MAX_CANDIDATES)] = Field(
        default=10, description="Number of most probable next tokens per hypothesis."
    )


class DecodeRequest(Sentence, Watching):
    """A sentence, and how to decode its translation."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"source": "The cat sat on the mat."},
                {"source": "The cat sat on the mat.", "decode": {"method": "beam", "beam": 3}},
            ]
        }
    )


class OneTextDecodeRequest(OneText, Watching):
    """A text, and how to continue it."""


AnyDecodeRequest = ByTexts[DecodeRequest, OneTextDecodeRequest]


class SourceReply(BaseModel):
    """The tokens that the encoder reads."""

    source: list[TokenReply]


class DecodeStart(BaseModel):
    """The first line of a decoding."""

    model: str
    direction: str | None = None
    tokens: SourceReply | OneTextReply
    decode: DecodeOptions = Field(description="With all defaults filled in.")
    max_tokens: int = Field(description="Maximum number of tokens written.")


class CandidateReply(BaseModel):
    """A candidate for the next token."""

    id: int
    text: str
    logprob: float = Field(description="The model's own log-probability, in nats.")
    probability: float
    kept: bool = Field(description="Whether a beam continued or ended with it.")


class HypothesisReply(BaseModel):
    """A hypothesis before a step, and the candidates for its next token."""

    ids: list[int]
    text: str
    logprob: float = Field(description="Sum over its tokens.")
    score: float = Field(description="The sum divided by the length penalty.")
    candidates: list[CandidateReply] = Field(description="The most probable, best first.")
    rest: float = Field(description="Total probability of all other tokens.")


class ChosenReply(PieceReply):
    """A token that a hypothesis continues with."""

    id: int


class BeamReply(BaseModel):
    """A hypothesis extended by one token."""

    parent: int = Field(description="Index into `hypotheses`.")
    token: ChosenReply
    logprob: float = Field(description="Sum over its tokens, including this one.")
    score: float
    state: Literal["live", "finished", "pruned"]
    rank: int = Field(description="The token's rank among all that can be written, from 1.")
    pool: int | None = Field(description="Number of tokens it was sampled from (`sample`).")
    drawn: float | None = Field(description="Its probability among these.")


class DecodeStep(BaseModel):
    """One step; greedy and sampling have one hypothesis and one beam."""

    index: int
    forced: bool = Field(description="Whether `decode.prefix` gives the token.")
    hypotheses: list[HypothesisReply] = Field(description="Live hypotheses, best first.")
    beams: list[BeamReply] = Field(description="Live ones best first, then finished, then pruned.")


class DecodeEnd(BaseModel):
    """The final output, as in a trace, without `ranks`."""

    output: OutputReply


class DecodeLine(BaseModel):
    """A line of the stream: `start`, then steps, then `end`; or `error`, which is the last."""

    start: DecodeStart | None = None
    step: DecodeStep | None = None
    end: DecodeEnd | None = None
    error: ProblemReply | None = None
