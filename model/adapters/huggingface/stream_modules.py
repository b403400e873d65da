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
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import torch
from torch import Tensor, nn

from model.adapters.huggingface.attention_probing import Layout, ProbePass, run
from model.adapters.huggingface.recorded_attention import Call
from model.explain.residual_stream import Norm

CLOSE = 1e-4
FFN = "ffn"
AT_ONCE = 14  # maximum number of modules of a layer to try


@dataclass(frozen=True, eq=False)
class ModuleCall:
    """A module's call: its first input and output, of the first row of the probe."""

    name: str
    module: nn.Module
    read: Tensor
    output: Tensor


@dataclass(frozen=True, eq=False)
class Term:
    """A sublayer: its module, and the norms between its output and the stream."""

    name: str  # "self", "cross", "ffn"
    output: nn.Module
    added: nn.Module  # whose output is added: the same, or a norm of its own
    bias: Tensor | None
    W_o: Tensor | None  # (H · d_v, D), of an attention
    own: Norm | None
    post: nn.Module | None  # reads the sum
    post_norm: Norm | None


def sublayers_of(
    names: Sequence[str], entry: Tensor, output: Tensor, calls: Sequence[ModuleCall]
) -> tuple[Term, ...] | None:
    """Return the sublayers of a layer that reads `entry` and returns `output` (N, D)."""
    whole = [call for call in calls if call.output.shape == entry.shape]
    return _post(names, entry, output, whole, calls) or _pre(names, entry, output, whole, calls)


def _pre(
    names: Sequence[str],
    entry: Tensor,
    output: Tensor,
    whole: Sequence[ModuleCall],
    calls: Sequence[ModuleCall],
) -> tuple[Term, ...] | None:
    distinct = _distinct(whole)
    if len(distinct) > AT_ONCE:
        return None
    for chosen in combinations(distinct, len(names)):
        if close(entry + sum(call.output for call in chosen), output):
            terms = [_term(name, call, calls) for name, call in zip(names, chosen, strict=True)]
            return tuple(terms)
    return None


def _post(
    names: Sequence[str],
    entry: Tensor,
    output: Tensor,
    whole: Sequence[ModuleCall],
    calls: Sequence[ModuleCall],
) -> tuple[Term, ...] | None:
    x, terms, begin = entry, list[Term](), 0
    for name in names:
        pairs = (
            (index, call, norm)
            for index, norm in enumerate(whole)
            for call in whole[begin:index]
            if close(x + call.output, norm.read)
        )
        step = next(pairs, None)
        if step is None:
            return None
        index, one, norm = step
        terms.append(_term(name, one, calls, norm))
        x, begin = norm.output, index + 1
    return tuple(terms) if close(x, output) else None


def _distinct(calls: Sequence[ModuleCall]) -> list[ModuleCall]:
    """Return calls without those that return what an earlier one did, such as dropout's."""
    distinct: list[ModuleCall] = []
    for call in calls:
        if not any(close(call.output, earlier.output) for earlier in distinct):
            distinct.append(call)
    return distinct


def _term(
    name: str, added: ModuleCall, calls: Sequence[ModuleCall], post: ModuleCall | None = None
) -> Term:
    norm = norm_of(added)
    source = added
    if norm is not None:
        source = next((call for call in calls if close(call.output, added.read)), added)
    after = None if post is None else norm_of(post)
    matrix, bias = linear(source.module)
    return Term(
        name=name,
        output=source.module,
        added=_nearest(added, calls),
        bias=bias,
        W_o=None if name == FFN else matrix,
        own=norm,
        post=None if post is None else post.module,
        post_norm=after,
    )


def _nearest(added: ModuleCall, calls: Sequence[ModuleCall]) -> nn.Module:
    """Return the last module that returns an output: in training, dropout is before the sum.

    One that the layer calls more than once cannot tell for which sublayer.
    """
    returning = [call for call in calls if close(call.output, added.output)]
    once = [
        call
        for call in returning
        if sum(same_module.module is call.module for same_module in calls) == 1
    ]
    return (once or [added])[-1].module


def linear(module: nn.Module) -> tuple[Tensor | None, Tensor | None]:
    """Return W (in, out) and b of a linear module; None for any other one, or a quantised one."""
    weight, bias = getattr(module, "weight", None), getattr(module, "bias", None)
    if isinstance(module, nn.Linear) and type(weight) in {nn.Parameter, Tensor}:
        return module.weight.T, module.bias
    if type(module).__name__ == "Conv1D" and isinstance(weight, Tensor):  # of GPT-2
        return weight, bias
    return None, None


def norm_of(call: ModuleCall) -> Norm | None:
    """Return a module as a `Norm` if it computes one: LayerNorm or RMSNorm, with γ or 1 + γ."""
    weight = getattr(call.module, "weight", None)
    if not isinstance(weight, Tensor) or weight.dim() != 1 or call.read.shape != call.output.shape:
        return None
    shift = getattr(call.module, "bias", None)
    names = ("eps", "variance_epsilon", "epsilon")
    eps = next((getattr(call.module, name) for name in names if hasattr(call.module, name)), 1e-6)
    for centred in (True, False):
        for gain in (weight, 1 + weight):
            norm = Norm(gain.detach(), shift, float(eps), centred)
            if close(norm(call.read), call.output):
                return norm
    return None


