"""Measure each head's mean output over training data: what `mean` replaces a head by.

    python -m model measure mean-outputs runs/mine/bundle --train pairs.tsv

writes `means.safetensors` into the bundle: a tensor ``encoder.1.self.mix`` (head, channel) for each
attention, and in its metadata the digest of the weights that it is of. A head that is silent is
something that no later layer has met; a head that says what it says on average is nearer to that.

Source: mean ablation as in Wang et al. 2022, Interpretability in the Wild.
"""

from __future__ import annotations

import argparse
import sys

from model.commands import arguments
from model.measure.mean_outputs import write_means


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the bundle and the sentences."""
    arguments.bundle(parser)
    arguments.train_files(parser, "what the model was trained on, .gz or not")
    parser.add_argument("--pairs", type=int, default=2000, help="drawn from the files (2000)")
    parser.add_argument("--seed", type=int, default=0, help="of the drawing (0)")


def run(asked: argparse.Namespace) -> None:
    """Measures and writes."""
    path = write_means(asked.bundle, asked.train, asked.pairs, asked.seed)
    print(f"wrote {path}", file=sys.stderr)
