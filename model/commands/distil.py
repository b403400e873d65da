"""Distil: translate a train set with one or more teachers, to train a student on.

    python -m model distil runs/one/bundle runs/two/bundle --train pairs.tsv --out distilled.tsv

Every teacher translates each distinct sentence of either language by beam search; all score every
translation in both directions, and the best one is kept. A row of the file is
`language<TAB>first<TAB>second`: the language that was translated into, then both texts.
`--back distilled.tsv` trains the direction into that language on it, in addition to the pairs.
After an interruption, the same command continues.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from model.commands import arguments
from model.commands.train import line_of
from model.train.prepare import RefusedError
from model.train.translated_pairs import Teaching, distil


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the teachers, the files and how to choose."""
    parser.add_argument("teachers", type=Path, nargs="+", help="bundles that translate")
    arguments.train_files(parser, "what to translate, .gz or not")
    parser.add_argument("--out", type=Path, required=True, metavar="TSV")
    parser.add_argument(
        "--beam", type=int, default=Teaching.beam, help=f"translations each ({Teaching.beam})"
    )
    parser.add_argument(
        "--reverse",
        type=float,
        default=Teaching.reverse,
        help=f"weight of the score of the source given the translation ({Teaching.reverse})",
    )
    arguments.device(parser)
    arguments.jobs(parser)


def run(asked: argparse.Namespace) -> None:
    """Write the file and print what is done."""
    teaching = Teaching(tuple(asked.teachers), asked.beam, asked.reverse, asked.device)
    try:
        for event in distil(teaching, asked.train, asked.out, asked.jobs):
            print(line_of(event), file=sys.stderr, flush=True)
    except RefusedError as error:
        sys.exit(str(error))
