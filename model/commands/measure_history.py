"""Show how a model was learned: its attention over a few sentences, at steps of the training run.

    python -m model measure history --snapshots runs/mine/snapshots/* --final 9000 --dev dev.tsv

writes `learning.safetensors` into the bundle (`model.bundle.history`): for each sentence of its
`examples.txt` and each snapshot the weights of every attention. Every snapshot reads the same
target, the one that the trained model writes: so the maps are over the same tokens, and what the
snapshot itself would have written stands beside them. With `--extend` what is there of a run that
went on stays, its sentences and targets too, and what came of it since is added.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from model.commands import arguments
from model.measure.history import write_history


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the bundle, its snapshots and the sentences."""
    arguments.bundle(parser)
    parser.add_argument(
        "--snapshots", type=Path, nargs="*", default=[], help="…/000400.safetensors"
    )
    parser.add_argument("--final", type=int, required=True, help="the step that the bundle is at")
    arguments.dev_file(parser, "pairs to measure on", required=True)
    parser.add_argument("--sources", type=int, default=200, help="so many a direction (200)")
    parser.add_argument("--extend", action="store_true", help="add to what is there")


def run(asked: argparse.Namespace) -> None:
    """Reads the snapshots, by the step in their names; the bundle itself is the last one."""
    write_history(
        asked.bundle, asked.snapshots, asked.final, asked.dev, asked.sources, asked.extend
    )
