"""Measure word alignments from attributions to source words.

    python -m model measure sources --align folder

adds the error of alignments from occlusion, gradient × input and integrated gradients, and their
agreement with the heads that align best, to `report.json` and `REPORT.md`. It needs the report of
`measure heads`, which removes it again.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from model.commands import arguments
from model.measure.report import write_page
from model.measure.source_words import write_sources


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the bundle and the pairs."""
    arguments.bundle(parser)
    parser.add_argument(
        "--align", type=Path, required=True, help="folder with sentences.txt and gold.txt"
    )
    parser.add_argument("--pairs", type=int, default=60, help="at most this many (60)")


def run(asked: argparse.Namespace) -> None:
    """Measure, then write both files."""
    write_sources(asked.bundle, asked.align, asked.pairs)
    write_page(asked.bundle)
