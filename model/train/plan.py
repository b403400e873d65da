"""What a training run is told: one frozen record, which JSON and TOML can hold.

In a file, the options of all parts lie side by side, as on the command line:

    train = ["pairs.tsv"]
    dev = ["dev.tsv"]
    steps = 20000
    d_model = 512
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from model.train.options import TrainingOptions
from model.transformer.config import ModelConfig

VOCABULARY = 8000  # subwords, at most


@dataclass(frozen=True)
class TrainingData:
    """What to learn from. The string beside a type is the option's help on the command line."""

    train: Annotated[tuple[Path, ...], "TSV files, .gz or not"]
    dev: Annotated[tuple[Path, ...], "TSV files to stop by"]
    held_out: Annotated[tuple[Path, ...], "TSV files that train must not touch"] = ()
    back: Annotated[tuple[Path, ...], "TSV files that back-translate made"] = ()
    start_from: Annotated[Path | None, "a run's folder or a bundle, from which it goes on"] = None
    soften: Annotated[float, "times W_q and W_k of the run taken over"] = 1.0
    raw: Annotated[bool, "neither tidy nor filter the pairs"] = False
    languages: Annotated[tuple[str, str], "of the columns"] = ("en", "zh")
    one_way: Annotated[bool, "train the first to the second only"] = False
    augment: Annotated[float, "made examples a real one"] = 0.15
    generate: Annotated[float, "generated examples a real one, of what people type first"] = 0.0
    unmark: Annotated[float, "share of sources that lose their final mark"] = 0.0
    unread: Annotated[tuple[Path, ...], "TSV files of whose sentences none is ever a source"] = ()

    @property
    def directions(self) -> list[str]:
        """What is trained to be translated: both ways, or the first one only."""
        first, second = self.languages
        return [f"{first}-{second}", *([] if self.one_way else [f"{second}-{first}"])]


@dataclass(frozen=True)
class TrainingPlan:
    """A run: where, what to learn from, how, and the model's shape.

    `model.vocabulary` is the most subwords there may be; the pairs may yield fewer. Which kernel
    the attention runs in is chosen by the device.
    """

    folder: Annotated[Path, "where the run keeps everything"]
    data: TrainingData
    options: TrainingOptions = field(default_factory=TrainingOptions)
    model: ModelConfig = field(default_factory=lambda: ModelConfig(VOCABULARY))
    device: Annotated[str, "auto, cpu or cuda"] = "auto"
    name: Annotated[str, "what the page calls the model"] = "English ↔ Chinese"

    def to_json(self) -> dict[str, Any]:
        """All options side by side, in types that JSON has."""
        told = {}
        for name, option in PLAN_OPTIONS.items():
            told[name] = getattr(getattr(self, option.part) if option.part else self, name)
        plain: dict[str, Any] = json.loads(json.dumps(told, default=str))
        return plain

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> TrainingPlan:
        """Reads what `to_json` gives; what is left out has its default.

        Raises `ValueError` for an option that there is not, that is missing, or of another type.
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
    """One name that a plan's file and the command line know."""

    name: str
    part: str  # which part of the plan has it; "": the plan itself
    kind: Any  # its type, without None
    optional: bool  # whether it may be None
    default: Any  # MISSING where it must be given
    help: str

    def read(self, value: Any) -> Any:
        """A value out of JSON, TOML or a command line in the type that the plan has.

        Raises `ValueError` for one of another type.
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
    """The options in a file, JSON or, by its ending, TOML."""
    text = path.read_text(encoding="utf-8")
    told: dict[str, Any] = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    return told
