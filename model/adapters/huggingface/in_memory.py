"""Wraps a model of `transformers` in memory behind the `Adapter` interface.

The user's model is never changed: its twin serves it.
"""

from __future__ import annotations

import hashlib
from pathlib import PurePath
from typing import Any

import torch
import transformers

from model.adapters.huggingface.adapter import HuggingFace
from model.adapters.huggingface.opening import Opened
from model.adapters.huggingface.twin import twin

SAMPLED = 64  # numbers of each parameter that enter the digest


def is_model(one: object) -> bool:
    """Return whether an object is a model of `transformers`."""
    return isinstance(one, transformers.PreTrainedModel)


def wrap(model: Any, tokenizer: Any, id_: str | None = None) -> HuggingFace:
    """Return an adapter of a model and its tokenizer, which follows changes of the parameters.

    Raises `ValueError` for a tokenizer without offsets, and for a model without attention.
    """
    if not getattr(tokenizer, "is_fast", False):
        raise ValueError(
            f"{type(tokenizer).__name__} is not a tokenizer of transformers that gives offsets"
        )
    name = PurePath(model.config._name_or_path).name or type(model).__name__
    opened = Opened(twin(model), tokenizer, name, _digest(model), card="")
    return HuggingFace(opened, id_ or name)


def _digest(model: Any) -> str:
    """Return a digest of the config and of some of each parameter's numbers."""
    digest = hashlib.sha256(model.config.to_json_string().encode())
    with torch.inference_mode():
        for name, value in model.named_parameters():
            flat = value.reshape(-1)
            some = flat[:: max(1, len(flat) // SAMPLED)].float().cpu()
            digest.update(f"{name}{tuple(value.shape)}".encode() + some.numpy().tobytes())
    return digest.hexdigest()
