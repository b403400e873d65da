"""The last stage of a recipe: a bundle with all its measurements, its report and its card."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path

from model.bundle.model_card import TEMPLATE, write_card
from model.bundle.weights import load_bundle
from model.measure.heads import write_report
from model.measure.mean_outputs import write_means
from model.measure.report import write_page
from model.measure.scores import SENTENCES, measure, write_figures


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
    sentences: Path | None = None
    """Sentences whose translations the card shows."""
    template: Path | None = None
    """The card's template; without it no card is written."""
    pairs: int = 4000
    """Number of train pairs for the mean outputs."""
    heads: int = 300
    """Number of dev pairs for the report."""


def measured(asked: Measuring, result: Path, device: str, jobs: int) -> None:
    """Write a copy of the bundle, with means, report, figures and card, as `result`.

    It replaces a copy that an interruption left unfinished.
    """
    shutil.rmtree(result, ignore_errors=True)
    shutil.copytree(asked.bundle, result)
    for path, name in ((asked.sentences, SENTENCES), (asked.template, TEMPLATE)):
        if path:
            shutil.copyfile(path, result / name)
    write_means(result, asked.train, asked.pairs)
    write_report(result, asked.dev, asked.align, asked.heads)
    write_page(result)
    first, second = load_bundle(result).languages
    found = measure(
        result, asked.tests, asked.dev, device, (first, second), 2, jobs, gate=asked.gate
    )
    write_figures(result, found)
    if asked.template:
        write_card(result)
