"""Replies about what heads do over many sentences.

Requests and replies about texts of readers, which are indexed for the pages about heads.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from app.http.request_fields import Name, Strict, Text


class CostReply(BaseModel):
    """By how much the loss rises without a head, in nats per target token."""

    zero: float | None = Field(description="With its output replaced by zeros.")
    mean: float | None = Field(description="With its output replaced by its mean.")


class SimilarReply(BaseModel):
    """Another head of the same kind."""

    place: str
    head: int
    divergence: float = Field(
        description="Mean Jensen–Shannon divergence of their rows, in nats: 0 is the same "
        "attention, ln 2 = 0.69 never the same key."
    )


class HeldReply(BaseModel):
    """A pattern, and how often it holds."""

    pattern: str
    share: float = Field(description="Of the rows that count, 0 to 1.")


class ElsewhereReply(BaseModel):
    """A similar head of another model."""

    model: str
    name: str = Field(description="Of the model.")
    place: str
    head: int
    difference: float = Field(
        description="Mean difference of the shares of rows with a pattern, 0 (the same) to 1."
    )
    described: list[HeldReply]


class AddedReply(BaseModel):
    """A token whose logit rises."""

    token: str
    logit: float = Field(description="By how much, relative to the mean of all tokens.")


class WritesReply(BaseModel):
    """A token that a head looks at, and what its value adds to the logits with a weight of 1."""

    token: str
    rows: int = Field(description="Rows in which it has at least half of the head's weight.")
    adds: list[AddedReply] = Field(description="The most raised tokens; means over these rows.")


class SurveyedHeadReply(BaseModel):
    """What a head does over many sentences."""

    place: str = Field(examples=["encoder.0.self"])
    head: int = Field(description="From 0.")
    rows: int = Field(description="Rows that count: they can attend to at least two keys.")
    measures: dict[str, float | None] = Field(
        description="Means over rows, by name (docs/patterns.md); null where no row counts."
    )
    patterns: dict[str, float | None] = Field(
        description="Share of the rows that count in which each pattern holds, 0 to 1."
    )
    described: list[HeldReply] = Field(
        description="The few patterns that describe it, each with the share of rows in which it "
        "holds and none before it does."
    )
    similar: list[SimilarReply] = Field(description="The most similar heads, nearest first.")
    cost: CostReply | None = Field(description="Null: not measured.")
    writes: list[WritesReply] = Field(
        description="What it adds to the logits directly, by token that it looks at; empty: no "
        "output matrix reads its stack, or it gives no token half of its weight often enough."
    )


class SurveyReply(BaseModel):
    """What the heads of a model do over many sentences."""

    model: str
    digest: str
    title: str = Field(description="The name of the text.")
    sentences: int
    tokens: dict[str, int] = Field(description="Tokens by text.")
    pairs: int | None = Field(description="Sentence pairs over which costs were measured.")
    loss: float | None = Field(description="Loss with all heads, in nats per target token.")
    indexed: int = Field(description="Sentences that can be searched; 0: none.")
    heads: list[SurveyedHeadReply]


class IndexedSentence(BaseModel):
    """A sentence as in a request for a trace."""

    source: str
    direction: str | None = None
    target: str | None = Field(default=None, description="Absent: the model's own translation.")


class FoundToken(BaseModel):
    """A token of a row that was found."""

    index: int = Field(description="Among the tokens of its text, from 0.")
    text: str


class FoundRow(BaseModel):
    """A row that was found: where a token looks most."""

    sentence: IndexedSentence
    query: FoundToken
    key: FoundToken
    weight: float = Field(description="The row's largest weight, to 1/255.")


class FoundRowsReply(BaseModel):
    """Rows of a head, one per sentence, largest weight first."""

    rows: int = Field(description="Number of all rows that match.")
    sentences: int = Field(description="Number of sentences with such a row.")
    of: int = Field(description="Number of all sentences.")
    found: list[FoundRow]


class HeadExample(BaseModel):
    """A sentence, and its value in the ranking."""

    sentence: IndexedSentence
    value: float


class HeadExamplesReply(BaseModel):
    """Sentences from the top to the bottom of a ranking, one at each tenth."""

    by: str = Field(description="`largest`, or the name of a pattern.")
    examples: list[HeadExample]


class CorpusRequest(Strict):
    """A text to index."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"model": "en-zh", "text": "The cat sat on the mat.\nI know him."}]
        }
    )

    model: Name = Field(description="An id of `GET /api/models`.")
    text: Text = Field(
        description="A line is a sentence, or a sentence and its translation with a tab between "
        "them: then the translation is read instead of the model's own, in every direction."
    )
    split: Literal["lines", "sentences"] = Field(
        default="lines", description="`sentences`: lines are split after marks that end a sentence."
    )
    title: Annotated[Text, Field(max_length=100, description="What the pages call it.")] = ""


class CorpusReply(BaseModel):
    """A text, and how far it is indexed."""

    id: str
    model: str
    title: str
    given: int = Field(description="Sentences that were sent.")
    state: Literal["queued", "running", "done", "failed"]
    done: int = Field(description="Sentences indexed so far, in all directions.")
    of: int = Field(description="Sentences to index, in all directions; 0: not known yet.")
    why: str | None = Field(
        description="Why it failed: `unreadable` (the model can read none of the sentences), "
        "`too-slow`, `stopped` (the server was), `crashed`, or `storage-full` and "
        "`storage-unavailable` (its index could not be written)."
    )
    created: str
    expires: str = Field(description="When it is deleted.")


class CorpusCreated(CorpusReply):
    """A text that was added to the queue."""

    url: str = Field(description="The page with its heads. Anyone with the link can open it.")
    key: str = Field(description="Deletes the text: `Corpus-Key` of `DELETE /api/corpora/{id}`.")
