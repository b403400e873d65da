"""The events of a live run, in the order in which they occur.

    for event in LiveRun(folder, LiveOptions(), minutes=10).events():
        match event:
            case Observed(): print(event.step, event.accuracy)

Losses are in nats per target token. Seconds are training time, without pauses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from model.adapters.requests.model_info import ModelInfo
from model.adapters.requests.trace import Trace


@dataclass(frozen=True)
class Begun:
    """The model and the examples are ready."""

    model: ModelInfo
    examples: int
    probes: tuple[tuple[str, str], ...]  # fixed inputs, each with the right answer
    step: int  # the step that training starts from; above 0 if the run continues


@dataclass(frozen=True)
class Advanced:
    """A group of training steps is done."""

    step: int
    loss: float  # mean over these steps, with label smoothing
    rate: float  # learning rate of the last step
    seconds: float


@dataclass(frozen=True)
class Probed:
    """A fixed input at one step."""

    written: str  # the model's answer, decoded greedily
    trace: Trace  # of the right answer, so that the traces of all steps have the same tokens


@dataclass(frozen=True)
class Observed:
    """The model was tested and its state saved, so that another run can continue from here."""

    step: int
    loss: float  # on the held-out examples, without label smoothing
    accuracy: float  # share of held-out examples whose answer is entirely right, 0 to 1
    seconds: float
    probes: tuple[Probed, ...]


@dataclass(frozen=True)
class Ended:
    """Training is over: all steps are done, or the time limit is reached."""

    why: Literal["steps", "minutes"]
    step: int


LiveEvent = Begun | Advanced | Observed | Ended
