"""Finds how a feed-forward network of `transformers` computes its output, by comparing numbers.

    read   = norm(x), or x; x is the sum after the attention or, in parallel, the layer's input
    hidden = f(read W_1 + b_1), or f(read W_g + b_g) · (read W_1 + b_1) if it is gated
    output = hidden W_2 + b_2

A matrix may hold W_g and W_1 together (ModernBERT). Networks of experts, of which a router chooses
some for each token, are not found. Source of the gated form: Shazeer 2020, "GLU Variants Improve
Transformer", equations 5 and 6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from model.adapters.huggingface.anatomy import Anatomy
from model.adapters.huggingface.parameters import Parameter, added, norm_parameters, sublayers
from model.adapters.huggingface.terms import FFN, Seen, Term, close, linear, norm_of
from model.trace.networks import NetworkInfo
from model.trace.tensor_tap import FEATURE, HIDDEN

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu-tanh": partial(F.gelu, approximate="tanh"),
    "silu": F.silu,
    "relu-squared": lambda x: F.relu(x).square(),
    "gelu-sigmoid": lambda x: x * torch.sigmoid(1.702 * x),
}
EXACTLY = 1e-6  # GELU and its approximations differ by less than 5e-4
UP, GATE, DOWN = "1", "g", "2"


@dataclass(frozen=True, eq=False)
class Network:
    """A network's description, its parameters by short name, and the norm that it reads."""

    info: NetworkInfo
    parameters: Mapping[str, Parameter]
    before: nn.Module | None


@dataclass(frozen=True, eq=False)
class _Sum:
    """Some columns of a linear module: read W + b."""

    call: Seen
    columns: slice

    @property
    def value(self) -> Tensor:
        return self.call.output[:, self.columns]

    def parameters(self, letter: str) -> dict[str, Parameter]:
        """Return its matrix and bias under the names with this letter."""
        module, columns = self.call.module, self.columns
        found: dict[str, Parameter] = {
            f"W_{letter}": ((FEATURE, HIDDEN), lambda: _linear(module)[0][:, columns])
        }
        if _linear(module)[1] is not None:
            found[f"b_{letter}"] = (HIDDEN,), lambda: _bias(module)[columns]
        return found


def networks(anatomies: Sequence[Anatomy]) -> dict[str, Network]:
    """Return the feed-forward networks that were found, by place."""
    found = {}
    for anatomy in anatomies:
        for place, term, x, entry, calls in sublayers(anatomy):
            made = _network(place, term, x, entry, calls) if term.name == FFN else None
            if made is not None:
                found[place] = made
    return found


def _network(
    place: str, term: Term, x: Tensor, entry: Tensor, calls: Sequence[Seen]
) -> Network | None:
    down = next(one for one in calls if one.module is term.output)
    if linear(term.output)[0] is None or not _multiplies(down):
        return None
    for activation, up, gate in _hidden(down, calls):
        read = up.call.read
        for stream, parallel in ((x, False), (entry, True)):
            before = _norm(stream, read, calls)
            if before is None and not _same(stream, read):
                continue
            if before is not None and term.post is not None:
                return None  # two norms would have one name
            parameters = {
                **(gate.parameters(GATE) if gate else {}),
                **up.parameters(UP),
                **_down(term.output),
                **(norm_parameters(before, "", FEATURE) if before else {}),
                **added(term, calls),
            }
            width = down.read.shape[-1]
            info = NetworkInfo(place, activation, width, parallel, tuple(parameters))
            return Network(info, parameters, before.module if before else None)
    return None


def _hidden(down: Seen, calls: Sequence[Seen]) -> Iterator[tuple[str, _Sum, _Sum | None]]:
    """Yield how the hidden units may be computed: the activation, the sum, and a gate's."""
    hidden = down.read
    sums = [one for call in calls if _multiplies(call) for one in _sums(call, hidden.shape[-1])]
    for act in calls:
        if act.read.shape != hidden.shape or act.output.shape != hidden.shape:
            continue
        activation = activation_of(act.module)
        for inner in sums if activation else ():
            if not _same(inner.value, act.read):
                continue
            if close(act.output, hidden):
                yield str(activation), inner, None
            yield from (
                (str(activation), up, inner)
                for up in sums
                if up is not inner
                and _same(up.call.read, inner.call.read)
                and close(act.output * up.value, hidden)
            )


def _sums(call: Seen, width: int) -> Iterator[_Sum]:
    if call.output.shape[-1] == width:
        yield _Sum(call, slice(0, width))
    if call.output.shape[-1] == 2 * width:
        yield from (_Sum(call, slice(at, at + width)) for at in (0, width))


def _multiplies(call: Seen) -> bool:
    """Return whether a call is of a linear module, with rows (N, D)."""
    matrix, bias = linear(call.module)
    if matrix is None or call.read.dim() != 2 or call.read.shape[-1] != len(matrix):
        return False
    product = call.read @ matrix
    return close(product if bias is None else product + bias, call.output)


def activation_of(module: nn.Module) -> str | None:
    """Return the name of a module's function, compared on numbers of both signs."""
    if next(module.parameters(), None) is not None:
        return None
    x = torch.linspace(-6, 6, 121)
    y = module(x)
    for name, function in ACTIVATIONS.items():
        if torch.allclose(y, function(x), atol=EXACTLY, rtol=EXACTLY):
            return name
    return None


def _norm(x: Tensor, read: Tensor, calls: Sequence[Seen]) -> Seen | None:
    """Return the norm of the stream that a network reads."""
    for one in calls:
        if _same(one.read, x) and _same(one.output, read) and norm_of(one) is not None:
            return one
    return None


def _down(module: nn.Module) -> dict[str, Parameter]:
    found: dict[str, Parameter] = {
        f"W_{DOWN}": ((HIDDEN, FEATURE), lambda: _linear(module)[0]),
    }
    if _linear(module)[1] is not None:
        found[f"b_{DOWN}"] = (FEATURE,), lambda: _bias(module)
    return found


def _linear(module: nn.Module) -> tuple[Tensor, Tensor | None]:
    matrix, bias = linear(module)
    assert matrix is not None
    return matrix, bias


def _bias(module: nn.Module) -> Tensor:
    bias = _linear(module)[1]
    assert bias is not None
    return bias


def _same(one: Tensor, other: Tensor) -> bool:
    return one.shape == other.shape and close(one, other)
