r"""Trains variants of a run and measures each on dev: ablations, and searches for a better shape.

    python -m model.measure.variants runs/shapes shapes.txt --test tatoeba=dev.tsv -- \
        --train pairs.tsv --dev dev.tsv --steps 2000

A line of the file is `name: options`, which come after the common ones behind `--` ($VARIABLES are
put in). Every variant is trained with every seed and translates the test sets greedily; then the
table is printed, in Markdown. Run the same line again after an interruption: what is done stays,
the rest goes on.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from statistics import mean
from typing import Any

import torch

from model.adapters.native import load
from model.adapters.request import Decode
from model.bundle.card import TRAINING
from model.bundle.weights import load_bundle
from model.measure.scores import as_typed
from model.train.__main__ import main as train
from model.train.metrics import read_test_sets, score, translate

ROW = "row.json"
Row = Mapping[str, Any]


def main(arguments: Sequence[str] | None = None) -> None:
    """Trains and measures what is not done yet, then prints the table."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    cut = given.index("--") if "--" in given else len(given)
    parser = argparse.ArgumentParser(
        prog="python -m model.measure.variants",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("variants", type=Path, help="lines of `name: options`")
    parser.add_argument("--test", action="append", default=[], metavar="NAME=TSV")
    parser.add_argument("--typed", type=Path, metavar="TSV", help="to be typed as people do")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--jobs", type=int, default=1, help="at a time, on a thread each (1)")
    asked = parser.parse_args(given[:cut])
    runs = [
        (asked.folder, name, seed, [*given[cut + 1 :], *options], asked.test, asked.typed)
        for seed in asked.seeds
        for name, options in read_variants(asked.variants.read_text(encoding="utf-8")).items()
    ]
    with ProcessPoolExecutor(asked.jobs, mp_context=get_context("spawn")) as pool:
        rows = list(pool.map(trained, *zip(*runs, strict=True)))
    print(table(rows))


def read_variants(text: str) -> dict[str, list[str]]:
    """Name and options of each line.

    Raises `ValueError` naming a line of another shape, or with the name of one before it.
    """
    variants: dict[str, list[str]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, colon, options = line.partition(":")
        if not colon or not name.strip():
            raise ValueError(f"line {number} is not `name: options`: {line!r}")
        if _folder(name.strip()) in map(_folder, variants):
            raise ValueError(f"line {number} has the name of another: {name.strip()!r}")
        variants[name.strip()] = shlex.split(os.path.expandvars(options))
    return variants


def trained(
    folder: Path,
    name: str,
    seed: int,
    options: Sequence[str],
    tests: Sequence[str],
    typed: Path | None,
) -> Row:
    """One run: trained to its end, measured, and written down as `row.json` in its folder.

    Raises `ValueError` where the folder holds what was trained or measured otherwise.
    """
    torch.set_num_threads(1)
    run = folder / f"{_folder(name)}-{seed}"
    asked = {"options": [*options], "tests": [*tests], "typed": str(typed) if typed else None}
    path = run / ROW
    if path.is_file():
        held = json.loads(path.read_text())
        if held["asked"] != asked:
            raise ValueError(f"{run} holds a run by {held['asked']}, not {asked}")
    else:
        bundle = train([str(run), *options, "--seed", str(seed)])
        row = {"name": name, "seed": seed, **measured(bundle, tests, typed)}
        held = {"asked": asked, "row": row}
        path.write_text(json.dumps(held, indent=1) + "\n")
    found: Row = held["row"]
    return found


def _folder(name: str) -> str:
    return name.replace(" ", "-")


def measured(bundle: Path, tests: Sequence[str], typed: Path | None) -> dict[str, Any]:
    """Size, time, dev loss, and greedy BLEU by test set and direction."""
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
    for test in tests:
        label, tsv = test.split("=", 1)
        for sentences in read_test_sets(Path(tsv), (first, second)):
            written = translate(adapter, sentences.sources, sentences.direction, Decode())
            found[f"{label} {sentences.direction}"] = score(sentences, written)["bleu"]
    for row in as_typed(bundle, "cpu", typed) if typed else ():
        found[f"{row['kind']} {row['direction']}"] = row["typed"]
    return found


def table(rows: Sequence[Row]) -> str:
    """Markdown: a line for each variant, the mean of its seeds, and of several half their range."""
    by_name: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_name[row["name"]].append(row)
    named = {column: None for row in rows for column in row}
    columns = [column for column in named if column not in ("name", "seed")]
    lines = [["", "seeds", *columns], ["---"] * (len(columns) + 2)]
    lines += [
        [name, str(len(mine)), *(_cell([row.get(column) for row in mine]) for column in columns)]
        for name, mine in by_name.items()
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return "–"
    if all(isinstance(value, int) for value in known):
        return f"{mean(known):,.0f}"
    spread = f" ± {(max(known) - min(known)) / 2:.2f}" if len(known) > 1 else ""
    return f"{mean(known):.2f}{spread}"


if __name__ == "__main__":
    main()
