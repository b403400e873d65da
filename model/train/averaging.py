"""The mean of several models' weights: a run's last checkpoints, or runs continued from one."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from safetensors.torch import load_file
from torch import Tensor

from model.bundle.weights import TOKENIZER, TRAINING, WEIGHTS, load_bundle, save_bundle


def average(paths: Sequence[Path]) -> dict[str, Tensor]:
    """Return the mean of the weights in several files (section 6.1 of the paper)."""
    total = {name: value.double() for name, value in load_file(paths[0]).items()}
    for path in paths[1:]:
        for name, value in load_file(path).items():
            total[name] += value
    return {name: (value / len(paths)).float() for name, value in total.items()}


def average_bundles(folder: Path, paths: Sequence[Path]) -> None:
    """Write the mean of several bundles as one; the training record is that of the first.

    Raises `ValueError` if one has another shape or vocabulary than the first.
    """
    bundles = [load_bundle(path) for path in paths]
    first = bundles[0]
    for path, other in zip(paths, bundles, strict=True):
        same = (path / TOKENIZER).read_bytes() == (paths[0] / TOKENIZER).read_bytes()
        if not same or other.model.config != first.model.config:
            raise ValueError(f"{path} has another shape or vocabulary than {paths[0]}")
    mean = average([path / WEIGHTS for path in paths])
    save_bundle(folder, mean, first.model.config, first.tokenizer, first.name)
    if (paths[0] / TRAINING).is_file():
        shutil.copyfile(paths[0] / TRAINING, folder / TRAINING)
