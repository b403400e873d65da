"""What the API answers about how a model was learned, as pydantic models."""

from pydantic import BaseModel, Field

from app.schemas.fields import Count, Name, Strict
from app.schemas.replies import TensorReply, TokenReply, TokensReply


class SnapshotReply(BaseModel):
    """The model at one step of its training, measured on the same dev pairs as at the others."""

    step: int
    loss: float = Field(description="Dev loss, in nats a token.")
    bleu: dict[str, float] = Field(description="By direction, greedy.")


class WatchedReply(BaseModel):
    """A sentence that was watched."""

    source: str
    direction: str
    text: str = Field(description="What the trained model makes of it.")


class LearningReply(BaseModel):
    """The steps of a training run that were kept, and the sentences that were watched."""

    model: str
    digest: str = Field(description="Of the trained model.")
    snapshots: list[SnapshotReply]
    examples: list[WatchedReply]


class WrittenReply(BaseModel):
    """What the trained model writes, and every snapshot is given to read."""

    text: str
    tokens: list[TokenReply]


class ExampleReply(LearningReply):
    """One of the sentences, with the attention of every snapshot over the same tokens."""

    example: int
    direction: str
    tokens: TokensReply
    output: WrittenReply
    texts: list[str] = Field(description="What each snapshot itself writes.")
    tensors: dict[str, TensorReply] = Field(
        description="`{step}.{place}.weights`, uint8 (value · 255), and `{place}.mask`."
    )


class ExampleRequest(Strict):
    """An example, as in `GET /api/models/{id}/learning/{example}`."""

    model: Name | None = Field(default=None, description="A model's id; absent: the first model.")
    example: Count
