"""Measure each head's mean output over training data, with which `mean` replaces the head.

    python -m model measure mean-outputs runs/mine/bundle --train pairs.tsv

writes `means.safetensors` into the bundle: a tensor ``encoder.1.self.mix`` (head, channel) for each
attention, with the digest of the weights in the metadata. In training, later layers never saw a
head that is switched off; its mean output is closer to what they saw.

Source: mean ablation as in Wang et al. 2022, Interpretability in the Wild.
"""

from __future__ import annotations

import argparse
import sys

from model.commands import arguments
from model.measure.heads import write_means


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the bundle and the sentences."""
    arguments.bundle(parser)
    arguments.train_files(parser, "the training data, .gz or not")
    parser.add_argument("--pairs", type=int, default=2000, help="drawn from the files (2000)")
    parser.add_argument("--seed", type=int, default=0, help="seed for drawing them (0)")


def run(asked: argparse.Namespace) -> None:
    """Measure and write."""
    path = write_means(asked.bundle, asked.train, asked.pairs, asked.seed)
    print(f"wrote {path}", file=sys.stderr)
