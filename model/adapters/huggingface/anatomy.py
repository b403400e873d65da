"""Finds the modules that add to the residual stream of a model of `transformers`, by running it.

Architectures use different module names, so no names are used here. The model runs once, and the
inputs and outputs of its modules are compared:

    pre-norm    x + o_1 + … + o_n is the layer's output, for outputs o_i of modules of the layer
    post-norm   some norm reads x + o_1 and returns the x of the next sublayer, and so on

An equation that holds for these numbers to 1e-4 is accepted. A model for which none holds has no
`Anatomy`, and does not support features of its stream.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from torch import Tensor, nn

from model.adapters.huggingface.attention import Call
from model.adapters.huggingface.probing import Layout, run
from model.adapters.huggingface.table import Part
from model.adapters.huggingface.terms import FFN, Seen, Term, checked, close, terms_of


@dataclass(frozen=True, eq=False)
class Anatomy:
    """A stack's layers, each with the sublayers that add to its stream."""

    stack: str
    text: str
    layers: tuple[nn.Module, ...]
    terms: tuple[tuple[Term, ...], ...]
    entries: tuple[Tensor, ...]  # each layer's input (N, D)
    inner: tuple[tuple[Seen, ...], ...]  # calls inside each layer, in order
    calls: dict[str, Call]  # of `attend`, by place
    position: nn.Module | None  # whose output is added to the embedding
    seen: tuple[Seen, ...]  # calls outside the layers, in order
    output: Tensor  # the last layer's, of the probe
    logits: Tensor  # or whatever the pass returned

    @property
    def last(self) -> nn.Module | None:
        """The norm after the last layer, if its output is what the pass returned (an encoder)."""
        for one in self.seen:
            if not one.read.shape == one.output.shape == self.output.shape == self.logits.shape:
                continue
            if close(one.read, self.output) and close(one.output, self.logits):
                return None if close(one.read, one.output) else one.module
        return None


def anatomies(model: Any, layout: Layout) -> Iterator[Anatomy]:
    """Yield the anatomy of each stack for which one is found."""
    if layout.route != "recorded":
        return
    for part, calls in _watched(model):
        found = _anatomy(model, layout, part, calls)
        if found is not None:
            yield found


def _watched(model: Any) -> Iterator[tuple[Part, list[Seen]]]:
    """Run the probe and yield each part with the calls of all modules during it, in order."""
    calls: list[Seen] = []

    def hear(name: str) -> Any:
        def hook(module: nn.Module, inputs: Any, named: Any, output: Any) -> None:
            read = inputs[0] if inputs else next(iter(named.values()), None)
            wrote = output[0] if isinstance(output, tuple) else output
            if not isinstance(read, Tensor) or not isinstance(wrote, Tensor):
                return
            # A module for what a text does not have (sound) reads nothing.
            if read.dim() > 0 and wrote.dim() > 1 and len(read) and len(wrote):
                calls.append(Seen(name, module, read[0], wrote[0]))

        return hook

    with ExitStack() as until:
        for name, module in model.named_modules():
            if name:
                until.callback(module.register_forward_hook(hear(name), with_kwargs=True).remove)
        for part in run(model):
            yield part, list(calls)
            calls.clear()


def _anatomy(model: Any, layout: Layout, part: Part, calls: Sequence[Seen]) -> Anatomy | None:
    kinds = [one for one in layout.attentions if one.stack == part.stack]
    names = {module: name for name, module in model.named_modules()}
    places = layout.order[part.stack]
    mixed = (_mix(*one) for one in zip(part.calls, part.seen, strict=True))
    attentions = dict(zip(places, zip(part.calls, mixed, strict=True), strict=True))
    layers: list[nn.Module] = []
    terms: list[tuple[Term, ...]] = []
    inner: list[tuple[Seen, ...]] = []
    entries: list[Tensor] = []
    inside: set[str] = set()
    output = None
    for index in range(max((one.layer for one in kinds), default=-1) + 1):
        own = [one for one in kinds if one.layer == index]
        mixes = {one.kind: attentions[one.place] for one in own if one.place in attentions}
        if len(mixes) < len(own):
            return None
        layer = _layer(model, [names[call.module] for call, _ in mixes.values()])
        seen = [one for one in calls if one.module is layer]
        if layer is None or layer in layers or len(seen) != 1:
            return None
        name = names[layer]
        own_calls = tuple(one for one in calls if one.name.startswith(f"{name}."))
        inside.update(one.name for one in own_calls)
        wanted: dict[str, Tensor] = {kind: mix for kind, (_, mix) in mixes.items()}
        found = terms_of([*mixes, FFN], seen[0].read, seen[0].output, own_calls)
        if found is None:
            return None
        layers.append(layer)
        terms.append(tuple(checked(term, wanted.get(term.name), own_calls) for term in found))
        inner.append(own_calls)
        entries.append(seen[0].read)
        output = seen[0].output
    if output is None:
        return None
    outside = tuple(one for one in calls if one.name not in inside and one.module not in layers)
    text = kinds[0].query
    return Anatomy(
        stack=part.stack,
        text=text,
        layers=tuple(layers),
        terms=tuple(terms),
        entries=tuple(entries),
        inner=tuple(inner),
        calls={place: call for place, (call, _) in attentions.items()},
        position=_position(entries[0], outside),
        seen=outside,
        output=output,
        logits=part.output[0],
    )


def _mix(call: Call, weights: Tensor) -> Tensor:
    """Return the mix of the probe's first row, (N, H · d_v)."""
    v = call.v[0].repeat_interleave(len(weights[0]) // len(call.v[0]), dim=0)
    return (weights[0] @ v).transpose(0, 1).flatten(1)


def _layer(model: nn.Module, attentions: Sequence[str]) -> nn.Module | None:
    """Return the outermost member of a list of modules that has all these attentions."""
    path = attentions[0].split(".")
    for length in range(1, len(path)):
        parent = model.get_submodule(".".join(path[:length]))
        if isinstance(parent, nn.ModuleList):
            name = ".".join(path[: length + 1])
            whole = all(one == name or one.startswith(f"{name}.") for one in attentions)
            return model.get_submodule(name) if whole else None
    return None


def _position(entry: Tensor, outside: Sequence[Seen]) -> nn.Module | None:
    """Return the module whose output is added to an embedding to give the first layer's input."""
    tables = [one for one in outside if isinstance(one.module, nn.Embedding)]
    for first, second in combinations(tables, 2):
        shapes = {first.output.shape, second.output.shape}
        if shapes == {entry.shape} and close(first.output + second.output, entry):
            return second.module
    return None
