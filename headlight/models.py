"""Models to show, serve and record: shipped ones, folders, and objects of `transformers`."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from headlight.figure_notices import AttentionWarning, Notice, doubtful, t
from headlight.unwrapping import check_recordable, unwrap
from model.adapters.encoder_decoder.description import recorded_names
from model.adapters.open_model import HUGGING_FACE, open_model
from model.adapters.requests.adapter_interface import Adapter
from model.trace.record import Hook, Keep, Place, Record, open_records, recording
from model.transformer.stacks import Transformer

PADDED = 0.02  # of a model's rows: those that no token has, so that their number is round


def load(
    spec: str | Path,
    device: str | None = None,
    *,
    dtype: str | None = None,
    download: bool | None = None,
) -> Adapter:
    """Load a model that ships with Headlight, by name; a bundle's folder; or one of `transformers`.

    The latter is `hf:` and its folder, or `hf:owner/name[@revision]` of a hub's model, which is
    read from the cache of `huggingface_hub`, or downloaded into it if `download` is true (None: if
    HEADLIGHT_DOWNLOAD is 1).

    `device` is "cpu", "cuda", "mps" or "auto" (None: CUDA if there is one). `dtype` is "float32"
    (None), "bfloat16", "float16" or "auto", which is the model's own; only models of `transformers`
    have a choice. Raises `ValueError` for a model that cannot be read.
    """
    path = str(spec)
    if dtype not in (None, "float32") and not path.startswith(HUGGING_FACE):
        raise ValueError(f"dtype: a bundle runs in float32, not in {dtype!r}")
    if download is None:
        download = _download_allowed()
    return open_model(path, device or "auto", dtype=dtype, download=download)


def _download_allowed() -> bool:
    """Return whether HEADLIGHT_DOWNLOAD allows downloads, as a server reads it."""
    return os.environ.get("HEADLIGHT_DOWNLOAD", "").lower() in {"1", "true", "t", "yes", "y", "on"}


def wrap(model: Any, tokenizer: Any = None, name: str | None = None) -> Adapter:
    """Wrap a model of `transformers` and its tokenizer as a model like those from `load`.

    The model is not changed, and its parameters are not copied, so later changes of them take
    effect. It runs in evaluation mode, whatever mode the model is in. `name` is its name in the
    page's menu. A compiled or parallel model and one of PEFT are unwrapped; a pipeline has its
    tokenizer. Raises `TypeError` for other objects, and `ValueError` for a tokenizer without
    offsets or a model whose attention cannot be recorded.
    """
    unwrapped = unwrap(model)
    from model.adapters.huggingface import models_in_memory

    tokenizer = unwrapped.tokenizer if tokenizer is None else tokenizer
    adapter = models_in_memory.wrap(unwrapped.model, tokenizer, name, unwrapped.name)
    adapter.notices = tuple(_about_tokenizer(unwrapped.model.config, tokenizer))
    for notice in adapter.notices:
        warnings.warn(str(notice), AttentionWarning, stacklevel=2)
    return adapter


def _about_tokenizer(config: Any, tokenizer: Any) -> Iterator[Notice]:
    """Yield a notice of a tokenizer that seems to be another model's, by its name and size.

    Its ids are then other tokens to the model, and every figure looks right.
    """
    names = str(config._name_or_path), str(tokenizer.name_or_path)
    rows, size = getattr(config.get_text_config(), "vocab_size", None), len(tokenizer)
    if all(names) and names[0] != names[1] and rows and abs(rows - size) > PADDED * rows:
        yield doubtful(
            t(
                "The tokenizer {tokenizer} has {size} tokens and the model {model} {rows}: is it "
                "the tokenizer of another model?",
                tokenizer=names[1],
                size=size,
                model=names[0],
                rows=rows,
            )
        )


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
    unwrapped = unwrap(module)
    check_recordable(unwrapped)
    from model.adapters.huggingface import models_in_memory as library

    with library.record(unwrapped.model, patterns, keep, hook) as new_record:
        yield new_record
