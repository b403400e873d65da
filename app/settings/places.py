"""Folders of the project and of its data."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ZOO = ROOT / "model" / "checkpoints" / "zoo"
# An installed package must not write into its own folder.
DATA = ROOT / "data" if (ROOT / "requirements.txt").is_file() else Path.home() / ".headlight"
