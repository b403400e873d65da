"""Replies about how a model learned."""

from pydantic import BaseModel, Field

from app.http.request_fields import Count, Name, Strict
from app.traces.replies import TensorReply, TokenReply, TokensReply


class SnapshotReply(BaseModel):
    """The model at one step of its training, measured on the same dev pairs at every step."""

    step: int
    loss: float | None = Field(
        description="Dev loss, in nats per token; null if training diverged."
    )
    bleu: dict[str, float] = Field(
        description="By direction, with greedy decoding; empty for a task of the zoo."
    )
    accuracy: float | None = Field(
        default=None, description="For a task of the zoo: share of held-out answers that are right."
    )


class WatchedReply(BaseModel):
    """A sentence recorded during training."""

    source: str
    direction: str
    text: str = Field(description="The trained model's translation.")


class LearningReply(BaseModel):
    """The saved steps of a training run, and the recorded sentences."""

    model: str
    digest: str = Field(description="Digest of the trained model.")
    snapshots: list[SnapshotReply]
    examples: list[WatchedReply]


class WrittenReply(BaseModel):
    """The trained model's translation, which every snapshot reads."""

    text: str
    tokens: list[TokenReply]


class ExampleReply(LearningReply):
    """One of the sentences, with the attention of every snapshot over the same tokens."""

    example: int
    direction: str
    tokens: TokensReply
    output: WrittenReply
    texts: list[str] = Field(description="Each snapshot's own translation.")
    tensors: dict[str, TensorReply] = Field(
        description="`{step}.{place}.weights`, uint8 (value · 255), and `{place}.mask`."
    )


class ExampleRequest(Strict):
    """An example, as in `GET /api/models/{id}/learning/{example}`."""

    model: Name | None = Field(default=None, description="A model's id; absent: the first model.")
    example: Count
