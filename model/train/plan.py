"""The plan of a training run: its options and learning-rate schedule, written as JSON or TOML.

In a file, the options of all parts are on one level, as on the command line:

    train = ["pairs.tsv"]
    dev = ["dev.tsv"]
    steps = 20000
    d_model = 512
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from model.transformer.config import ModelConfig


@dataclass(frozen=True)
class TrainingOptions:
    """How to optimise. The string beside a type is the option's help on the command line.

    Raises `ValueError`, naming the value and its limit, for invalid values.
    """

    seed: Annotated[int, "seed of weights, order and dropout"] = 1
    batch: Annotated[int, "tokens per step, including padding, both sides together"] = 3000
    epochs: Annotated[int, "maximum number"] = 60
    minutes: Annotated[float | None, "stop after this total time, with start-from"] = None
    steps: Annotated[int, "stop after this many, whatever the epoch; 0: no limit"] = 0
    cooldown: Annotated[int, "the rate falls linearly to 0 over this many last steps"] = 0
    every: Annotated[int, "steps between dev losses, with a checkpoint each"] = 500
    patience: Annotated[int, "measurements without a better dev loss before stopping early"] = 10
    learning_rate: Annotated[float, "factor on the paper's schedule"] = 1.0
    warmup: Annotated[int, "steps over which the learning rate rises"] = 1000
    # The paper (section 5.3) has 0.98; closer to 1 is better for small batches.
    adam_beta2: Annotated[float, "β₂ of Adam"] = 0.98
    label_smoothing: Annotated[float, "ε_ls, section 5.4"] = 0.1
    # Wu et al. 2021
    r_drop: Annotated[float, "weight of the divergence between two dropout passes"] = 0.0
    # Garg et al. 2019
    guide: Annotated[float, "weight of the alignment loss of two heads"] = 0.0
    guide_from: Annotated[int, "first step with the alignment loss"] = 0
    # Li et al. 2018
    head_divergence: Annotated[float, "reward for encoder heads that differ"] = 0.0
    # Late dropout: Liu et al. 2023
    dropout_from: Annotated[int, "first step with dropout"] = 0
    clip: Annotated[float, "largest norm of the gradient"] = 1.0
    average: Annotated[int, "number of last checkpoints to average"] = 4
    precision: Annotated[str, "of matrix products: bf16, float32, or auto (bf16 if fast)"] = "auto"

    def __post_init__(self) -> None:
        for name in ("batch", "epochs", "every", "patience", "warmup", "average"):
            if (value := getattr(self, name)) < 1:
                raise ValueError(f"{name} must be at least 1, not {value}")
        for name in ("guide", "head_divergence"):
            if (value := getattr(self, name)) < 0:
                raise ValueError(f"{name} must be at least 0, not {value}")
        if self.cooldown and not self.steps:
            raise ValueError("cooldown needs steps: the number of steps after which the rate is 0")

    def rate(self, step: int, d_model: int, begun: int = 0) -> float:
        """Return the learning rate of a step, from 1, if Adam started at step `begun`."""
        rate = learning_rate(step, d_model, self.warmup, self.learning_rate, begun)
        return rate * cooling(step, self.steps, self.cooldown)


def learning_rate(
    step: int, d_model: int, warmup: int, factor: float = 1.0, begun: int = 0
) -> float:
    """Return factor · d_model^−0.5 · min(step^−0.5, (step − begun) · warmup^−1.5), step from 1.

    Equation 3, if Adam started at step 0. If it restarts later, the rate rises from 0 again,
    equally fast: Adam's first steps are as large as the rate allows, whatever the gradient.
    """
    return float(factor * d_model**-0.5 * min(step**-0.5, (step - begun) * warmup**-1.5))


def cooling(step: int, steps: int, cooldown: int) -> float:
    """Return a factor on the rate: 1, then linearly to 0 over the last `cooldown` of `steps`.

    The paper's schedule has no end, so a run can continue as long as time allows. One cooldown at
    the end then has the effect of a decaying schedule (Hägele et al. 2024, arXiv:2405.18392).
    """
    if not cooldown or not steps:
        return 1.0
    return min(1.0, max(0, steps - step + 1) / cooldown)


VOCABULARY = 8000  # maximum number of subwords
WEIGHT = re.compile(r"\d+(\.\d+)?")
MOST_WEIGHT = 10


@dataclass(frozen=True)
class TrainingData:
    """The data of a run. The string beside a type is the option's help on the command line."""

    train: Annotated[tuple[Path, ...], "TSV files, .gz or not"]
    dev: Annotated[tuple[Path, ...], "TSV files for early stopping"]
    held_out: Annotated[tuple[Path, ...], "TSV files whose sentences are kept out of training"] = ()
    back: Annotated[tuple[Path, ...], "TSV files from back-translate"] = ()
    sampled: Annotated[tuple[str, ...], "FILE=WEIGHT: a share of a file's pairs an epoch"] = ()
    start_from: Annotated[Path | None, "a run's folder or a bundle to continue from"] = None
    soften: Annotated[float, "factor on W_q and W_k of the run to start from"] = 1.0
    raw: Annotated[bool, "use the pairs without cleaning or filtering them"] = False
    languages: Annotated[tuple[str, str], "language codes of the two columns"] = ("en", "zh")
    one_way: Annotated[bool, "train only from the first language to the second"] = False
    augment: Annotated[float, "synthetic examples per real one"] = 0.15
    generate: Annotated[float, "generated examples of what people type first, per real one"] = 0.0
    unmark: Annotated[float, "share of sources whose final mark is removed"] = 0.0
    unread: Annotated[tuple[Path, ...], "TSV files whose sentences are never a source"] = ()

    def __post_init__(self) -> None:
        _ = self.weights

    @property
    def weights(self) -> list[tuple[Path, float]]:
        """The sampled files, each with its weight. Raises `ValueError` for anything else."""
        pairs = [entry.rpartition("=") for entry in self.sampled]
        for path, _, weight in pairs:
            if not (path and WEIGHT.fullmatch(weight) and 0 < float(weight) <= MOST_WEIGHT):
                detail = f"FILE=WEIGHT, with a weight above 0 and at most {MOST_WEIGHT}"
                raise ValueError(f"sampled must have {detail}, not {path}={weight}")
        return [(Path(path), float(weight)) for path, _, weight in pairs]

    @property
    def directions(self) -> list[str]:
        """The trained directions: both, or only the first."""
        first, second = self.languages
        return [f"{first}-{second}", *([] if self.one_way else [f"{second}-{first}"])]


