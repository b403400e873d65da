"""A user's own model of `transformers`, in memory: wrapped as an adapter, or recorded.

The user's model is never changed: a copy that shares its tensors serves it, or finds out what a
record of it can have.

`transformers` reads `config._attn_implementation` for every mask and every attention. Setting it
would affect all threads, even during their passes. Therefore, while a record is open, the config's
class has a property whose value depends on the records of the current thread.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import PurePath
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from model.adapters.huggingface.attention_probing import probe, run
from model.adapters.huggingface.forward_passes import Forward
from model.adapters.huggingface.huggingface_adapter import HuggingFace
from model.adapters.huggingface.open_folder import OpenedModel
from model.adapters.huggingface.parameters import calculations, networks, norms_before
from model.adapters.huggingface.recorded_attention import (
    IMPLEMENTATION,
    configs,
    restore_class,
    shared_copy,
)
from model.adapters.huggingface.stream_hooks import (
    RecordedStreams,
    StreamHook,
    names_of,
    stream_hooks,
)
from model.adapters.huggingface.stream_modules import anatomies
from model.trace.record import (
    Hook,
    Keep,
    Place,
    Record,
    RecordTap,
    open_records,
    recorded,
    recording,
)
from model.trace.tensor_tap import NULL, QUERY, VOCAB

SAMPLED = 64  # numbers of each parameter that enter the digest


def wrap(
    model: Any, tokenizer: Any, id_: str | None = None, name: str | None = None
) -> HuggingFace:
    """Return an adapter of a model and its tokenizer, which follows changes of the parameters.

    `name` is by default that of the folder or hub from which it came, or of its class.

    Raises `ValueError` for a tokenizer without offsets, and for a model without attention.
    """
    if not getattr(tokenizer, "is_fast", False):
        raise ValueError(
            f"{type(tokenizer).__name__} is not a tokenizer of transformers that gives offsets"
        )
    name = name or PurePath(model.config._name_or_path).name or type(model).__name__
    opened = OpenedModel(shared_copy(model), tokenizer, name, _digest(model), card="")
    return HuggingFace(opened, id_ or name)


def _digest(model: Any) -> str:
    """Return a digest of the config and of some of each parameter's numbers."""
    digest = hashlib.sha256(model.config.to_json_string().encode())
    with torch.inference_mode():
        for name, value in model.named_parameters():
            digest.update(f"{name}{tuple(value.shape)}".encode())
            for stored in _stored_tensors(value):
                flat = stored.reshape(-1)
                sampled = flat[:: max(1, len(flat) // SAMPLED)].float().cpu()
                digest.update(sampled.numpy().tobytes())
    return digest.hexdigest()


def _stored_tensors(value: Tensor) -> Iterator[Tensor]:
    """Yield the plain tensors of a parameter: one, or several if it was quantised (torchao)."""
    if not hasattr(value, "__tensor_flatten__"):
        yield value
        return
    names, _ = value.__tensor_flatten__()
    for name in names:
        yield from _stored_tensors(getattr(value, name))


_lock = Lock()
_open_records: dict[int, list[Record]] = {}  # by the identity of the config


@contextmanager
def recording_attention(configs: Sequence[Any], record: Record) -> Iterator[None]:
    """Make configs name `IMPLEMENTATION` on threads with an open record."""
    with _lock:
        for config in configs:
            _open_records.setdefault(id(config), []).append(record)
            if not hasattr(config, "unwatched"):
                config.__class__ = _recording_class(type(config))  # type: ignore[arg-type]
    try:
        yield
    finally:
        with _lock:
            for config in configs:
                open_records = [
                    open_record
                    for open_record in _open_records.pop(id(config))
                    if open_record is not record
                ]
                if open_records:
                    _open_records[id(config)] = open_records
                else:
                    restore_class(config)


@cache
def _recording_class(class_: Hashable) -> type:
    """Return a subclass whose attention depends on the thread's records."""
    base: Any = class_
    original = base._attn_implementation

    def implementation(config: Any) -> str | None:
        is_recorded = any(recorded(record) for record in _open_records.get(id(config), ()))
        return IMPLEMENTATION if is_recorded else original.fget(config)

    subclass = type(
        base.__name__, (base,), {"_attn_implementation": property(implementation, original.fset)}
    )
    # Set afterwards: in its body it would be a field of the config.
    subclass.unwatched = base  # type: ignore[attr-defined]
    subclass.__module__, subclass.__qualname__ = base.__module__, base.__qualname__
    return subclass


LOGITS = "logits"


@dataclass(frozen=True)
class Recordable:
    """What a record of a model can have. Modules are named, since a copy has them too."""

    names: Mapping[str, tuple[str, ...]]
    places: Mapping[str, list[Place]]  # of each attention's module
    streamed: Collection[str]  # names of the residual stream's tensors
    hooks: Sequence[tuple[str, StreamHook]]
    writes: str | None  # the stack that returns logits
    texts: Mapping[str, str]  # that the queries of each stack are of


_recordables: WeakKeyDictionary[nn.Module, tuple[list[int], Recordable]] = WeakKeyDictionary()


@contextmanager
def record(
    model: Any, patterns: Sequence[str], keep: Keep, hook: Hook | None = None
) -> Iterator[Record]:
    """Record a model's passes on this thread until the block ends.

    Raises `ValueError` for a model whose attention does not use the library's interface.
    """
    recordable = _recordable(model)
    parts = dict(model.named_modules())
    places = {parts[name]: several for name, several in recordable.places.items()}
    opened = Record(places, recordable.names, patterns, keep, hook)
    with ExitStack() as until:
        until.enter_context(recording_attention(configs(model), opened))
        if any(len(several) > 1 for several in recordable.places.values()):
            for part in _entrances(model):
                handle = part.register_forward_pre_hook(
                    lambda *_: _begin_pass(opened), prepend=True
                )
                until.callback(handle.remove)
        for handle in _hooks(model, parts, recordable, opened):
            until.callback(handle.remove)
        until.enter_context(recording(*open_records(), opened))
        yield opened


def _hooks(
    model: nn.Module, parts: Mapping[str, nn.Module], recordable: Recordable, record: Record
) -> Iterator[RemovableHandle]:
    """Hear the residual stream and the logits of passes on the record's thread."""
    tap = RecordTap(record, NULL, "", {})
    if not record.names.isdisjoint(recordable.streamed):
        streams = RecordedStreams(tap)
        for name, hook in recordable.hooks:
            yield hook.connect(lambda: streams if recorded(record) else None, parts[name])
    stack = recordable.writes
    if stack is not None and f"{stack}.{LOGITS}" in record.names:

        def hear(_: nn.Module, __: Any, output: Any) -> Any:
            if not recorded(record):
                return output
            over = {QUERY: recordable.texts[stack]}
            logits = _logits(output)
            changed = tap.at(stack, **over)(LOGITS, logits, (QUERY, VOCAB))
            return output if changed is logits else _with_logits(output, logits, changed)

        yield model.register_forward_hook(hear)


def _logits(output: Any) -> Tensor:
    """Return the logits (B, N, V) of what a model returned."""
    if isinstance(output, tuple):  # after a loss, if there is one
        return next(part for part in output if isinstance(part, Tensor) and part.dim() == 3)
    logits: Tensor = output.logits
    return logits


def _with_logits(output: Any, logits: Tensor, changed: Tensor) -> Any:
    """Return what a model returned, with other logits."""
    if isinstance(output, tuple):
        return tuple(changed if part is logits else part for part in output)
    output.logits = changed
    return output


def _begin_pass(record: Record) -> None:
    """Start a pass at the first place, even if the previous pass was interrupted."""
    if recorded(record):
        record.begin()


def _entrances(model: Any) -> list[nn.Module]:
    """Return the modules with which a pass may begin."""
    modules: list[nn.Module] = [model, model.base_model]
    if model.config.is_encoder_decoder:
        modules += [model.get_encoder(), model.get_decoder()]
    return list({id(module): module for module in modules}.values())


def _recordable(model: Any) -> Recordable:
    """Find what a record of a model can have, in a run of a copy."""
    modules = [id(part) for part in model.modules()]
    cached = _recordables.get(model)
    if cached and cached[0] == modules:
        return cached[1]
    copied = shared_copy(model)
    for part in copied.modules():  # hooks of the user must not see the probe
        part._forward_hooks.clear()
        part._forward_pre_hooks.clear()
        # Those with which the library returns weights are registered again.
        vars(part).pop("_output_capturing_hooks_installed", None)
    layout = probe(copied)
    if layout.route != "recorded":
        raise ValueError(
            f"{type(model).__name__} computes attention in its own code, which cannot be "
            "recorded; use the weights that `output_attentions=True` returns"
        )
    called = {part: name for name, part in copied.named_modules()}
    over = {attention.place: attention.over for attention in layout.attentions}
    places: dict[str, list[Place]] = {}
    for part in run(copied):
        for call, place in zip(part.calls, layout.order[part.stack], strict=True):
            if place:
                places.setdefault(called[call.module], []).append(Place(place, over[place]))
    with torch.inference_mode():
        stacks = list(anatomies(copied, layout))
        fed = networks(stacks)
        befores = norms_before(calculations(copied, stacks), fed)
    streamed: dict[str, tuple[str, ...]] = {}
    for stack in stacks:
        streamed |= names_of(stack, befores, fed)
    names = Forward(copied, copied, layout, writes=False).names() | streamed
    writes = None
    if copied.get_output_embeddings() is not None:
        writes = layout.attentions[-1].stack
        names[f"{writes}.{LOGITS}"] = (QUERY, VOCAB)
    recordable = Recordable(
        names,
        places,
        streamed,
        [(called[hook.module], hook) for hook in stream_hooks(stacks, befores, fed)],
        writes,
        {attention.stack: attention.query for attention in layout.attentions},
    )
    _recordables[model] = modules, recordable
    return recordable