def with_read_matrix(term: Term, mix: Tensor | None, calls: Sequence[ModuleCall]) -> Term:
    """Return a term without W_O if its module does not read the mix itself."""
    read = next(call.read for call in calls if call.module is term.output)
    if mix is None or close(read, mix):
        return term
    return replace(term, W_o=None)


def close(first: Any, second: Tensor) -> bool:
    """Return whether two tensors of the probe have the same shape and numbers."""
    if first.shape != second.shape:
        return False
    return torch.allclose(first, second, atol=CLOSE, rtol=CLOSE)


@dataclass(frozen=True, eq=False)
class Anatomy:
    """A stack's layers, each with the sublayers that add to its stream."""

    stack: str
    text: str
    layers: tuple[nn.Module, ...]
    terms: tuple[tuple[Term, ...], ...]
    entries: tuple[Tensor, ...]  # each layer's input (N, D)
    inner: tuple[tuple[ModuleCall, ...], ...]  # calls inside each layer, in order
    calls: dict[str, Call]  # of `attend`, by place
    position: nn.Module | None  # whose output is added to the embedding
    seen: tuple[ModuleCall, ...]  # calls outside the layers, in order
    output: Tensor  # the last layer's, of the probe
    logits: Tensor  # or whatever the pass returned

    @property
    def last(self) -> nn.Module | None:
        """The norm after the last layer, if its output is what the pass returned (an encoder)."""
        for call in self.seen:
            if not call.read.shape == call.output.shape == self.output.shape == self.logits.shape:
                continue
            if close(call.read, self.output) and close(call.output, self.logits):
                return None if close(call.read, call.output) else call.module
        return None


def anatomies(model: Any, layout: Layout) -> Iterator[Anatomy]:
    """Yield the anatomy of each stack for which one is found."""
    if layout.route != "recorded":
        return
    for part, calls in _watched(model):
        anatomy = _anatomy(model, layout, part, calls)
        if anatomy is not None:
            yield anatomy


def _watched(model: Any) -> Iterator[tuple[ProbePass, list[ModuleCall]]]:
    """Run the probe and yield each part with the calls of all modules during it, in order."""
    calls: list[ModuleCall] = []

    def hear(name: str) -> Any:
        def hook(module: nn.Module, inputs: Any, named: Any, output: Any) -> None:
            read = inputs[0] if inputs else next(iter(named.values()), None)
            wrote = output[0] if isinstance(output, tuple) else output
            if not isinstance(read, Tensor) or not isinstance(wrote, Tensor):
                return
            # A module for what a text does not have (sound) reads nothing.
            if read.dim() > 0 and wrote.dim() > 1 and len(read) and len(wrote):
                calls.append(ModuleCall(name, module, read[0], wrote[0]))

        return hook

    with ExitStack() as until:
        for name, module in model.named_modules():
            if name:
                until.callback(module.register_forward_hook(hear(name), with_kwargs=True).remove)
        for part in run(model):
            yield part, list(calls)
            calls.clear()


def _anatomy(
    model: Any, layout: Layout, part: ProbePass, calls: Sequence[ModuleCall]
) -> Anatomy | None:
    kinds = [attention for attention in layout.attentions if attention.stack == part.stack]
    names = {module: name for name, module in model.named_modules()}
    places = layout.order[part.stack]
    mixed = (_mix(*columns) for columns in zip(part.calls, part.seen, strict=True))
    attentions = dict(zip(places, zip(part.calls, mixed, strict=True), strict=True))
    layers: list[nn.Module] = []
    terms: list[tuple[Term, ...]] = []
    inner: list[tuple[ModuleCall, ...]] = []
    entries: list[Tensor] = []
    inside: set[str] = set()
    output = None
    for index in range(max((attention.layer for attention in kinds), default=-1) + 1):
        in_layer = [attention for attention in kinds if attention.layer == index]
        mixes = {
            attention.kind: attentions[attention.place]
            for attention in in_layer
            if attention.place in attentions
        }
        if len(mixes) < len(in_layer):
            return None
        layer = _layer(model, [names[call.module] for call, _ in mixes.values()])
        entered = [call for call in calls if call.module is layer]
        if layer is None or layer in layers or len(entered) != 1:
            return None
        name = names[layer]
        own_calls = tuple(call for call in calls if call.name.startswith(f"{name}."))
        inside.update(call.name for call in own_calls)
        mix_by_kind: dict[str, Tensor] = {kind: mix for kind, (_, mix) in mixes.items()}
        sublayers = sublayers_of([*mixes, FFN], entered[0].read, entered[0].output, own_calls)
        if sublayers is None:
            return None
        layers.append(layer)
        terms.append(
            tuple(
                with_read_matrix(term, mix_by_kind.get(term.name), own_calls) for term in sublayers
            )
        )
        inner.append(own_calls)
        entries.append(entered[0].read)
        output = entered[0].output
    if output is None:
        return None
    outside = tuple(call for call in calls if call.name not in inside and call.module not in layers)
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
            whole = all(path == name or path.startswith(f"{name}.") for path in attentions)
            return model.get_submodule(name) if whole else None
    return None


def _position(entry: Tensor, outside: Sequence[ModuleCall]) -> nn.Module | None:
    """Return the module whose output is added to an embedding to give the first layer's input."""
    tables = [call for call in outside if isinstance(call.module, nn.Embedding)]
    for first, second in combinations(tables, 2):
        shapes = {first.output.shape, second.output.shape}
        if shapes == {entry.shape} and close(first.output + second.output, entry):
            return second.module
    return None
