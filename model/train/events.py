"""Events of a training run: plain data that JSON can represent.

    for event in train(plan):
        match event:
            case Look(): print(event.step, event.dev)

Losses are in nats per target token, times in seconds; steps and epochs count from the run's start.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Tidied:
    """Pairs of text were read and cleaned; the first such event is for the train set."""

    kept: int
    read: int
    counts: Mapping[str, int]  # how many pairs each rule dropped or changed


@dataclass(frozen=True)
class Started:
    """The model and the data are ready."""

    parameters: int
    examples: int
    device: str
    threads: int
    step: int  # the step that training continues from
    epoch: int  # the current one, from 0


@dataclass(frozen=True)
class Step:
    """The weights were updated once."""

    step: int
    epoch: float  # including the fraction of the current one
    epochs: int  # maximum
    loss: float  # of this batch, with label smoothing
    mean: float  # over the batches since the last `Look`
    rate: float  # the learning rate
    tokens: int  # source and target, in total
    seconds: float  # in total
    speed: float  # tokens per second since this process started training
    left: float  # seconds to the end at most, at this speed


@dataclass(frozen=True)
class Look:
    """The dev loss was measured and a checkpoint saved."""

    step: int
    train: float  # mean since the last `Look`, with label smoothing
    dev: float
    best: float  # the smallest dev loss
    best_step: int
    seconds: float


@dataclass(frozen=True)
class Snapshot:
    """The weights were saved permanently."""

    step: int
    path: str


@dataclass(frozen=True)
class Finished:
    """The bundle is written."""

    bundle: str
    step: int


@dataclass(frozen=True)
class Distilled:
    """A part of a train set has been translated by teachers."""

    done: int  # parts
    parts: int  # in total


@dataclass(frozen=True)
class StageBegun:
    """A stage of a recipe starts or continues."""

    name: str
    number: int  # from 1
    stages: int  # in total


@dataclass(frozen=True)
class StageDone:
    """A stage of a recipe is finished, now or earlier."""

    name: str
    result: str  # its path
    digest: str  # SHA-256 of the bundle's weights, config and tokenizer, or of the file


Event = Tidied | Started | Step | Look | Snapshot | Finished | Distilled | StageBegun | StageDone
