"""A recipe: the stages from text files to a measured model, in one TOML file.

    [all]                               # options of every training run; a stage's own override them
    dev = ["$DATA/dev.tsv"]

    [bundles.before]                    # a bundle that another recipe made, of this digest
    path = "$BEFORE"
    digest = "9371…"

    [stages.base]                       # a training run, if there is no `do`
    train = ["$DATA/train.tsv.gz"]
    steps = 20000

    [stages.branch]
    start_from = "base"                 # the stage, with its moments; "base/bundle": the weights
    train = ["$DATA/other.tsv.gz"]
    steps = 24000

    [stages.mean]
    do = "average"
    bundles = ["base", "branch"]

    [stages.lessons]
    do = "distil"
    teachers = ["mean"]
    train = ["$DATA/train.tsv.gz"]

    [stages.student]
    train = ["$DATA/train.tsv.gz"]
    back = ["lessons"]

    [stages.measured]
    do = "measure"
    bundle = "student"
    train = ["$DATA/train.tsv.gz"]
    dev = "$DATA/dev.tsv"
    tests = { test = "$DATA/test.tsv" }
    predecessor = "before"

A stage's folder has its name. A stage may refer by name to earlier ones and to the bundles that the
recipe starts from. `$NAME` is read from the environment.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tomllib
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from model.adapters.encoder_decoder.encoder_decoder_adapter import load
from model.bundle.measurements import LEARNING
from model.bundle.model_card import TEMPLATE, write_card
from model.bundle.weights import CONFIG, TRAINING, digest_of, load_bundle, write_sums
from model.errors import FileError
from model.measure.attention_history import EXAMPLES, write_history
from model.measure.certainty import write_certainty
from model.measure.head_survey import survey_heads
from model.measure.heads import write_means, write_report
from model.measure.heads_report import write_page
from model.measure.scores import SENTENCES, measure, write_figures
from model.measure.source_words import write_sources
from model.train.combined_weights import average_bundles
from model.train.events import Event, StageBegun, StageDone
from model.train.plan import TrainingPlan
from model.train.run import BUNDLE, train
from model.train.run_state import write_text
from model.train.training_examples import RefusedError, Teaching, distil


@dataclass(frozen=True)
class Measuring:
    """The data to measure a bundle on."""

    bundle: Path
    train: tuple[Path, ...]
    """Text over which the heads' mean outputs are taken."""
    dev: Path
    """Pairs for the report on the heads, and to vary as people type them."""
    tests: dict[str, Path] = field(default_factory=dict)
    """Test sets by name."""
    gate: Path | None = None
    align: Path | None = None
    """Folder with hand-aligned pairs."""
    certainty: dict[str, Path] = field(default_factory=dict)
    """Dev sets by name, on which it is measured when the model is unsure."""
    predecessor: Path | None = None
    """The bundle in whose place this one comes: it has the same card's template, sentences and
    text to search, and continues its history. Without it there is no card."""
    pairs: int = 4000
    """Number of train pairs for the mean outputs."""
    heads: int = 300
    """Number of dev pairs for the report."""
    survey: str = ""
    """What the pages about heads call the dev pairs; without it they are not surveyed."""


CORPUS, CORPUS_TEXT = "corpus", "corpus.txt"
INHERITED = (SENTENCES, TEMPLATE, EXAMPLES, LEARNING, CORPUS_TEXT)
SURVEYED = 600  # pairs
HISTORY_SOURCES = 100  # sentences per direction
ALIGNED = 16  # pairs: the integrals of some take minutes


def measured(measuring: Measuring, result: Path, device: str, jobs: int) -> None:
    """Write a copy of the bundle, with all that is measured on it and its card, as `result`.

    It replaces a copy that an interruption left unfinished.
    """
    shutil.rmtree(result, ignore_errors=True)
    shutil.copytree(measuring.bundle, result)
    if measuring.predecessor:
        for name in INHERITED:
            if (path := measuring.predecessor / name).is_file():
                shutil.copyfile(path, result / name)
    write_sums(result)
    if (result / LEARNING).is_file():
        write_history(result, [], _step(result), measuring.dev, HISTORY_SOURCES, extend=True)
    write_means(result, measuring.train, measuring.pairs)
    write_report(result, measuring.dev, measuring.align, measuring.heads)
    if measuring.align:
        write_sources(result, measuring.align, ALIGNED)
    write_page(result)
    adapter = load(result, device)
    if measuring.survey:
        pairs = measuring.dev.read_text(encoding="utf-8").splitlines()
        survey_heads(adapter, pairs, result, title=measuring.survey, count=SURVEYED)
    if (result / CORPUS_TEXT).is_file():
        text = (result / CORPUS_TEXT).read_text(encoding="utf-8").splitlines()
        survey_heads(adapter, text, result / CORPUS, title="Headlight", index=True)
    if measuring.certainty:
        write_certainty(result, measuring.certainty, gate=measuring.gate)
    first, second = load_bundle(result).languages
    figures = measure(
        result,
        measuring.tests,
        measuring.dev,
        device,
        (first, second),
        2,
        jobs,
        gate=measuring.gate,
    )
    write_figures(result, figures)
    if (result / TEMPLATE).is_file():
        write_card(result)


