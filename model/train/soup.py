"""The mean of the weights of several bundles that went on from the same run: a model soup.

    python -m model.train.soup runs/soup runs/one/bundle runs/other/bundle

Runs that part from one another late stay near enough for their mean to be a good model too, at what
each of them is good at (Wortsman et al. 2022, Model soups, arXiv:2203.05482). How it was trained is
told of the first.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Sequence
from pathlib import Path

from model.bundle.card import TRAINING
from model.bundle.weights import TOKENIZER, WEIGHTS, load_bundle, save_bundle
from model.train.state import average


def main(arguments: Sequence[str] | None = None) -> None:
    """Reads the bundles and writes their mean as one.

    Raises `ValueError` where one has another shape or vocabulary than the first.
    """
    parser = argparse.ArgumentParser(
        prog="python -m model.train.soup",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", type=Path, help="where the mean is written")
    parser.add_argument("bundles", type=Path, nargs="+", help="what it is the mean of")
    asked = parser.parse_args(arguments)
    bundles = [load_bundle(path) for path in asked.bundles]
    first = bundles[0]
    for path, other in zip(asked.bundles, bundles, strict=True):
        same = (path / TOKENIZER).read_bytes() == (asked.bundles[0] / TOKENIZER).read_bytes()
        if not same or other.model.config != first.model.config:
            raise ValueError(f"{path} has another shape or vocabulary than {asked.bundles[0]}")
    mean = average([path / WEIGHTS for path in asked.bundles])
    save_bundle(asked.folder, mean, first.model.config, first.tokenizer, first.name)
    if (asked.bundles[0] / TRAINING).is_file():
        shutil.copyfile(asked.bundles[0] / TRAINING, asked.folder / TRAINING)


if __name__ == "__main__":
    main()
