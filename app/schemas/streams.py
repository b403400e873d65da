"""What the API takes and answers line by line, as pydantic models."""

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
    """What to tell of each step."""

    candidates: Annotated[Whole, Field(ge=1, le=MAX_CANDIDATES)] = Field(
        default=10, description="Next tokens told of each hypothesis, the most probable ones."
    )


class DecodeRequest(Sentence, Watching):
    """A sentence, and how its translation is written."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"source": "The cat sat on the mat."},
                {"source": "The cat sat on the mat.", "decode": {"method": "beam", "beam": 3}},
            ]
        }
    )


class OneTextDecodeRequest(OneText, Watching):
    """A text, and how it is gone on with."""


AnyDecodeRequest = Annotated[
    Annotated[DecodeRequest, Tag(TWO_TEXTS)] | Annotated[OneTextDecodeRequest, Tag(ONE_TEXT)],
    Field(discriminator=ByTexts),
]


class SourceReply(BaseModel):
    """What the encoder reads."""

    source: list[TokenReply]


class DecodeStart(BaseModel):
    """How a decoding starts."""

    model: str
    direction: str | None = None
    tokens: SourceReply | OneTextReply
    decode: DecodeOptions = Field(description="As it applies here: nothing left out.")
    max_tokens: int = Field(description="Tokens written at most.")


class CandidateReply(BaseModel):
    """A token that could come next."""

    id: int
    text: str
    logprob: float = Field(description="The model's own, in nats.")
    probability: float
    kept: bool = Field(description="Whether a beam went on, or ended, with it.")


class HypothesisReply(BaseModel):
    """What had been written before a step, and what could come next."""

    ids: list[int]
    text: str
    logprob: float = Field(description="Sum over its tokens.")
    score: float = Field(description="Sum over the length penalty.")
    candidates: list[CandidateReply] = Field(description="The most probable, best first.")
    rest: float = Field(description="Probability of all that are not listed.")


class ChosenReply(PieceReply):
    """A token that a hypothesis goes on with."""

    id: int


class BeamReply(BaseModel):
    """A hypothesis with a token more."""

    parent: int = Field(description="Count into `hypotheses`.")
    token: ChosenReply
    logprob: float = Field(description="Sum over its tokens, this one included.")
    score: float
    state: Literal["live", "finished", "pruned"]
    rank: int = Field(description="The token's place among all that could be written, from 1.")
    pool: int | None = Field(description="Tokens that it was drawn from (`sample`).")
    drawn: float | None = Field(description="Its probability among these.")


class DecodeStep(BaseModel):
    """One step; greedy and sampling have one hypothesis and one beam."""

    index: int
    forced: bool = Field(description="Whether `decode.prefix` left no choice.")
    hypotheses: list[HypothesisReply] = Field(description="The live ones, best first.")
    beams: list[BeamReply] = Field(description="Live ones best first, then finished, then pruned.")


class DecodeEnd(BaseModel):
    """What was written in the end, as in a trace; without `ranks`."""

    output: OutputReply


class DecodeLine(BaseModel):
    """One of these: `start` first, then steps, then `end`; or `error`, and no more."""

    start: DecodeStart | None = None
    step: DecodeStep | None = None
    end: DecodeEnd | None = None
    error: ProblemReply | None = None


class Sweeping(Strict):
    """How heads are taken out."""

    effect: Ablated = Field(
        default="zero", description="What is done to a head, as in `interventions`."
    )
    row: Count | None = Field(default=None, description="Tell of this row alone; absent: of all.")


class SweepRequest(Sentence, Sweeping):
    """A sentence, and how its heads are taken out."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"source": "The cat sat on the mat."},
                {"source": "The cat sat on the mat.", "target": "猫坐在垫子上。", "row": 3},
            ]
        }
    )

    target: Text | None = Field(
        default=None, description="Score this text; absent: the model writes one."
    )


class OneTextSweepRequest(OneText, Sweeping):
    """A text, and how the heads that read it are taken out."""


AnySweepRequest = Annotated[
    Annotated[SweepRequest, Tag(TWO_TEXTS)] | Annotated[OneTextSweepRequest, Tag(ONE_TEXT)],
    Field(discriminator=ByTexts),
]


class SweepStart(BaseModel):
    """What the heads are taken out of."""

    model: str
    direction: str | None = None
    heads: int = Field(description="How many there are.")
    tokens: TokensReply | OneTextReply
    output: OutputReply = Field(description="With every head in its place.")
    logprobs: list[float] = Field(description="Of the token that each row writes, in nats.")


class AblationReply(BaseModel):
    """What is different without a head; a number a row."""

    at: str = Field(examples=["encoder.0.self"])
    head: int
    delta: list[float] = Field(
        description="Change of the written token's log-probability, in nats."
    )
    divergence: list[float] = Field(
        description="KL divergence of the next-token distribution from what it was, in nats."
    )


class SweepEnd(BaseModel):
    """All heads have been told of."""


class SweepLine(BaseModel):
    """One of these: `start` first, then `heads` with `done`, then `end`; or `error`."""

    start: SweepStart | None = None
    heads: list[AblationReply] | None = None
    done: int | None = Field(default=None, description="Heads told of so far.")
    end: SweepEnd | None = None
    error: ProblemReply | None = None
