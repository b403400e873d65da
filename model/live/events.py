"""What a watched run tells, in the order in which it happens.

    for event in LiveRun(folder, LiveOptions(), minutes=10).events():
        match event:
            case Observed(): print(event.step, event.accuracy)

Losses are in nats a written token. Seconds are of training: pauses are not counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from model.adapters.model_info import ModelInfo
from model.adapters.request import Trace


@dataclass(frozen=True)
class Begun:
    """The model and the examples are in place."""

    model: ModelInfo
    examples: int
    probes: tuple[tuple[str, str], ...]  # the fixed inputs, each with the right answer
    step: int  # the one that it goes on from


@dataclass(frozen=True)
class Advanced:
    """Some steps were taken."""

    step: int
    loss: float  # mean over these steps, smoothed
    rate: float  # the learning rate
    seconds: float


@dataclass(frozen=True)
class Probed:
    """A fixed input at one step."""

    written: str  # what the model answers, greedily
    trace: Trace  # of the right answer, whatever is written: all steps are over the same tokens


@dataclass(frozen=True)
class Observed:
    """The model was tested and its state kept, so that another run can begin here."""

    step: int
    loss: float  # on the held-out examples, without smoothing
    accuracy: float  # the share of held-out answers that are right to the last token
    seconds: float
    probes: tuple[Probed, ...]


@dataclass(frozen=True)
class Ended:
    """Nothing is left to do."""

    why: Literal["steps", "minutes"]
    step: int


LiveEvent = Begun | Advanced | Observed | Ended
