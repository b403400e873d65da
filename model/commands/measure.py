"""Translate test sets, score them, and write the figures into the model card.

    python -m model measure scores --test Tatoeba=tatoeba/test.tsv --typed tatoeba/dev.tsv --gate

Earlier figures of the same weights are kept in `figures.json` unless they are measured again.
Without these options nothing is measured, and only the card is written again. The figures include
the digest of the weights.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from model.bundle.model_card import TEMPLATE, write_card
from model.commands import arguments
from model.measure.scores import GATE, measure, write_figures


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the bundle and the texts to translate."""
    arguments.bundle(parser)
    arguments.test_sets(parser)
    parser.add_argument(
        "--gate",
        type=Path,
        nargs="?",
        const=GATE,
        metavar="TSV",
        help="sentences that people type first; without a file, the built-in list",
    )
    arguments.languages(parser)
    arguments.device(parser)
    arguments.jobs(parser)
    parser.set_defaults(jobs=os.cpu_count() or 1)


def run(asked: argparse.Namespace) -> None:
    """Measure what is requested, then write the card."""
    if asked.test or asked.typed or asked.gate:
        found = measure(
            asked.bundle,
            dict(asked.test),
            asked.typed,
            asked.device,
            (asked.languages[0], asked.languages[1]),
            1 if asked.one_way else 2,
            asked.jobs,
            asked.gate,
        )
        write_figures(asked.bundle, found)
    if (asked.bundle / TEMPLATE).is_file():
        write_card(asked.bundle)