def _step(bundle: Path) -> int:
    record: dict[str, Any] = json.loads((bundle / TRAINING).read_text(encoding="utf-8"))
    return int(record["step"])


DONE = "done.json"
ROWS = "pairs.tsv"
Options = Mapping[str, Any]


@dataclass(frozen=True)
class Stage:
    """One step of a recipe. `do` is "train", "average", "distil" or "measure"."""

    name: str
    do: str
    options: Options  # with every path resolved
    folder: Path
    inputs: Mapping[str, Path]  # by name, results of stages before it and given bundles

    @property
    def result(self) -> Path:
        """The bundle or file that it creates."""
        return self.folder / (ROWS if self.do == "distil" else BUNDLE)

    def run(self, device: str, jobs: int) -> Generator[Event, None, None]:
        """Run the stage, or continue it where it was interrupted."""
        options = dict(self.options)
        if self.do == "train":
            yield from train(self.plan(device))
        elif self.do == "average":
            average_bundles(self.result, [Path(path) for path in options["bundles"]])
        elif self.do == "measure":
            measured(_measuring(options), self.result, device, jobs)
        else:
            files = [Path(path) for path in options.pop("train")]
            options["teachers"] = tuple(Path(path) for path in options["teachers"])
            yield from distil(Teaching(**options, device=device), files, self.result, jobs)

    def plan(self, device: str = "auto") -> TrainingPlan:
        """Return the training run of a stage that trains."""
        plan = {**self.options, "folder": str(self.folder), "device": device}
        return TrainingPlan.from_json(plan)

    def asked(self) -> Options:
        """Return everything that the result depends on, in JSON types."""
        inputs = {name: digest(path) for name, path in self.inputs.items()}
        return {"do": self.do, "options": self.options, "inputs": inputs}


# The options of a stage that does not train, with their types.
OWN: dict[str, dict[str, type]] = {
    "average": {"bundles": list},
    "distil": {"teachers": list, "train": list, "beam": int, "reverse": float, "part": int},
    "measure": {
        **{"bundle": str, "train": list, "dev": str, "tests": dict, "gate": str, "align": str},
        **{"certainty": dict, "predecessor": str, "pairs": int, "heads": int, "survey": str},
    },
}
NEEDED = {"bundles", "teachers", "train", "bundle", "dev"}
# Options that may name a stage, and what that stage must create.
REFERRING = {
    "start_from": "a bundle",
    "bundles": "a bundle",
    "bundle": "a bundle",
    "teachers": "a bundle",
    "back": "pairs",
    "predecessor": "a bundle",
}


def read_recipe(path: Path, folder: Path) -> list[Stage]:
    """Read the stages in order; `folder` is the parent of their folders.

    Raises `ValueError`, naming stage and option, for an invalid recipe.
    """
    table = tomllib.loads(os.path.expandvars(path.read_text(encoding="utf-8")))
    if unknown := sorted(table.keys() - {"all", "bundles", "stages"}):
        raise ValueError(f"{path} has {unknown[0]}; a recipe has only all, bundles and stages")
    bundles: dict[str, Stage | Path] = {}
    for name, given in table.get("bundles", {}).items():
        try:
            bundles[name] = _given_bundle(given)
        except (ValueError, FileError) as error:
            raise ValueError(f"{path}, bundle {name}: {error}") from error
    stages: dict[str, Stage] = {}
    for name, options in table.get("stages", {}).items():
        try:
            stages[name] = _stage(name, options, table.get("all", {}), folder, bundles | stages)
        except ValueError as error:
            raise ValueError(f"{path}, stage {name}: {error}") from error
    if not stages:
        raise ValueError(f"{path} has no stages")
    return list(stages.values())