@dataclass(frozen=True)
class TrainingPlan:
    """A training run: its folder, data, optimisation, and the model's shape.

    `model.vocabulary` is the maximum number of subwords; the pairs may yield fewer. The device
    determines the attention kernel.
    """

    folder: Annotated[Path, "the run's folder"]
    data: TrainingData
    options: TrainingOptions = field(default_factory=TrainingOptions)
    model: ModelConfig = field(default_factory=lambda: ModelConfig(VOCABULARY))
    device: Annotated[str, "auto, cpu or cuda"] = "auto"
    name: Annotated[str, "the model's name on the page"] = "English ↔ Chinese"

    def to_json(self) -> dict[str, Any]:
        """Return all options as a flat dictionary that JSON can represent."""
        values = {}
        for name, option in PLAN_OPTIONS.items():
            values[name] = getattr(getattr(self, option.part) if option.part else self, name)
        plain: dict[str, Any] = json.loads(json.dumps(values, default=str))
        return plain

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> TrainingPlan:
        """Read the result of `to_json`; omitted options have their defaults.

        Raises `ValueError` for an unknown or missing option, or one of the wrong type.
        """
        if unknown := sorted(told.keys() - PLAN_OPTIONS.keys()):
            raise ValueError(f"a training plan has no {', '.join(unknown)}")
        complete = {name: o.default for name, o in PLAN_OPTIONS.items()} | dict(told)
        if missing := [name for name, value in complete.items() if value is MISSING]:
            raise ValueError(f"a training plan needs {', '.join(missing)}")
        parts: dict[str, dict[str, Any]] = {part: {} for part in ("", *PARTS)}
        for name, value in complete.items():
            parts[PLAN_OPTIONS[name].part][name] = PLAN_OPTIONS[name].read(value)
        top = parts.pop("")
        return cls(**top, **{part: PARTS[part](**values) for part, values in parts.items()})


@dataclass(frozen=True)
class PlanOption:
    """An option in a plan's file and on the command line."""

    name: str
    part: str  # the part of the plan that has it; "": the plan itself
    kind: Any  # its type, without None
    optional: bool  # whether it may be None
    default: Any  # MISSING if it is required
    help: str

    def read(self, value: Any) -> Any:
        """Convert a value from JSON, TOML or a command line to the option's type.

        Raises `ValueError` for a value of the wrong type.
        """
        if value is None and self.optional:
            return None
        if get_origin(self.kind) is tuple:
            item, last = get_args(self.kind)
            fits = isinstance(value, list | tuple) and all(isinstance(v, str | Path) for v in value)
            fits = fits and (last is Ellipsis or len(value) == 2)
            items: Any = tuple(map(item, value)) if fits else None
        elif self.kind is Path:
            fits = isinstance(value, str | Path)
            items = Path(value) if fits else None
        else:
            fits = type(value) in ((int, float) if self.kind is float else (self.kind,))
            items = value
        if not fits:
            raise ValueError(f"{self.name} must be {self.wanted}, not {value!r}")
        return self.kind(items) if self.kind is float else items

    @property
    def wanted(self) -> str:
        """The type in words."""
        if get_origin(self.kind) is tuple:
            return "a list of strings" if Ellipsis in get_args(self.kind) else "two strings"
        return "a path" if self.kind is Path else str(self.kind.__name__)


def _options(cls: type, part: str) -> Iterator[PlanOption]:
    hints = get_type_hints(cls, include_extras=True)
    for field_ in fields(cls):
        kind, *notes = (
            get_args(hint) if get_origin(hint := hints[field_.name]) is Annotated else [hint]
        )
        kinds = get_args(kind) if isinstance(kind, UnionType) else (kind,)
        plain = str if get_origin(kinds[0]) is Literal else kinds[0]
        default = VOCABULARY if field_.name == "vocabulary" else field_.default
        help_ = next((note for note in notes if isinstance(note, str)), "")
        yield PlanOption(field_.name, part, plain, NoneType in kinds, default, help_)


PARTS: dict[str, Callable[..., Any]] = {
    "data": TrainingData,
    "options": TrainingOptions,
    "model": ModelConfig,
}
PLAN_OPTIONS = {
    option.name: option
    for option in (
        *_options(TrainingPlan, ""),
        *_options(TrainingData, "data"),
        *_options(TrainingOptions, "options"),
        *_options(ModelConfig, "model"),
    )
    if option.name not in (*PARTS, "kernel")
}


def read_plan(path: Path) -> dict[str, Any]:
    """Read the options in a file: JSON or, by its suffix, TOML."""
    text = path.read_text(encoding="utf-8")
    values: dict[str, Any] = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    return values
