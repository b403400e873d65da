"""The sublayers of a layer, found by comparing what its modules read and returned in a probe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import torch
from torch import Tensor, nn

from model.explain.stream import Norm

CLOSE = 1e-4
FFN = "ffn"
AT_ONCE = 14  # maximum number of modules of a layer to try


@dataclass(frozen=True, eq=False)
class Seen:
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


def terms_of(
    names: Sequence[str], entry: Tensor, output: Tensor, calls: Sequence[Seen]
) -> tuple[Term, ...] | None:
    """Return the sublayers of a layer that reads `entry` and returns `output` (N, D)."""
    whole = [one for one in calls if one.output.shape == entry.shape]
    return _post(names, entry, output, whole, calls) or _pre(names, entry, output, whole, calls)


def _pre(
    names: Sequence[str],
    entry: Tensor,
    output: Tensor,
    whole: Sequence[Seen],
    calls: Sequence[Seen],
) -> tuple[Term, ...] | None:
    distinct = _distinct(whole)
    if len(distinct) > AT_ONCE:
        return None
    for some in combinations(distinct, len(names)):
        if close(entry + sum(one.output for one in some), output):
            made = [_term(name, one, calls) for name, one in zip(names, some, strict=True)]
            return tuple(made)
    return None


def _post(
    names: Sequence[str],
    entry: Tensor,
    output: Tensor,
    whole: Sequence[Seen],
    calls: Sequence[Seen],
) -> tuple[Term, ...] | None:
    x, found, begin = entry, list[Term](), 0
    for name in names:
        pairs = (
            (index, one, norm)
            for index, norm in enumerate(whole)
            for one in whole[begin:index]
            if norm.read.shape == x.shape and close(x + one.output, norm.read)
        )
        step = next(pairs, None)
        if step is None:
            return None
        index, one, norm = step
        found.append(_term(name, one, calls, norm))
        x, begin = norm.output, index + 1
    return tuple(found) if close(x, output) else None


def _distinct(calls: Sequence[Seen]) -> list[Seen]:
    """Return calls without those that return what an earlier one did, such as dropout's."""
    found: list[Seen] = []
    for one in calls:
        if not any(close(one.output, other.output) for other in found):
            found.append(one)
    return found


def _term(name: str, added: Seen, calls: Sequence[Seen], post: Seen | None = None) -> Term:
    own = norm_of(added)
    source = added
    if own is not None:
        source = next((one for one in calls if _returns(one, added.read)), added)
    after = None if post is None else norm_of(post)
    matrix, bias = linear(source.module)
    return Term(
        name=name,
        output=source.module,
        added=_nearest(added, calls),
        bias=bias,
        W_o=None if name == FFN else matrix,
        own=own,
        post=None if post is None else post.module,
        post_norm=after,
    )


def _nearest(added: Seen, calls: Sequence[Seen]) -> nn.Module:
    """Return the last module that returns an output: in training, dropout is before the sum.

    One that the layer calls more than once cannot tell for which sublayer.
    """
    same = [one for one in calls if _returns(one, added.output)]
    once = [one for one in same if sum(other.module is one.module for other in calls) == 1]
    return (once or [added])[-1].module


def _returns(one: Seen, value: Tensor) -> bool:
    return one.output.shape == value.shape and close(one.output, value)


def linear(module: nn.Module) -> tuple[Tensor | None, Tensor | None]:
    """Return W (in, out) and b of a linear module; None for any other one."""
    weight, bias = getattr(module, "weight", None), getattr(module, "bias", None)
    if isinstance(module, nn.Linear):
        return module.weight.T, module.bias
    if type(module).__name__ == "Conv1D" and isinstance(weight, Tensor):  # of GPT-2
        return weight, bias
    return None, None


def norm_of(call: Seen) -> Norm | None:
    """Return a module as a `Norm` if it computes one: LayerNorm or RMSNorm, with γ or 1 + γ."""
    weight = getattr(call.module, "weight", None)
    if not isinstance(weight, Tensor) or weight.dim() != 1 or call.read.shape != call.output.shape:
        return None
    shift = getattr(call.module, "bias", None)
    names = ("eps", "variance_epsilon", "epsilon")
    eps = next((getattr(call.module, one) for one in names if hasattr(call.module, one)), 1e-6)
    for centred in (True, False):
        for gain in (weight, 1 + weight):
            made = Norm(gain.detach(), shift, float(eps), centred)
            if close(made(call.read), call.output):
                return made
    return None


def checked(term: Term, mix: Tensor | None, calls: Sequence[Seen]) -> Term:
    """Return a term without W_O if its module does not read the mix itself."""
    read = next(one.read for one in calls if one.module is term.output)
    if mix is None or (read.shape == mix.shape and close(read, mix)):
        return term
    return replace(term, W_o=None)


def close(one: Any, other: Tensor) -> bool:
    """Return whether two tensors of the probe agree."""
    return torch.allclose(one, other, atol=CLOSE, rtol=CLOSE)
