"""Back-translation: translate a train set with a model, to train another one on it.

    python -m model back-translate runs/mine/bundle --train pairs.tsv --out back.tsv

Each distinct sentence of either language is translated into the other. A row of the file is
`language<TAB>first<TAB>second`: the language of the human sentence, then both texts. `--back
back.tsv` then trains the direction into that language on it.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from model.adapters.requests.request import METHODS, Decode
from model.commands import arguments
from model.train.translated_pairs import write_back_translations


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the model, the files and how to decode."""
    parser.add_argument("bundle", type=Path, help="the model that translates")
    arguments.train_files(parser, "human translations, .gz or not")
    parser.add_argument("--out", type=Path, required=True, metavar="TSV")
    parser.add_argument("--method", choices=METHODS, default="greedy", help="(greedy)")
    arguments.jobs(parser)


def run(asked: argparse.Namespace) -> None:
    """Write the file."""
    decode = Decode(asked.method)
    write_back_translations(asked.bundle, asked.train, asked.out, decode, asked.jobs)
