"""What the API answers about the zoo, as pydantic models."""

from pydantic import BaseModel, Field


class TaskReply(BaseModel):
    """A task that models of the zoo learn."""

    id: str
    unit: str = Field(description="What its lengths count.", examples=["letters"])
    shortest: int = Field(description="The shortest length that it has.")
    longest: int


class SeedReply(BaseModel):
    """A model that was trained, one of those of a recipe."""

    seed: int
    digest: str
    shipped: bool = Field(description="Whether it is the model that is served.")
    parameters: int
    steps: int
    curve: list[tuple[int, float, float]] = Field(
        description="Step, training loss and dev loss, in nats a token."
    )
    accuracy: dict[str, float] = Field(
        description="By length: the share of held-out answers without a mistake."
    )
    looks: dict[str, list[float]] = Field(
        description="By attention and head: how often its strongest look goes to a token that "
        "decides the answer, at the longest length that was trained."
    )


class ZooModelReply(BaseModel):
    """A model of the zoo and how well it learned."""

    id: str = Field(description="As in `/api/models`.")
    name: str
    task: str
    changed: dict[str, str | int | float] = Field(
        description="How its recipe differs from the plain one of its task."
    )
    trained: tuple[int, int] = Field(description="The shortest and longest length trained.")
    seeds: list[SeedReply]


class ZooReply(BaseModel):
    """The tasks, and the models that are served."""

    tasks: list[TaskReply]
    models: list[ZooModelReply]


class ZooExampleReply(BaseModel):
    """A text of a task with its right answer, and where each part of that is found.

    Places count the tokens of a trace: the source's first is the tag, the target's `<bos>`.
    """

    task: str
    source: str
    target: str
    held_out: bool = Field(description="Whether no model has it in its training data.")
    looks: dict[str, dict[int, list[int]]] = Field(
        description="By the text whose rows look, `target` or `source`, and by row: the tokens of "
        "the source that decide it."
    )
