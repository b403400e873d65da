"""Requests and replies that are streamed line by line."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, Tag

from app.schemas.fields import ONE_TEXT, TWO_TEXTS, ByTexts, Count, Strict, Text, Whole
from app.schemas.replies import (
    OneTextReply,
    OutputReply,
    PieceReply,
    ProblemReply,
    TokenReply,
    TokensReply,
)
from app.schemas.traces import DecodeOptions, OneText, Sentence
from model.adapters.sweep import Ablated

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


AnyDecodeRequest = Annotated[
    Annotated[DecodeRequest, Tag(TWO_TEXTS)] | Annotated[OneTextDecodeRequest, Tag(ONE_TEXT)],
    Field(discriminator=ByTexts),
]


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


class Sweeping(Strict):
    """How to ablate heads."""

    effect: Ablated = Field(
        default="zero", description="The effect on each head, as in `interventions`."
    )
    row: Count | None = Field(default=None, description="Report only this row; absent: all rows.")


class SweepRequest(Sentence, Sweeping):
    """A sentence, and how to ablate the heads that read it."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"source": "The cat sat on the mat."},
                {"source": "The cat sat on the mat.", "target": "猫坐在垫子上。", "row": 3},
            ]
        }
    )

    target: Text | None = Field(
        default=None, description="The text to score; absent: the model writes one."
    )


class OneTextSweepRequest(OneText, Sweeping):
    """A text, and how to ablate the heads that read it."""


AnySweepRequest = Annotated[
    Annotated[SweepRequest, Tag(TWO_TEXTS)] | Annotated[OneTextSweepRequest, Tag(ONE_TEXT)],
    Field(discriminator=ByTexts),
]


class SweepStart(BaseModel):
    """The run before any head is ablated."""

    model: str
    direction: str | None = None
    heads: int = Field(description="Number of heads.")
    tokens: TokensReply | OneTextReply
    output: OutputReply = Field(description="Output with all heads active.")
    logprobs: list[float] = Field(
        description="Log-probability of the token that each row predicts, in nats."
    )


class AblationReply(BaseModel):
    """The effect of ablating a head, with one number per row."""

    at: str = Field(examples=["encoder.0.self"])
    head: int
    delta: list[float] = Field(description="Change of that token's log-probability, in nats.")
    divergence: list[float] = Field(
        description="KL divergence of the next-token distribution from the original, in nats."
    )


class SweepEnd(BaseModel):
    """All heads are done."""


class SweepLine(BaseModel):
    """A line of the stream: `start`, then `heads` with `done`, then `end`; or `error`."""

    start: SweepStart | None = None
    heads: list[AblationReply] | None = None
    done: int | None = Field(default=None, description="Heads done so far.")
    end: SweepEnd | None = None
    error: ProblemReply | None = None
