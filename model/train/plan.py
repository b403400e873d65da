"""The plan of a training run: one frozen record, which can be written as JSON or TOML.

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

from model.train.options import TrainingOptions
from model.transformer.config import ModelConfig

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
        pairs = [told.rpartition("=") for told in self.sampled]
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
        told = {}
        for name, option in PLAN_OPTIONS.items():
            told[name] = getattr(getattr(self, option.part) if option.part else self, name)
        plain: dict[str, Any] = json.loads(json.dumps(told, default=str))
        return plain

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> TrainingPlan:
        """Read the result of `to_json`; omitted options have their defaults.

        Raises `ValueError` for an unknown or missing option, or one of the wrong type.
        """
        if unknown := sorted(told.keys() - PLAN_OPTIONS.keys()):
            raise ValueError(f"a training plan has no {', '.join(unknown)}")
        given = {name: o.default for name, o in PLAN_OPTIONS.items()} | dict(told)
        if missing := [name for name, value in given.items() if value is MISSING]:
            raise ValueError(f"a training plan needs {', '.join(missing)}")
        parts: dict[str, dict[str, Any]] = {part: {} for part in ("", *PARTS)}
        for name, value in given.items():
            parts[PLAN_OPTIONS[name].part][name] = PLAN_OPTIONS[name].read(value)
        own = parts.pop("")
        return cls(**own, **{part: PARTS[part](**values) for part, values in parts.items()})


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
            made: Any = tuple(map(item, value)) if fits else None
        elif self.kind is Path:
            fits = isinstance(value, str | Path)
            made = Path(value) if fits else None
        else:
            fits = type(value) in ((int, float) if self.kind is float else (self.kind,))
            made = value
        if not fits:
            raise ValueError(f"{self.name} must be {self.wanted}, not {value!r}")
        return self.kind(made) if self.kind is float else made

    @property
    def wanted(self) -> str:
        """The type in words."""
        if get_origin(self.kind) is tuple:
            return "a list of strings" if Ellipsis in get_args(self.kind) else "two strings"
        return "a path" if self.kind is Path else str(self.kind.__name__)


def _options(cls: type, part: str) -> Iterator[PlanOption]:
    hints = get_type_hints(cls, include_extras=True)
    for one in fields(cls):
        kind, *notes = (
            get_args(hint) if get_origin(hint := hints[one.name]) is Annotated else [hint]
        )
        kinds = get_args(kind) if isinstance(kind, UnionType) else (kind,)
        plain = str if get_origin(kinds[0]) is Literal else kinds[0]
        default = VOCABULARY if one.name == "vocabulary" else one.default
        told = next((note for note in notes if isinstance(note, str)), "")
        yield PlanOption(one.name, part, plain, NoneType in kinds, default, told)


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
    told: dict[str, Any] = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    return told
