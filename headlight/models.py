"""Models to show, serve and record: shipped ones, folders, and objects of `transformers`.

The model of `transformers` inside what people pass: compiled, parallel, adapted, in a pipeline.

    torch.compile(model)                      the module that was compiled
    DataParallel, DistributedDataParallel     the module that runs on each device
    PEFT                                      the base model, in which the adapters' layers are
    pipeline("fill-mask", …)                  its model and its tokenizer

Nothing is imported to recognise them: who has such an object has imported its library.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from headlight.figure_notices import AttentionWarning, Notice, doubtful, t
from model.adapters.encoder_decoder.description import recorded_names
from model.adapters.open_model import HUGGING_FACE, open_model
from model.adapters.requests.adapter_interface import Adapter
from model.trace.record import Hook, Keep, Place, Record, open_records, recording
from model.transformer.stacks import Transformer

INSTEAD = "arrays of its attention can be shown: show(attentions, tokens)"


@dataclass(frozen=True)
class Unwrapped:
    """A model of `transformers`, the tokenizer that came with it, and what was around it."""

    model: Any  # a PreTrainedModel
    tokenizer: Any = None  # of a pipeline
    name: str | None = None  # None: that of the model
    copied: bool = False  # its passes run on copies of it, on other threads


def is_wrapped(value: object) -> bool:
    """Return whether an object is a model of `transformers`, or has one inside."""
    return is_transformers(value) or _is_module(value) or _is_pipeline(value)


def is_transformers(value: object) -> bool:
    """Return whether an object is a model of `transformers`, without importing it."""
    return _is_a(value, "transformers", "PreTrainedModel")


def unwrap(value: Any) -> Unwrapped:
    """Return the model of `transformers` inside an object, which is not changed.

    Raises `TypeError` for an object without one, and `ValueError` for a model that cannot be run or
    reads no text.
    """
    model, tokenizer, copied = value, None, False
    adapters: tuple[str, ...] = ()
    if _is_pipeline(model):
        model, tokenizer = model.model, model.tokenizer
    while not is_transformers(model):
        if _is_peft(model):
            adapters = _adapters(model)
            model = model.get_base_model()
        elif hasattr(model, "_orig_mod"):  # torch.compile
            model = model._orig_mod
        elif _is_module(model) and _is_module(getattr(model, "module", None)):
            copied = _is_a(model, "torch.nn", "DataParallel") and len(model.device_ids) > 1
            model = model.module
        else:
            raise TypeError(_no_model(value, model))
    from model.adapters.huggingface.unsupported_models import check_reads_ids

    check_reads_ids(type(model))
    adapters = adapters or _added_adapters(model)
    _check_numbers(model)
    return Unwrapped(model, tokenizer, _named(model, adapters), copied)


def check_recordable(unwrapped: Unwrapped) -> None:
    """Raise `ValueError` for a model whose passes on this thread run nothing of its own."""
    if unwrapped.copied:
        raise ValueError(
            f"the passes of DataParallel run on copies of {type(unwrapped.model).__name__}, on "
            "other threads; record and call its `.module`"
        )


def _named(model: Any, adapters: tuple[str, ...]) -> str | None:
    """Return a name that includes the active adapters; None: no adapter."""
    if not adapters:
        return None
    base = PurePath(model.config._name_or_path).name or type(model).__name__
    return f"{base} + {', '.join(adapters)}"


def _is_peft(model: Any) -> bool:
    return hasattr(model, "peft_config") and hasattr(model, "get_base_model")


def _adapters(model: Any) -> tuple[str, ...]:
    """Return the active adapters of a PEFT model. Raises `ValueError` for one made of tokens."""
    names = getattr(model, "active_adapters", None) or model.active_adapter
    adapters = (names,) if isinstance(names, str) else tuple(names)
    for name in adapters:
        config = model.peft_config[name]
        if getattr(config, "is_prompt_learning", False):
            kind = getattr(config.peft_type, "value", config.peft_type)
            raise ValueError(
                f"the adapter {name!r} ({kind}) puts tokens without text before the text, outside "
                f"the model, so the model alone would show another attention; {INSTEAD}"
            )
    return adapters if _enabled(model) else ()


def _added_adapters(model: Any) -> tuple[str, ...]:
    """Return the active adapters that `model.add_adapter` or `load_adapter` put into a model."""
    if not getattr(model, "_hf_peft_config_loaded", False) or not _enabled(model):
        return ()
    names = model.active_adapters()
    return (names,) if isinstance(names, str) else tuple(names)


def _enabled(model: Any) -> bool:
    """Return whether the layers of adapters are in use, or the model has none."""
    disabled = [
        part.disable_adapters
        for part in model.modules()
        if isinstance(getattr(part, "disable_adapters", None), bool)
    ]
    return not disabled or not all(disabled)


def _check_numbers(model: Any) -> None:
    """Raise `ValueError` for a model that has shapes but no numbers, or not all."""
    names = [name for name, value in model.named_parameters() if value.is_meta]
    if not names:
        return
    count = sum(1 for _ in model.parameters())
    how_many = "all" if len(names) == count else f"{len(names)} of {count}"
    why = (
        "it was built on the device meta"
        if len(names) == count
        else "they are offloaded, to a disk or to another memory"
    )
    raise ValueError(
        f"{type(model).__name__} has no numbers in {how_many} of its parameters, such as "
        f"{names[0]}: {why}; load it with from_pretrained(…) on a device that holds it whole"
    )


def _no_model(value: Any, inner: Any) -> str:
    """Return why an object is not a model that can be shown, and what to do."""
    name = type(value).__name__
    needed = f"a model of transformers is needed, not {name}"
    if isinstance(value, str | Path):
        return f"{needed}; a model's name or folder is opened by headlight.load"
    if isinstance(value, type):
        return f"a model of transformers is needed, not the class {value.__name__}"
    if _is_a(value, "transformers", "PreTrainedTokenizerBase"):
        return f"{needed}; the model comes before its tokenizer"
    if _is_a(value, "transformers", "PreTrainedConfig"):
        return f"{needed}; AutoModel.from_config(config) makes a model with random numbers of it"
    if _is_a(inner, "torch.jit", "ScriptModule"):
        return f"{needed}: in a traced or scripted model attention cannot be seen; {INSTEAD}"
    if _is_module(inner):
        of = f" of {type(inner).__name__}" if inner is not value else ""
        return f"{needed}{of}; {INSTEAD}"
    return needed


def _is_pipeline(value: object) -> bool:
    return _is_a(value, "transformers", "Pipeline")


def _is_module(value: object) -> bool:
    return _is_a(value, "torch.nn", "Module")


def _is_a(value: object, library: str, name: str) -> bool:
    """Return whether an object is of a class of a library that may not be imported."""
    class_ = getattr(sys.modules.get(library), name, None)
    return isinstance(class_, type) and isinstance(value, class_)


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
