"""The options of a live run, its events in the order in which they occur, and its snapshot files.

    for event in LiveRun(folder, LiveOptions(), minutes=10).events():
        match event:
            case Observed(): print(event.step, event.accuracy)

Losses are in nats per target token. Seconds are training time, without pauses.

This module imports no training code: the server validates requests with it. The run itself is
`model.live_training.live_run`, in a process of its own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Annotated, Literal

from annotated_types import Interval
from safetensors.torch import load_file

from model.adapters.requests.model_info import ModelInfo
from model.adapters.requests.trace import Trace
from model.bundle.weights import CARD, TRAINING, save_bundle
from model.errors import InputError
from model.request_limits import Seed
from model.transformer.config import ModelConfig
from model.transformer.stacks import Transformer
from model.zoo.registry import DIRECTION, TASKS, tokenizer_of
from model.zoo.tasks import Task

if TYPE_CHECKING:
    TaskName = str  # a checker takes no computed literal
else:
    TaskName = Literal[tuple(TASKS)]


MAX_TOKENS = 40  # enough for the longest source or target of every task

COOLDOWN = 0.5  # last part of the steps, over which the learning rate falls to 0

MAX_LENGTH = max(task.most for task in TASKS.values())

EXAMPLE = 5  # length of the example that is shown

Positions = Literal["sinusoidal", "learned", "relative", "relative-product", "rotary", "none"]

Scoring = Literal["scaled-dot", "dot", "additive", "additive-bias"]

Layers = Annotated[int, Interval(ge=1, le=3)]


@dataclass(frozen=True)
class TaskOffer:
    """A task that can be trained. Lengths are counted in `unit`."""

    unit: str
    shortest: int  # lowest value of `longest`
    usual: int  # its default
    most: int  # its highest value
    example: tuple[str, str]  # a source and its answer


def tasks_offered() -> dict[str, TaskOffer]:
    """Return the tasks by name."""
    return {name: _offer(name, task) for name, task in TASKS.items()}


def _offer(name: str, task: Task) -> TaskOffer:
    example = task.draw(Random(name), min(task.usual, EXAMPLE), held_out=False)
    texts = (example.source_text, example.target_text)
    return TaskOffer(task.unit, max(task.shortest, 1), task.usual, task.most, texts)


@dataclass(frozen=True)
class LiveOptions:
    """A task, the parts of the model, and how to train it.

    With the defaults, a model learns to reverse letters within a minute on one idle core.
    """

    task: TaskName = "reverse"
    longest: Annotated[int, Interval(ge=1, le=MAX_LENGTH)] | None = None
    """Length of the longest examples to train and test on, in the task's unit (letters, digits);
    if absent, the task's default."""
    positions: Positions = "rotary"
    scoring: Scoring = "scaled-dot"
    mask: Literal["padding", "causal", "window-2", "window-3", "window-5"] = "padding"
    """Mask of the encoder's self-attention: `padding` hides no token, `window-3` hides keys that
    are three or more positions away."""
    norm: Literal["post", "pre"] = "post"
    heads: Annotated[int, Interval(ge=1, le=8)] = 2
    encoder_layers: Layers = 1
    decoder_layers: Layers = 1
    d_model: Annotated[int, Interval(ge=8, le=128)] = 64
    """Width of the model; the hidden layer of the feed-forward network is twice as wide."""
    steps: Annotated[int, Interval(ge=10, le=100_000)] = 1500
    """Training steps; over the second half, the learning rate falls to 0."""
    batch: Annotated[int, Interval(ge=100, le=6000)] = 1000
    """Tokens per step, source and target together."""
    learning_rate: Annotated[float, Interval(ge=0.0, le=100.0)] = 0.6
    """Factor on the paper's schedule, d_model^−0.5 · min(step^−0.5, step · warmup^−1.5)."""
    warmup: Annotated[int, Interval(ge=1, le=10_000)] = 200
    """Steps over which the learning rate rises; 1 means no warm-up."""
    label_smoothing: Annotated[float, Interval(ge=0.0, le=0.9)] = 0.0
    dropout: Annotated[float, Interval(ge=0.0, le=0.9)] = 0.0
    seed: Seed = 1
    """Seed of the initial weights, the examples and their order."""

    def check(self) -> None:
        """Raise `InputError` if the options do not fit together."""
        task = self.task_made
        shortest = max(task.shortest, 1)
        if self.longest is not None and not shortest <= self.longest <= task.most:
            limits = f"from {shortest} to {task.most} {task.unit} for this task"
            raise InputError("out-of-range", "longest", f"longest must be {limits}")
        if self.d_model % self.heads:
            detail = f"heads must divide d_model: {self.d_model} is not a multiple of {self.heads}"
            raise InputError("does-not-fit", "heads", detail)
        try:
            self.config(1)
        except ValueError as error:
            raise InputError("does-not-fit", "positions", str(error)) from error

    @property
    def task_made(self) -> Task:
        """The task itself."""
        return TASKS[self.task]

    @property
    def lengths(self) -> tuple[int, int]:
        """Lengths of the shortest and the longest examples to train and test on."""
        task = self.task_made
        return task.shortest, task.usual if self.longest is None else self.longest

    def config(self, vocabulary: int) -> ModelConfig:
        """Return the model's configuration. Raises `ValueError` if the parts do not fit."""
        return ModelConfig(
            vocabulary=vocabulary,
            d_model=self.d_model,
            heads=self.heads,
            d_ff=2 * self.d_model,
            encoder_layers=self.encoder_layers,
            decoder_layers=self.decoder_layers,
            dropout=self.dropout,
            max_tokens=MAX_TOKENS,
            norm=self.norm,
            positions=self.positions,
            scoring=self.scoring,
            encoder_mask=self.mask,
        )

    @property
    def shapes(self) -> Mapping[str, tuple[int, ...]]:
        """Shapes of the model's parameters, by name."""
        model = Transformer(self.config(len(tokenizer_of(self.task_made))))
        return {name: tuple(value.shape) for name, value in model.state_dict().items()}

    def check_fork(self, parent: LiveOptions, step: int) -> None:
        """Raise `InputError` if these options cannot continue `parent`'s run from `step`."""
        self.check()
        if self.steps <= step:
            detail = f"steps must be more than {step}, the step that the run continues from"
            raise InputError("out-of-range", "steps", detail)
        mine, theirs = self.shapes, parent.shapes
        if mine != theirs:
            differing = next(
                name for name in {**mine, **theirs} if mine.get(name) != theirs.get(name)
            )
            detail = f"with these options the parameter {differing} does not fit the snapshot"
            raise InputError("does-not-fit", "options", detail)


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
