"""Record how a model learned: its attention on a few sentences, at steps of the training run.

    python -m model measure history --snapshots runs/mine/snapshots/* --final 9000 --dev dev.tsv

writes `learning.safetensors` into the bundle: for each sentence of its `examples.txt` and each
snapshot, the weights of every attention. Every snapshot reads the same
target, the trained model's translation, so that all maps have the same tokens; each snapshot's own
translation is stored as well. With `--extend`, the existing history of a run that was continued is
kept, including its sentences and targets, and the new steps are added.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from model.commands import arguments
from model.measure.history import write_history


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the bundle, its snapshots and the sentences."""
    arguments.bundle(parser)
    parser.add_argument(
        "--snapshots", type=Path, nargs="*", default=[], help="…/000400.safetensors"
    )
    parser.add_argument("--final", type=int, required=True, help="the step of the bundle")
    arguments.dev_file(parser, "pairs to measure on", required=True)
    parser.add_argument("--sources", type=int, default=200, help="number per direction (200)")
    parser.add_argument("--extend", action="store_true", help="extend the existing history")


def run(asked: argparse.Namespace) -> None:
    """Read the snapshots, by the step in their names; the bundle itself is the last one."""
    write_history(
        asked.bundle, asked.snapshots, asked.final, asked.dev, asked.sources, asked.extend
    )
