"""The events of a live run, in the order in which they occur, and its snapshot files.

    for event in LiveRun(folder, LiveOptions(), minutes=10).events():
        match event:
            case Observed(): print(event.step, event.accuracy)

Losses are in nats per target token. Seconds are training time, without pauses.

This module imports no training code.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from safetensors.torch import load_file

from model.adapters.requests.model_info import ModelInfo
from model.adapters.requests.trace import Trace
from model.bundle.weights import CARD, TRAINING, save_bundle
from model.live_training.options import LiveOptions
from model.zoo.registry import DIRECTION, tokenizer_of


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


MODEL = "model."  # prefix of the parameters' names in a saved state


def state_path(folder: Path, step: int) -> Path:
    """Return the path of the state at a step: weights, optimizer moments, random state."""
    return folder / "snapshots" / f"{step:06d}.state.safetensors"


def trace_path(folder: Path, step: int, probe: int) -> Path:
    """Return the path of the trace of a fixed input at a step."""
    return folder / "snapshots" / f"{step:06d}.{probe}.trace.safetensors"


def keep(folder: Path, step: int, options: LiveOptions, name: str, card: str, bundle: Path) -> None:
    """Write a snapshot's model as a bundle. Raises `FileNotFoundError` if there is none."""
    state = load_file(state_path(folder, step))
    weights = {
        key.removeprefix(MODEL): value for key, value in state.items() if key.startswith(MODEL)
    }
    tokenizer = tokenizer_of(options.task_made)
    save_bundle(bundle, weights, options.config(len(tokenizer)), tokenizer, name)
    (bundle / CARD).write_text(card, encoding="utf-8")
    record = {"step": step, "directions": [DIRECTION]}
    (bundle / TRAINING).write_text(json.dumps(record) + "\n", encoding="utf-8")
