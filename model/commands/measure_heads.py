"""Report what the heads of a model do, over many sentences.

    python -m model measure heads --dev dev.tsv --align folder

writes `report.json` and `REPORT.md` into the bundle: each head's entropy, distance, pattern,
most similar head and importance, how many heads are idle, and the error of alignments from
cross-attention against human ones. Without `--dev` only the page is written again.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from model.commands import arguments
from model.measure.heads import write_report
from model.measure.report import write_page


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the bundle and the sentences."""
    arguments.bundle(parser)
    arguments.dev_file(parser, "pairs to measure on")
    parser.add_argument("--align", type=Path, help="folder with sentences.txt and gold.txt")
    parser.add_argument("--pairs", type=int, default=300, help="of dev, drawn with seed 0 (300)")


def run(asked: argparse.Namespace) -> None:
    """Measure, then write both files."""
    if asked.dev:
        write_report(asked.bundle, asked.dev, asked.align, asked.pairs)
    write_page(asked.bundle)
