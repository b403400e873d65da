"""Merge the encoder's heads of a bundle in pairs, to continue training with fewer, larger ones.

    python -m model merge-heads runs/merged runs/mine/bundle
    python -m model train runs/four --start-from runs/merged --encoder-heads 4 …

A merged head keeps the pattern of one and the values of both. `measure heads` says first what each
head costs: the costlier half keep their pattern.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from model.train.combined_weights import merge_bundle


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the output folder and the bundle."""
    parser.add_argument("folder", type=Path, help="where to write the merged bundle")
    parser.add_argument("bundle", type=Path, help="a bundle with a report on its heads")


def run(asked: argparse.Namespace) -> None:
    """Write the merged bundle."""
    merge_bundle(asked.folder, asked.bundle)
