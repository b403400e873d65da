"""Translate test sets, score them, and write the figures into the model card.

    python -m model measure scores --test Tatoeba=tatoeba/test.tsv --typed tatoeba/dev.tsv

Figures that are not requested are kept in `figures.json`, if they are of the same weights; without
either option nothing is measured, and only the card is written again. The figures include the
digest of their weights.
"""

from __future__ import annotations

import argparse
import os

from model.bundle.card import TEMPLATE, write_card
from model.commands import arguments
from model.measure.scores import measure, write_figures


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the bundle and what it translates."""
    arguments.bundle(parser)
    arguments.test_sets(parser)
    arguments.languages(parser)
    arguments.device(parser)
    arguments.jobs(parser)
    parser.set_defaults(jobs=os.cpu_count() or 1)


def run(asked: argparse.Namespace) -> None:
    """Measure what is requested, then write the card."""
    if asked.test or asked.typed:
        first, second = asked.languages
        ways = 1 if asked.one_way else 2
        tests = dict(asked.test)
        languages = (first, second)
        found = measure(asked.bundle, tests, asked.typed, asked.device, languages, ways, asked.jobs)
        write_figures(asked.bundle, found)
    if (asked.bundle / TEMPLATE).is_file():
        write_card(asked.bundle)
