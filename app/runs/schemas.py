"""Requests and replies about training runs."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from app.http.problems import ProblemReply
from app.http.request_fields import Count, Strict, fields_of
from app.traces.replies import ModelReply
from model.live_training.options_and_events import LiveOptions

StateName = Literal["queued", "starting", "running", "paused", "finished", "stopped", "failed"]
Why = Literal[
    "steps", "minutes", "asked", "unwatched", "crashed", "storage-full", "storage-unavailable"
]


@fields_of(LiveOptions)
class RunOptions(Strict):
    """A task, the parts of the model, and how to train it."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"task": "reverse"}, {"task": "sort", "heads": 2}]}
    )

    def options(self) -> LiveOptions:
        """Convert the request to `LiveOptions`."""
        return LiveOptions(**self.model_dump())


class TaskReply(BaseModel):
    """A task that can be trained."""

    unit: str = Field(description="Unit of its lengths.")
    shortest: int = Field(description="Lowest value of `longest`.")
    usual: int = Field(description="Default of `longest`.")
    most: int = Field(description="Highest value of `longest`.")
    example: list[str] = Field(description="A source and its answer.")


class RangeReply(BaseModel):
    """The range of a number."""

    low: float
    high: float


class RunsReply(BaseModel):
    """The tasks and options that can be trained, and how busy the server is."""

    training: int = Field(description="Number of runs that have a process.")
    waiting: int = Field(description="Number of runs in the queue.")
    minutes: float = Field(description="Maximum training time of a run.")
    defaults: RunOptions
    tasks: dict[str, TaskReply]
    ranges: dict[str, RangeReply] = Field(description="Ranges of the numeric options, by name.")


class RunPatch(Strict):
    """Changes of a run; absent fields stay as they are."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"paused": True}, {"learning_rate": 0.1}, {"stop": True}]}
    )

    paused: bool | None = Field(default=None, description="Pause or resume.")
    learning_rate: Annotated[float, Field(ge=0, le=100)] | None = Field(
        default=None, description="Factor on the paper's schedule, from the next step on."
    )
    stop: Literal[True] | None = Field(default=None, description="End for good.")


class ForkRequest(Strict):
    """The snapshot from which a new run starts, and its changed options."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"step": 400, "options": {"learning_rate": 0.1}}]}
    )

    step: Count = Field(description="Step of a snapshot.")
    options: dict[str, Any] = Field(
        default={}, description="Changed options, as in `POST /api/runs`."
    )


class KeepRequest(Strict):
    """The snapshot to keep as a model."""

    model_config = ConfigDict(json_schema_extra={"examples": [{}, {"step": 400}]})

    step: Count | None = Field(default=None, description="Step of a snapshot; absent: the last.")


class ParentReply(BaseModel):
    """The run and the step that a run continues."""

    id: str
    step: int


class ProbeReply(BaseModel):
    """A fixed input, the same at every step, and its right answer."""

    source: str
    target: str


class RunSnapshotReply(BaseModel):
    """The model at one step, tested on held-out examples."""

    step: int
    loss: float | None = Field(description="In nats per token; null if training diverged.")
    accuracy: float = Field(description="Share of examples whose answer is entirely right.")
    seconds: float = Field(description="Of training.")
    written: list[str] = Field(description="The model's answer to each probe.")


class RunReply(BaseModel):
    """The current state of a run."""

    id: str
    state: StateName
    why: Why | None = Field(description="Why it has ended.")
    place: int | None = Field(description="Place in the queue, from 1.")
    step: int
    options: RunOptions
    learning_rate: float = Field(description="Current factor on the schedule.")
    parent: ParentReply | None
    events: int = Field(description="Number of events so far, which is the number of the next one.")
    model: ModelReply | None = Field(description="The model in training; null before it starts.")
    probes: list[ProbeReply]
    snapshots: list[RunSnapshotReply]


class RunCreated(BaseModel):
    """A new run, in the queue or already started."""

    id: str
    url: str = Field(description="The page of the run, for everyone.")
    key: str = Field(description="Controls the run (`Run-Key`); returned only here.")


class KeptReply(BaseModel):
    """A kept model."""

    id: str = Field(description="As in `GET /api/models`.")
    name: str
    key: str = Field(description="Deletes the model (`Model-Key`); returned only here.")
    url: str = Field(description="The workspace with this model.")


class RunStateReply(BaseModel):
    """A change of the state, or of the place in the queue."""

    state: StateName
    why: Why | None
    place: int | None
    step: int


class BegunReply(BaseModel):
    """The model and the examples are ready."""

    step: int
    examples: int
    probes: list[ProbeReply]
    model: ModelReply


class ProgressReply(BaseModel):
    """A group of training steps is done."""

    step: int
    loss: float | None = Field(description="Mean over the steps, with label smoothing, nats/token.")
    rate: float = Field(description="Learning rate.")
    seconds: float = Field(description="Training time, without pauses.")


class RateReply(BaseModel):
    """The learning rate was changed."""

    factor: float
    step: int


class RunLine(BaseModel):
    """A numbered event, or `alive` without a number to keep the connection open."""

    n: int | None = None
    state: RunStateReply | None = None
    begun: BegunReply | None = None
    progress: ProgressReply | None = None
    snapshot: RunSnapshotReply | None = None
    learning_rate: RateReply | None = None
    alive: bool | None = None
    error: ProblemReply | None = None
