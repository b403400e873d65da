"""Models to show, serve and record: shipped ones, folders, and objects of `transformers`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from model.adapters.encoder_decoder.description import recorded_names
from model.adapters.open_model import open_model
from model.adapters.requests.adapter import Adapter
from model.trace.record import Hook, Keep, Place, Record, open_records, recording
from model.transformer.stacks import Transformer


def load(path: str | Path, device: str = "auto") -> Adapter:
    """Load a model that ships with Headlight, by name; a bundle's folder; or `hf:` and a folder.

    `device` is "auto" (CUDA if there is one), "cpu" or "cuda". Raises `ValueError` for a model that
    cannot be read.
    """
    return open_model(str(path), device)


def wrap(model: Any, tokenizer: Any, name: str | None = None) -> Adapter:
    """Wrap a model of `transformers` and its tokenizer as a model like those from `load`.

    The model is not changed, and its parameters are not copied, so later changes of them take
    effect. It runs in evaluation mode, whatever mode the model is in. `name` is its name in the
    page's menu. Raises `TypeError` for other objects, and `ValueError` for a tokenizer without
    offsets or a model whose attention cannot be recorded.
    """
    _check(model)
    from model.adapters.huggingface import in_memory

    return in_memory.wrap(model, tokenizer, name)


@contextmanager
def record(
    model: Any,
    select: Sequence[str] | str = "*.weights",
    *,
    keep: Keep = "last",
    hook: Hook | None = None,
) -> Iterator[Record]:
    """Record the tensors that a model computes on this thread inside the block.

    `model` is a model of `transformers`, a model from `load`, or the `Transformer` of such a model.
    `select` has patterns of tensor names, as for a trace. `keep="all"` keeps the tensors of every
    pass for `record.history(name)`, not only those of the last.

    `hook` is called with the name and the value (batch, …) of each selected tensor as the model
    computes it. What it returns takes the tensor's place, here and in the record; None changes
    nothing. Without a hook, recording changes neither results nor parameters, mode, gradients or
    random numbers. Raises `InputError` for a pattern that matches no name, and `ValueError` for a
    model whose attention cannot be recorded or for a hook's tensor of another shape.
    """
    patterns = (select,) if isinstance(select, str) else tuple(select)
    module = getattr(model, "model", model) if hasattr(model, "info") else model
    if isinstance(module, Transformer):
        new_record = Record({module: [Place()]}, recorded_names(module), patterns, keep, hook)
        with recording(*open_records(), new_record):
            yield new_record
        return
    _check(module)
    from model.adapters.huggingface import in_memory as library

    with library.record(module, patterns, keep, hook) as new_record:
        yield new_record


def is_transformers(model: object) -> bool:
    """Return whether an object is a model of `transformers`, without importing it."""
    library = sys.modules.get("transformers")
    return library is not None and isinstance(model, library.PreTrainedModel)


def _check(model: object) -> None:
    if not is_transformers(model):
        raise TypeError(f"a model of transformers is needed, not {type(model).__name__}")
