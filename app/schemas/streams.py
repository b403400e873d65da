"""Requests and replies that are streamed line by line."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag

from app.schemas.decoding import DecodeOptions
from app.schemas.fields import (
    ONE_TEXT,
    TWO_TEXTS,
    ByTexts,
    Count,
    NamePattern,
    Strict,
    Text,
    Whole,
)
from app.schemas.interventions import PatchFrom
from app.schemas.replies import (
    OneTextReply,
    OutputReply,
    PieceReply,
    ProblemReply,
    TokenReply,
    TokensReply,
)
from app.schemas.traces import OneText, Sentence
from model.adapters.other_runs import Patch, in_chat
from model.adapters.sweep_changes import Ablated, Over

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


def _kind_of_effect(value: Any) -> str:
    return "word" if isinstance(value, str) else "patch"


class Sweeping(Strict):
    """What to change, one part at a time."""

    effect: Annotated[
        Annotated[Ablated, Tag("word")] | Annotated[PatchFrom, Tag("patch")],
        Discriminator(_kind_of_effect),
    ] = Field(
        default="zero",
        description="The effect on each head, or a patch of each part, as in `interventions`. "
        "Without `target` the other sentence reads what this one writes; without `rows` its tokens "
        "are aligned.",
    )
    over: Over = Field(
        default="heads",
        description="The parts to change, one at a time. `heads`: each head, of which a patch "
        "takes the `mix`; `sublayers` (`zero` or a patch): each `output`; `positions` (a patch): "
        "the residual stream after each layer at each token; `pairs` (not a patch): each head, "
        "then each pair of heads.",
    )
    among: list[NamePattern] | None = Field(
        default=None, description="For `pairs`: patterns of the attentions; absent: all of them."
    )
    against: Count | None = Field(
        default=None,
        description="The id of the token that the written one is contrasted with. Absent: for a "
        "patch, what is most probable in the other run, if that is another token; otherwise the "
        "second most probable one.",
    )
    row: Count | None = Field(default=None, description="Report only this row; absent: all rows.")

    def change(self) -> str | Patch:
        """Return the effect as a sweep takes it."""
        return self.effect if isinstance(self.effect, str) else self.effect.value()


class SweepRequest(Sentence, Sweeping):
    """A sentence, and what to change in the model that reads it."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"source": "The cat sat on the mat."},
                {"source": "The cat sat on the mat.", "target": "猫坐在垫子上。", "row": 3},
                {
                    "source": "My father is a teacher.",
                    "effect": {"patch": {"source": "My mother is a teacher."}},
                },
            ]
        }
    )

    target: Text | None = Field(
        default=None, description="The text to score; absent: the model writes one."
    )


class OneTextSweepRequest(OneText, Sweeping):
    """A text, and what to change in the model that reads it."""

    def change(self) -> str | Patch:
        made: str | Patch = super().change()
        if self.chat:
            made = in_chat(made)
        return made


AnySweepRequest = Annotated[
    Annotated[SweepRequest, Tag(TWO_TEXTS)] | Annotated[OneTextSweepRequest, Tag(ONE_TEXT)],
    Field(discriminator=ByTexts),
]


class AgainstReply(PieceReply):
    """A token that a written one is contrasted with."""

    id: int


class OtherRunReply(BaseModel):
    """The run that a patch takes its values from."""

    tokens: TokensReply | OneTextReply
    contrast: list[float | None] = Field(
        description="log p(written) − log p(against) in that run; null for a row of a single text "
        "that has no counterpart there."
    )
    rows: dict[str, list[tuple[int, int]]] = Field(
        description="Pairs of a row of that run and the row here that it replaces, by text."
    )


class SweepStart(BaseModel):
    """The run before anything is changed."""

    model: str
    direction: str | None = None
    heads: int = Field(description="Number of changes: of heads, unless `over` says otherwise.")
    tokens: TokensReply | OneTextReply
    output: OutputReply = Field(description="Output without changes.")
    logprobs: list[float] = Field(
        description="Log-probability of the token that each row predicts, in nats."
    )
    against: list[AgainstReply] = Field(description="The token that each row's is contrasted with.")
    contrast: list[float] = Field(description="log p(written) − log p(against), in nats.")
    candidates: list[list[AgainstReply]] = Field(
        description="For each row, other tokens that are probable: for a patch the five most "
        "probable ones in the other run, then those here."
    )
    other: OtherRunReply | None = Field(default=None, description="For a patch: the other run.")


class HeadReply(BaseModel):
    """A head of an attention."""

    at: str
    head: int | None


class AblationReply(BaseModel):
    """The effect of one change, with one number per row."""

    at: str = Field(
        examples=["encoder.0.self"], description="The attention; for a patch, the tensor."
    )
    head: int | None
    token: int | None = Field(default=None, description="The row that is patched, if only one is.")
    also: HeadReply | None = Field(default=None, description="Of a pair: the second head.")
    interaction: list[float] | None = Field(
        default=None,
        description="Of a pair: `delta` minus the sum of both alone; below 0: redundant heads.",
    )
    delta: list[float] = Field(description="Change of that token's log-probability, in nats.")
    divergence: list[float] = Field(
        description="KL divergence of the next-token distribution from the original, in nats."
    )
    contrast: list[float] = Field(description="Change of the contrast, in nats.")
    recovered: list[float | None] | None = Field(
        default=None,
        description="For a patch: that change as a share of the difference between both runs; null "
        "if the runs hardly differ (by less than 0.01 nats), or the row has no counterpart.",
    )


class SweepEnd(BaseModel):
    """All changes are done."""


class SweepLine(BaseModel):
    """A line of the stream: `start`, then `heads` with `done`, then `end`; or `error`."""

    start: SweepStart | None = None
    heads: list[AblationReply] | None = None
    done: int | None = Field(default=None, description="Changes done so far.")
    end: SweepEnd | None = None
    error: ProblemReply | None = None
