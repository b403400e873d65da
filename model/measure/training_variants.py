"""Trains and measures variants of a training run, and compares them in a table."""

from __future__ import annotations

import json
import os
import shlex
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from model.adapters.encoder_decoder.encoder_decoder_adapter import load
from model.adapters.requests.request import Decode
from model.bundle.model_card import markdown_table
from model.bundle.weights import TRAINING, load_bundle
from model.measure.scores import as_typed
from model.train.metrics import read_test_sets, score, translate
from model.train.plan import TrainingPlan
from model.train.run import bundle_of
from model.train.workers import spread

ROW = "row.json"
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Variant:
    """One run of a comparison."""

    name: str
    plan: TrainingPlan


def measured_variants(
    variants: Sequence[Variant], tests: Mapping[str, Path], typed: Path | None, jobs: int
) -> list[Row]:
    """Train and measure the variants that are not done yet; return all results."""
    return list(spread(trained, [(variant, tests, typed) for variant in variants], jobs))


def read_variants(text: str) -> dict[str, list[str]]:
    """Return the name and options of each line.

    Raises `ValueError` for a malformed line, or a repeated name.
    """
    variants: dict[str, list[str]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, colon, options = line.partition(":")
        if not colon or not name.strip():
            raise ValueError(f"line {number} is not `name: options`: {line!r}")
        if folder_name(name.strip()) in map(folder_name, variants):
            raise ValueError(f"line {number} repeats the name: {name.strip()!r}")
        variants[name.strip()] = shlex.split(os.path.expandvars(options))
    return variants


def trained(variant: Variant, tests: Mapping[str, Path], typed: Path | None) -> Row:
    """Train one run to its end, measure it, and write `row.json` in its folder.

    Raises `ValueError` if the folder has a run trained or measured differently.
    """
    plan = variant.plan
    options = {
        "plan": {name: value for name, value in plan.to_json().items() if name != "folder"},
        "tests": {name: str(path) for name, path in tests.items()},
        "typed": str(typed) if typed else None,
    }
    path = plan.folder / ROW
    if path.is_file():
        saved = json.loads(path.read_text())
        if saved["asked"] != options:
            raise ValueError(f"{plan.folder} has a run with {saved['asked']}, not {options}")
    else:
        bundle = bundle_of(plan)
        seed = plan.options.seed
        row = {"name": variant.name, "seed": seed, **measured(bundle, tests, typed)}
        saved = {"asked": options, "row": row}
        path.write_text(json.dumps(saved, indent=1) + "\n")
    row_: Row = saved["row"]
    return row_


def folder_name(name: str) -> str:
    """Return a variant's name in the form used in paths."""
    return name.replace(" ", "-")


def measured(bundle: Path, tests: Mapping[str, Path], typed: Path | None) -> dict[str, Any]:
    """Return size, time, dev loss, and greedy BLEU by test set and direction."""
    progress = json.loads((bundle / TRAINING).read_text())
    model = load_bundle(bundle).model
    found: dict[str, Any] = {
        "parameters": sum(p.numel() for p in model.parameters()),
        "tokens": progress["tokens"],
        "minutes": progress["seconds"] / 60,
        "dev loss": progress["history"][-1]["dev"],
    }
    adapter = load(bundle.resolve(), "cpu", measured=False)
    first, second = adapter.info.languages
    for label, tsv in tests.items():
        for sentences in read_test_sets(tsv, (first, second)):
            written = translate(adapter, sentences.sources, sentences.direction, Decode())
            found[f"{label} {sentences.direction}"] = score(sentences, written)["bleu"]
    for row in as_typed(bundle, "cpu", typed) if typed else ():
        found[f"{row['kind']} {row['direction']}"] = row["typed"]
    return found


def side_by_side(rows: Sequence[Row]) -> str:
    """Return a Markdown table: a row per variant, with the mean of its seeds ± half their range."""
    by_name: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_name[row["name"]].append(row)
    named = {column: None for row in rows for column in row}
    columns = [column for column in named if column not in ("name", "seed")]
    lines = [
        [name, str(len(mine)), *(_cell([row.get(column) for row in mine]) for column in columns)]
        for name, mine in by_name.items()
    ]
    return markdown_table(["", "seeds", *columns], lines)


def _cell(values: Sequence[float | None]) -> str:
    numbers = [value for value in values if value is not None]
    if not numbers:
        return "–"
    if all(isinstance(value, int) for value in numbers):
        return f"{mean(numbers):,.0f}"
    spread = f" ± {(max(numbers) - min(numbers)) / 2:.2f}" if len(numbers) > 1 else ""
    return f"{mean(numbers):.2f}{spread}"
