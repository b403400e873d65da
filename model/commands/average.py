"""Average the weights of bundles continued from the same run: a model soup.

    python -m model average runs/mean runs/one/bundle runs/other/bundle

The mean of runs that diverged late is a good model too, which combines their strengths
(Wortsman et al. 2022, Model soups, arXiv:2203.05482). The training record is that of the first.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from model.train.combined_weights import average_bundles


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the output folder and the bundles to average."""
    parser.add_argument("folder", type=Path, help="where to write the mean")
    parser.add_argument("bundles", type=Path, nargs="+", help="the bundles to average")


def run(asked: argparse.Namespace) -> None:
    """Write the mean."""
    average_bundles(asked.folder, asked.bundles)
