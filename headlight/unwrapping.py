"""The model of `transformers` inside what people pass: compiled, parallel, adapted, in a pipeline.

    torch.compile(model)                      the module that was compiled
    DataParallel, DistributedDataParallel     the module that runs on each device
    PEFT                                      the base model, in which the adapters' layers are
    pipeline("fill-mask", …)                  its model and its tokenizer

Nothing is imported to recognise them: who has such an object has imported its library.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

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
