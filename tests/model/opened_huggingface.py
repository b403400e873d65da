"""The adapter of a tiny random model of `transformers`, opened once for each folder."""

from functools import cache
from pathlib import Path

from model.adapters.huggingface.huggingface_adapter import HuggingFace, load_huggingface
from tests.model.tiny_huggingface import make


@cache
def opened(folder: Path) -> HuggingFace:
    """Save the model that the folder is named after, and open it."""
    return load_huggingface(make(folder.name, folder), "cpu", folder.name)
