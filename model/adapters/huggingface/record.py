"""Records the passes of a model of `transformers` that the user runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any
from weakref import WeakKeyDictionary

from torch import nn

from model.adapters.huggingface.forward import Forward
from model.adapters.huggingface.in_memory import configs, twin
from model.adapters.huggingface.probing import probe, run
from model.adapters.huggingface.watching import watched
from model.trace.record import Keep, Place, Record, open_records, recorded, recording

Found = tuple[Mapping[str, tuple[str, ...]], Mapping[str, list[Place]]]
_known: WeakKeyDictionary[nn.Module, tuple[list[int], Found]] = WeakKeyDictionary()


@contextmanager
def record(model: Any, patterns: Sequence[str], keep: Keep) -> Iterator[Record]:
    """Record a model's passes on this thread until the block ends.

    Raises `ValueError` for a model whose attention does not use the library's interface.
    """
    names, found = _found(model)
    parts = dict(model.named_modules())
    places = {parts[name]: several for name, several in found.items()}
    made = Record(places, names, patterns, keep)
    with ExitStack() as until:
        until.enter_context(watched(configs(model), made))
        if any(len(several) > 1 for several in found.values()):
            for part in _entrances(model):
                hook = part.register_forward_pre_hook(lambda *_: _begin(made), prepend=True)
                until.callback(hook.remove)
        until.enter_context(recording(*open_records(), made))
        yield made


def _begin(made: Record) -> None:
    """Start a pass at the first place, even if the previous pass was interrupted."""
    if recorded(made):
        made.begin()


def _entrances(model: Any) -> list[nn.Module]:
    """Return the modules with which a pass may begin."""
    found: list[nn.Module] = [model, model.base_model]
    if model.config.is_encoder_decoder:
        found += [model.get_encoder(), model.get_decoder()]
    return list({id(one): one for one in found}.values())


def _found(model: Any) -> Found:
    """Return the names that a record of a model can have, and the places of its modules."""
    modules = [id(part) for part in model.modules()]
    known = _known.get(model)
    if known and known[0] == modules:
        return known[1]
    other = twin(model)
    for part in other.modules():  # hooks of the user must not see the probe
        part._forward_hooks.clear()
        part._forward_pre_hooks.clear()
    layout = probe(other)
    if layout.route != "recorded":
        raise ValueError(
            f"{type(model).__name__} computes attention in its own code, which cannot be "
            "recorded; use the weights that `output_attentions=True` returns"
        )
    called = {part: name for name, part in other.named_modules()}
    over = {one.place: one.over for one in layout.attentions}
    places: dict[str, list[Place]] = {}
    for part in run(other):
        for call, place in zip(part.calls, layout.order[part.stack], strict=True):
            if place:
                places.setdefault(called[call.module], []).append(Place(place, over[place]))
    names = Forward(other, layout, writes=False).names()
    _known[model] = modules, (names, places)
    return names, places
