"""Opens any model by its path, as in HEADLIGHT_MODELS: a bundle of this project, or `hf:path`."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from model.adapters.encoder_decoder import load
from model.adapters.request import Adapter

HUGGING_FACE = "hf:"  # prefix of the folder of a model of the `transformers` library


def open_model(path: str, device: str = "auto", drafts: Path | None = None) -> Adapter:
    """Load the model at a path: see `load`, and `load_huggingface` for `hf:path`.

    Raises `ValueError` for a model that cannot be read, or whose library is not installed.
    """
    if not path.startswith(HUGGING_FACE):
        return load(path, device, drafts=drafts)
    if find_spec("transformers") is None:
        raise ValueError(f"{path} needs the packages of requirements-hf.txt: run `make hf` first")
    # Imported only here: the import takes seconds, and the package is optional.
    from model.adapters.huggingface.adapter import load_huggingface

    return load_huggingface(path.removeprefix(HUGGING_FACE), device)
