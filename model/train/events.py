"""What a training run tells whoever listens: plain data, in types that JSON has.

    for event in train(plan):
        match event:
            case Look(): print(event.step, event.dev)

Losses are in nats a written token, times in seconds, steps and epochs from the run's beginning.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Tidied:
    """Pairs of text were read and tidied; the first to come are those of the train set."""

    kept: int
    read: int
    counts: Mapping[str, int]  # how many pairs each rule left out or changed


@dataclass(frozen=True)
class Started:
    """The model and the data are in place."""

    parameters: int
    examples: int
    device: str
    threads: int
    step: int  # the one that it goes on from
    epoch: int  # the one under way, from 0


@dataclass(frozen=True)
class Step:
    """The weights were changed once."""

    step: int
    epoch: float  # the one under way in part
    epochs: int  # at most
    loss: float  # of this batch, smoothed
    mean: float  # of the batches since the last look
    rate: float  # the learning rate
    tokens: int  # that were read and written, in all
    seconds: float  # in all
    left: float  # seconds at most, as fast as until now


@dataclass(frozen=True)
class Look:
    """The dev loss was measured and a checkpoint kept."""

    step: int
    train: float  # mean since the last look, smoothed
    dev: float
    best: float  # the smallest dev loss
    best_step: int
    seconds: float


@dataclass(frozen=True)
class Snapshot:
    """The weights were kept for good."""

    step: int
    path: str


@dataclass(frozen=True)
class Finished:
    """The bundle is written."""

    bundle: str
    step: int


@dataclass(frozen=True)
class Distilled:
    """A part of a train set was translated by teachers."""

    done: int  # parts
    parts: int  # in all


@dataclass(frozen=True)
class StageBegun:
    """A stage of a recipe goes on, or begins."""

    name: str
    number: int  # from 1
    stages: int  # in all


@dataclass(frozen=True)
class StageDone:
    """A stage of a recipe is done, now or before."""

    name: str
    result: str  # where it is
    digest: str  # SHA-256 of the bundle's weights, config and tokenizer, or of the file


Event = Tidied | Started | Step | Look | Snapshot | Finished | Distilled | StageBegun | StageDone
