"""What can be chosen of a run that is watched. Nothing of training is imported here.

The server checks a request with it; the run itself is `model.live.run`, in a process of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Annotated, Literal

from annotated_types import Interval

from model.errors import InputError
from model.number_ranges import Seed
from model.transformer.config import ModelConfig
from model.transformer.stacks import Transformer
from model.zoo.registry import TASKS, tokenizer_of
from model.zoo.tasks import Task

MAX_TOKENS = 40  # of a source or a target, in every task at its longest
COOLDOWN = 0.5  # of all steps: over these the learning rate falls to 0
# Lengths to train, in the task's unit: where nothing is chosen, and at most.
USUAL, MOST = 10, 16
EXAMPLE = 5  # the length of one that is shown
LONGEST = {"addition": (2, 4), "brackets": (10, MOST), "who": (2, 2), "induction": (10, MOST)}

TaskName = Literal["copy", "reverse", "shift", "sort", "brackets", "addition", "induction", "who"]
Positions = Literal["sinusoidal", "learned", "relative", "relative-product", "rotary", "none"]
Scoring = Literal["scaled-dot", "dot", "additive", "additive-bias"]
Layers = Annotated[int, Interval(ge=1, le=3)]


@dataclass(frozen=True)
class TaskOffer:
    """What can be learned: lengths are counted in `unit`."""

    unit: str
    shortest: int  # that `longest` may be
    usual: int
    most: int
    example: tuple[str, str]  # a source and its answer


def tasks_offered() -> dict[str, TaskOffer]:
    """The tasks by name."""
    return {name: _offer(name, task) for name, task in TASKS.items()}


def _offer(name: str, task: Task) -> TaskOffer:
    usual, most = LONGEST.get(name, (USUAL, MOST))
    one = task.draw(Random(name), min(usual, EXAMPLE), held_out=False)
    return TaskOffer(
        task.unit, max(task.shortest, 1), usual, most, (one.source_text, one.target_text)
    )


@dataclass(frozen=True)
class LiveOptions:
    """A task, the model's mechanisms, and how it is trained.

    The defaults learn to reverse letters within a minute on one idle core.
    """

    task: TaskName = "reverse"
    longest: Annotated[int, Interval(ge=1, le=MOST)] | None = None
    """The longest examples that are trained and tested, in the task's unit (letters, digits);
    absent: as is usual for the task."""
    positions: Positions = "rotary"
    scoring: Scoring = "scaled-dot"
    mask: Literal["padding", "causal", "window-2", "window-3", "window-5"] = "padding"
    """Of the encoder's self-attention: `padding` hides nothing, `window-3` shows keys fewer than
    three positions away."""
    norm: Literal["post", "pre"] = "post"
    heads: Annotated[int, Interval(ge=1, le=8)] = 2
    encoder_layers: Layers = 1
    decoder_layers: Layers = 1
    d_model: Annotated[int, Interval(ge=8, le=128)] = 64
    """Width of the model; the feed-forward network is twice as wide."""
    steps: Annotated[int, Interval(ge=10, le=100_000)] = 1500
    """The step that the run ends at; over its second half the learning rate falls to 0."""
    batch: Annotated[int, Interval(ge=100, le=6000)] = 1000
    """Tokens a step, source and target together."""
    learning_rate: Annotated[float, Interval(ge=0.0, le=100.0)] = 0.6
    """A factor on the paper's schedule, d_model^−0.5 · min(step^−0.5, step · warmup^−1.5)."""
    warmup: Annotated[int, Interval(ge=1, le=10_000)] = 200
    """Steps over which the learning rate rises; 1: no warm-up."""
    label_smoothing: Annotated[float, Interval(ge=0.0, le=0.9)] = 0.0
    dropout: Annotated[float, Interval(ge=0.0, le=0.9)] = 0.0
    seed: Seed = 1
    """Of the weights, of the examples and of their order."""

    def check(self) -> None:
        """Raises `InputError` for what does not fit together."""
        shortest = max(self.task_made.shortest, 1)
        _, most = LONGEST.get(self.task, (USUAL, MOST))
        if self.longest is not None and not shortest <= self.longest <= most:
            limits = f"from {shortest} to {most} {self.task_made.unit} for this task"
            raise InputError("out-of-range", "longest", f"longest must be {limits}")
        if self.d_model % self.heads:
            detail = f"heads must divide d_model: {self.d_model} is no multiple of {self.heads}"
            raise InputError("does-not-fit", "heads", detail)
        try:
            self.config(1)
        except ValueError as error:
            raise InputError("does-not-fit", "positions", str(error)) from error

    @property
    def task_made(self) -> Task:
        """What is learned."""
        return TASKS[self.task]

    @property
    def lengths(self) -> tuple[int, int]:
        """The shortest and the longest examples that are trained and tested."""
        usual, _ = LONGEST.get(self.task, (USUAL, MOST))
        return self.task_made.shortest, usual if self.longest is None else self.longest

    def config(self, vocabulary: int) -> ModelConfig:
        """The model's shape, with so many tokens; raises `ValueError` where it has none."""
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
        """The shapes of the model's parameters, by name."""
        model = Transformer(self.config(len(tokenizer_of(self.task_made))))
        return {name: tuple(value.shape) for name, value in model.state_dict().items()}

    def check_fork(self, parent: LiveOptions, step: int) -> None:
        """Raises `InputError` where a run with these options cannot go on from one with others."""
        self.check()
        if self.steps <= step:
            detail = f"steps must be more than {step}, the step that the run goes on from"
            raise InputError("out-of-range", "steps", detail)
        mine, theirs = self.shapes, parent.shapes
        if mine != theirs:
            other = next(one for one in {**mine, **theirs} if mine.get(one) != theirs.get(one))
            detail = f"a model with these options has other parameters than the snapshot: {other}"
            raise InputError("does-not-fit", "options", detail)
