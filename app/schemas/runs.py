"""What the API takes and tells about training runs, as pydantic models."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from app.schemas.fields import Count, Strict
from app.schemas.from_dataclass import fields_of
from app.schemas.replies import ModelReply, ProblemReply
from model.live.options import LiveOptions

StateName = Literal["queued", "starting", "running", "paused", "finished", "stopped", "failed"]
Why = Literal["steps", "minutes", "asked", "unwatched", "crashed"]


@fields_of(LiveOptions)
class RunOptions(Strict):
    """A task, the model's mechanisms, and how it is trained."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"task": "reverse"}, {"task": "sort", "heads": 2}]}
    )

    def options(self) -> LiveOptions:
        """The same as a run takes it."""
        return LiveOptions(**self.model_dump())


class TaskReply(BaseModel):
    """What can be learned."""

    unit: str = Field(description="That lengths are counted in.")
    shortest: int = Field(description="The least value of `longest`.")
    usual: int = Field(description="`longest` where nothing is chosen.")
    most: int = Field(description="The greatest value of `longest`.")
    example: list[str] = Field(description="A source and its answer.")


class RangeReply(BaseModel):
    """From where to where a number may be."""

    low: float
    high: float


class RunsReply(BaseModel):
    """What can be trained here, and how busy the server is."""

    training: int = Field(description="Runs that have a process.")
    waiting: int = Field(description="Runs that wait for one.")
    minutes: float = Field(description="That one run may train.")
    defaults: RunOptions
    tasks: dict[str, TaskReply]
    ranges: dict[str, RangeReply] = Field(description="By option, of those that are numbers.")


class RunPatch(Strict):
    """What is to be different from now on."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"paused": True}, {"learning_rate": 0.1}, {"stop": True}]}
    )

    paused: bool | None = Field(default=None, description="Rest, or go on.")
    learning_rate: Annotated[float, Field(ge=0, le=100)] | None = Field(
        default=None, description="The factor on the paper's schedule, from the next step on."
    )
    stop: Literal[True] | None = Field(default=None, description="End for good.")


class ForkRequest(Strict):
    """Where another run begins, and what is different in it."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"step": 400, "options": {"learning_rate": 0.1}}]}
    )

    step: Count = Field(description="Of a snapshot.")
    options: dict[str, Any] = Field(
        default={}, description="Those that differ, as in `POST /api/runs`."
    )


class KeepRequest(Strict):
    """Which snapshot becomes a model."""

    model_config = ConfigDict(json_schema_extra={"examples": [{}, {"step": 400}]})

    step: Count | None = Field(default=None, description="Of a snapshot; absent: the last.")


class ParentReply(BaseModel):
    """Where a run began."""

    id: str
    step: int


class ProbeReply(BaseModel):
    """A fixed input, the same at every step, and its right answer."""

    source: str
    target: str


class RunSnapshotReply(BaseModel):
    """The model at one step, tested on examples that are held out."""

    step: int
    loss: float | None = Field(description="In nats a token; null where it is no number any more.")
    accuracy: float = Field(description="The share of answers that are right to the last token.")
    seconds: float = Field(description="Of training.")
    written: list[str] = Field(description="What the model answers to each probe.")


class RunReply(BaseModel):
    """A run as it is now."""

    id: str
    state: StateName
    why: Why | None = Field(description="It has ended.")
    place: int | None = Field(description="In the queue, from 1.")
    step: int
    options: RunOptions
    learning_rate: float = Field(description="The factor as it is now.")
    parent: ParentReply | None
    events: int = Field(description="How many it has told: the next one's number.")
    model: ModelReply | None = Field(description="What is trained; null until it has begun.")
    probes: list[ProbeReply]
    snapshots: list[RunSnapshotReply]


class RunCreated(BaseModel):
    """A run that is in the queue, or has begun."""

    id: str
    url: str = Field(description="The page that shows it to anyone.")
    key: str = Field(description="Controls the run (`Run-Key`); it is told only here.")


class KeptReply(BaseModel):
    """A model that was kept."""

    id: str = Field(description="As in `GET /api/models`.")
    name: str
    key: str = Field(description="Deletes the model (`Model-Key`); it is told only here.")
    url: str = Field(description="The workspace, open on it.")


class RunStateReply(BaseModel):
    """Another state, or another place in the queue."""

    state: StateName
    why: Why | None
    place: int | None
    step: int


class BegunReply(BaseModel):
    """The model and the examples are in place."""

    step: int
    examples: int
    probes: list[ProbeReply]
    model: ModelReply


class ProgressReply(BaseModel):
    """Some steps were taken."""

    step: int
    loss: float | None = Field(description="Mean over these steps, smoothed, in nats a token.")
    rate: float = Field(description="The learning rate.")
    seconds: float = Field(description="Of training, pauses left out.")


class RateReply(BaseModel):
    """The learning rate was changed."""

    factor: float
    step: int


class RunLine(BaseModel):
    """One of these under its number; or `alive`, without one, where nothing has happened."""

    n: int | None = None
    state: RunStateReply | None = None
    begun: BegunReply | None = None
    progress: ProgressReply | None = None
    snapshot: RunSnapshotReply | None = None
    learning_rate: RateReply | None = None
    alive: bool | None = None
    error: ProblemReply | None = None
