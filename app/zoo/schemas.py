"""Replies about the zoo."""

from pydantic import BaseModel, Field


class ZooTaskReply(BaseModel):
    """A task that models of the zoo learn."""

    id: str
    unit: str = Field(description="Unit of its lengths.", examples=["letters"])
    shortest: int = Field(description="The shortest length.")
    longest: int


class SeedReply(BaseModel):
    """One trained model of a recipe."""

    seed: int
    digest: str
    shipped: bool = Field(description="Whether it is the model being served.")
    parameters: int
    steps: int
    curve: list[tuple[int, float, float]] = Field(
        description="Step, training loss and dev loss, in nats per token."
    )
    accuracy: dict[str, float] = Field(
        description="By length: share of held-out examples whose answer is entirely right."
    )
    looks: dict[str, list[float]] = Field(
        description="By attention and head: how often its largest weight is on a token that "
        "determines the answer, at the longest training length."
    )


class ZooModelReply(BaseModel):
    """A model of the zoo, and how well it learned."""

    id: str = Field(description="As in `/api/models`.")
    name: str
    task: str
    changed: dict[str, str | int | float] = Field(
        description="How its recipe differs from the plain recipe of its task."
    )
    trained: tuple[int, int] = Field(description="The shortest and longest training length.")
    seeds: list[SeedReply]


class ZooReply(BaseModel):
    """The tasks, and the models being served."""

    tasks: list[ZooTaskReply]
    models: list[ZooModelReply]


class ZooExampleReply(BaseModel):
    """A text of a task with its right answer, and the tokens that determine each part of it.

    Positions count the tokens of a trace: the source's first is the tag, the target's is `<bos>`.
    """

    task: str
    source: str
    target: str
    held_out: bool = Field(description="Whether no model has it in its training data.")
    looks: dict[str, dict[int, list[int]]] = Field(
        description="For rows of `target` or `source`: the source tokens that determine "
        "each part of the answer."
    )
