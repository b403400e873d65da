"""Average the weights of bundles that went on from the same run: a model soup.

    python -m model average runs/mean runs/one/bundle runs/other/bundle

Runs that part from one another late stay near enough for their mean to be a good model too, at what
each of them is good at (Wortsman et al. 2022, Model soups, arXiv:2203.05482). How it was trained is
told of the first.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from model.train.averaging import average_bundles


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds where the mean goes, and of what it is the mean."""
    parser.add_argument("folder", type=Path, help="where the mean is written")
    parser.add_argument("bundles", type=Path, nargs="+", help="what it is the mean of")


def run(asked: argparse.Namespace) -> None:
    """Writes the mean."""
    average_bundles(asked.folder, asked.bundles)
