"""Checks a model's folder before `transformers` opens it: sizes, names, and what would be built.

`transformers` builds what a config asks for and then looks for the weights. Here the order is
reversed: the weights' headers are read first, and the model is built without memory (on the meta
device) and for a limited number of steps. So no folder takes more memory than its weights need.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from pathlib import Path
from types import FrameType
from typing import Any

import torch
import transformers

from model.errors import FileError
from model.files import (
    CONFIG_BYTES,
    TOKENIZER_BYTES,
    as_type,
    check_size,
    read_json,
    reading,
    tensor_shapes,
)

CONFIG, WEIGHTS, INDEX = "config.json", "*.safetensors", "model.safetensors.index.json"
SETTINGS = ("generation_config.json", "tokenizer_config.json", "special_tokens_map.json")
VOCABULARIES = ("tokenizer.json", "added_tokens.json", "vocab.json")
OTHERS = ("vocab.txt", "merges.txt", "*.model", "*.spm")
LAYERS = 1_000  # layers of a stack
LARGEST = 2**31 - 1  # a number in a config: some state the length of a text as this
STEPS = 30_000_000  # calls of functions; a model of 100 layers takes 700,000
SPARE = 1 << 26  # numbers of masks and tables, which are in no file


def check_files(folder: Path) -> dict[str, Any]:
    """Return the content of `config.json`. Raises `FileError` for the first file that is unfit."""
    if not (folder / CONFIG).is_file():
        raise FileError(folder, f"it is not a model's folder: it has no {CONFIG}")
    if not any(path.is_file() for path in folder.glob(WEIGHTS)):
        others = sorted(path.name for path in folder.glob("*.bin")) or ["no weights"]
        raise FileError(
            folder,
            f"it has {', '.join(others)}, but no {WEIGHTS}: only safetensors are read, since a "
            "pickle can run code",
        )
    config = read_json(folder / CONFIG, CONFIG_BYTES)
    _check_numbers(folder / CONFIG, config)
    for name in SETTINGS:
        if (folder / name).exists():
            read_json(folder / name, CONFIG_BYTES)
    for name in VOCABULARIES:
        if (folder / name).exists():
            read_json(folder / name, TOKENIZER_BYTES)
    for path in (path for pattern in OTHERS for path in folder.glob(pattern)):
        check_size(path, TOKENIZER_BYTES)
    _check_kind(folder / CONFIG, config)
    _check_shards(folder)
    return config


def _check_kind(path: Path, config: dict[str, Any]) -> None:
    kind = config.get("model_type")
    if not isinstance(kind, str) or kind not in transformers.CONFIG_MAPPING:
        code = "its own code (auto_map)" if "auto_map" in config else "a model's own code"
        raise FileError(
            path,
            f"it has the model type {str(kind)[:100]!r}, which transformers "
            f"{transformers.__version__} does not know; {code} is never run",
        )
    if "transformers_weights" in config:
        raise FileError(
            path, f"it names its weights (transformers_weights); only {WEIGHTS} are read"
        )


def _check_numbers(path: Path, value: Any, name: str = "") -> None:
    """Raise `FileError` for numbers that no model has: their loops would not end."""
    if isinstance(value, dict):
        for key, one in value.items():
            _check_numbers(path, one, str(key))
    elif isinstance(value, list):
        for one in value:
            _check_numbers(path, one, name)
    elif isinstance(value, int | float):
        most = LAYERS if "layer" in name else LARGEST
        if abs(value) > most:
            raise FileError(path, f"{name[:100]} must be at most {most}, not {str(value)[:20]}")


def _check_shards(folder: Path) -> None:
    """Raise `FileError` if the index of the shards names other files than those of the folder."""
    path = folder / INDEX
    if not path.exists():
        return
    index = read_json(path)
    shards = as_type(path, dict[str, str], index.get("weight_map"), "weight_map").values()
    as_type(path, dict[str, Any], index.get("metadata"), "metadata")
    for name in sorted({*shards}):
        if Path(name).name != name or not name.endswith(".safetensors"):
            raise FileError(path, f"{name[:100]!r} is not the name of a safetensors file")
        if not (folder / name).is_file():
            raise FileError(path, f"the folder has no {name[:100]}")


def check_sizes(folder: Path, class_: Any, config: Any) -> None:
    """Raise `FileError` if the model would be larger than the weights of its folder."""
    paths = sorted(path for path in folder.glob(WEIGHTS) if path.is_file())
    stored = sum(prod(shape) for path in paths for _, shape in tensor_shapes(path).values())
    with reading(folder / CONFIG), _limited(folder / CONFIG), torch.device("meta"):
        model = class_(config)
    asked = sum(one.numel() for one in {*model.parameters(), *model.buffers()})
    if asked > 2 * stored + SPARE:  # twice: a tied matrix is stored once
        raise FileError(
            folder / CONFIG,
            f"it asks for a model of {asked:,} numbers, but the weights have {stored:,}",
        )


@contextmanager
def _limited(path: Path) -> Iterator[None]:
    """Raise `FileError` after `STEPS` calls of functions on this thread."""
    steps = 0

    def count(_: FrameType, __: str, ___: Any) -> None:
        nonlocal steps
        steps += 1
        if steps > 2 * STEPS:  # a call and its return
            raise _EndlessError

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        yield
    except _EndlessError:
        raise FileError(path, "the model that it asks for takes too long to build") from None
    finally:
        sys.setprofile(before)


class _EndlessError(BaseException):
    """The limit was reached; no `Exception`, so that no library catches it."""


def check_loaded(folder: Path, told: dict[str, Any]) -> None:
    """Raise `FileError` if weights are missing or do not fit: `transformers` makes up random ones.

    A pooler may be missing: nothing here shows what it computes.
    """
    for name, stored, asked in told["mismatched_keys"]:
        raise FileError(
            folder,
            f"the weights do not fit the config: {name[:100]} has the shape {tuple(stored)}, but "
            f"the config asks for {tuple(asked)}",
        )
    missing = sorted(name for name in told["missing_keys"] if "pooler" not in name)
    if missing:
        raise FileError(
            folder,
            f"the weights lack {len(missing)} of those that the config asks for, such as "
            f"{missing[0][:100]}",
        )
