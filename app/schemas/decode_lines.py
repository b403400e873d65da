"""Requests for the steps of decoding, and the lines of the reply."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, Tag

from app.http.fields import Strict, Whole
from app.http.problems import ProblemReply
from app.schemas.decoding import DecodeOptions
from app.traces.replies import OneTextReply, OutputReply, PieceReply, TokenReply
from app.traces.schemas import ONE_TEXT, TWO_TEXTS, ByTexts, OneText, Sentence

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
