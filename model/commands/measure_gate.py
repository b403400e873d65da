"""Measure how many of the sentences that people type first are translated correctly.

    python -m model measure gate runs/mine/bundle

translates each sentence of `model/measure/gate.tsv` greedily, in the direction that the page would
detect, and prints the share of correct ones by kind and direction, and the incorrect ones.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from model.commands import arguments
from model.measure.scores import GATE, failures, measure_gate, table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the bundle and the gate."""
    arguments.bundle(parser)
    parser.add_argument(
        "--gate", type=Path, default=GATE, metavar="TSV", help="kind, sentence, pattern (built in)"
    )
    arguments.device(parser)
    parser.set_defaults(device="cpu")


def run(asked: argparse.Namespace) -> None:
    """Measure and print."""
    passages = measure_gate(asked.bundle, asked.gate, asked.device)
    print(table(passages))
    print(f"\n{failures(passages)}")