def run_recipe(
    stages: Sequence[Stage], device: str = "auto", jobs: int = 1, until: str | None = None
) -> Generator[Event, None, None]:
    """Run the stages that are not done yet, up to `until`, and yield their events.

    Closing the generator stops the stage and saves its state; the same call continues. Raises
    `RefusedError` if a folder has the result of another recipe, and `ValueError` if there is no
    stage `until`.
    """
    names = [stage.name for stage in stages]
    if until is not None and until not in names:
        raise ValueError(f"no stage {until} in the recipe; it has {', '.join(names)}")
    for number, stage in enumerate(stages, 1):
        done, inputs = stage.folder / DONE, stage.asked()
        if done.is_file():
            saved = json.loads(done.read_text(encoding="utf-8"))
            if saved["asked"] != inputs:
                conflict = f"{stage.folder} has the result of {saved['asked']}, not {inputs}"
                raise RefusedError(f"{conflict}. Delete it or choose another folder")
        else:
            yield StageBegun(stage.name, number, len(stages))
            yield from stage.run(device, jobs)
            saved = {"asked": inputs, "digest": digest(stage.result)}
            write_text(done, json.dumps(saved, indent=1) + "\n")
        yield StageDone(stage.name, str(stage.result), saved["digest"])
        if stage.name == until:
            return


def digest(result: Path) -> str:
    """Return the SHA-256 (hex) of a stage's result."""
    if (result / CONFIG).is_file():
        return digest_of(result)
    return hashlib.sha256(result.read_bytes()).hexdigest()


def _given_bundle(given: Any) -> Path:
    """Return the folder of a bundle that a recipe starts from.

    Raises `ValueError` if it is not the one that the recipe was written for.
    """
    if not isinstance(given, dict) or {name: type(value) for name, value in given.items()} != {
        "path": str,
        "digest": str,
    }:
        raise ValueError(f"it must have a path and a digest, both strings, not {given!r}")
    folder = Path(given["path"])
    if (actual := digest_of(folder)) != given["digest"]:
        raise ValueError(f"{folder} has the digest {actual}, not {given['digest']}")
    return folder


def _stage(
    name: str,
    given_options: Options,
    common: Options,
    folder: Path,
    before: Mapping[str, Stage | Path],
) -> Stage:
    do = given_options.get("do", "train")
    if do not in ("train", *OWN):
        raise ValueError(f"do must be train, {' or '.join(OWN)}, not {do!r}")
    options = {**(common if do == "train" else {}), **given_options}
    options.pop("do", None)
    if forbidden := sorted(options.keys() & {"folder", "device"}):
        raise ValueError(f"{forbidden[0]} is not an option of a stage")
    if do != "train":
        _check(do, options)
    inputs: dict[str, Path] = {}
    for option, value in options.items():
        options[option] = _resolved(option, value, before, inputs)
    stage = Stage(name, do, options, folder / name, inputs)
    if do == "train":
        stage.plan()  # raises for invalid options
    return stage


def _check(do: str, options: Options) -> None:
    for name, kind in OWN[do].items():
        if name not in options:
            if name in NEEDED:
                raise ValueError(f"{do} needs {name}")
            continue
        value = options[name]
        if kind is list and not all(isinstance(entry, str) for entry in value):
            raise ValueError(f"{name} must be a list of strings, not {value!r}")
        values = value.values() if isinstance(value, dict) else ()
        if not all(isinstance(entry, str) for entry in values):
            raise ValueError(f"{name} must name files, not {value!r}")
        if type(value) is not kind:
            raise ValueError(f"{name} must be of type {kind.__name__}, not {value!r}")
    if unknown := sorted(options.keys() - OWN[do].keys()):
        raise ValueError(f"{do} has no {unknown[0]}; it has {', '.join(OWN[do])}")


def _measuring(options: Options) -> Measuring:
    """Return the options of a stage that measures, with paths."""
    paths: dict[str, Any] = {
        name: Path(value) if isinstance(value, str) and name != "survey" else value
        for name, value in options.items()
    }
    paths["train"] = tuple(map(Path, options["train"]))
    for name in ("tests", "certainty"):
        paths[name] = {set_: Path(path) for set_, path in options.get(name, {}).items()}
    return Measuring(**paths)


def _resolved(
    option: str, value: Any, before: Mapping[str, Stage | Path], inputs: dict[str, Path]
) -> Any:
    """Return the value with names of stages and bundles replaced by paths, which become inputs."""
    if isinstance(value, list):
        return [_resolved(option, entry, before, inputs) for entry in value]
    if option not in REFERRING or not isinstance(value, str):
        return value
    name, _, inside = value.partition("/")
    if name not in before:
        if not Path(value).exists():
            raise ValueError(f"{option}: {value} is neither an earlier stage nor a path")
        return value
    stage = before[name]
    makes = "pairs" if isinstance(stage, Stage) and stage.do == "distil" else "a bundle"
    if makes != REFERRING[option]:
        raise ValueError(f"{option} needs {REFERRING[option]}, but {name} makes {makes}")
    if isinstance(stage, Path):
        inputs[name] = stage
        return str(stage)
    inputs[name] = stage.result
    whole = option == "start_from" and stage.do == "train" and not inside
    return str(stage.folder if whole else stage.result)
