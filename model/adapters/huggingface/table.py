"""Builds the table of a model's attentions from a probe of the model."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from model.adapters.huggingface.attention import Call
from model.trace.attentions import (
    CAUSAL,
    CROSS,
    PADDING,
    SCALED_DOT,
    SELF,
    UNKNOWN,
    AttentionInfo,
    Kind,
)

READ, WRITTEN = 7, 5  # tokens of the probe; different, so that shapes identify cross-attention
PADDED = 2  # padding tokens in the second row
CLOSE = 1e-4

Texts = Mapping[Kind, tuple[str, str]]
Weights = Mapping[Kind, Sequence[Tensor]]


@dataclass(frozen=True)
class Part:
    """A forward pass of a probe: outputs, eager weights by kind, and the calls of `attend`."""

    stack: str
    texts: Texts  # of the queries and of the keys
    output: Tensor
    weights: Weights
    calls: Sequence[Call] = ()
    seen: Sequence[Tensor] = ()  # weights of each call
    other: str = ""  # what it reports as weights in another form


def is_causal(seen: Tensor) -> bool:
    """Return whether no query sees a later token, in (N, N)."""
    return not bool(seen.triu(1).any())


@dataclass(frozen=True)
class Layer:
    """An attention, its weights in the probe, and the call that recorded it."""

    info: AttentionInfo
    weights: Tensor
    call: Call | None
    index: int | None  # of the call; None if it was not recorded


def table(part: Part) -> Iterator[Layer]:
    """Yield a part's attentions in order, each with the call that recorded it."""
    kinds = {kind: list(_matched(part, kind)) for kind in part.weights}
    for layer in range(max(map(len, kinds.values()), default=0)):
        for kind, found in kinds.items():
            if layer < len(found):
                index, weights = found[layer]
                call = None if index is None else part.calls[index]
                info = _info(part, layer, kind, weights, call)
                yield Layer(info, weights, call, index)


def _matched(part: Part, kind: Kind) -> Iterator[tuple[int | None, Tensor]]:
    """Yield each attention of a kind: the index of its call, None if not recorded, and weights.

    Calls are in the order of layers. If eager outputs have no weights, only the calls are used.
    """
    cross = kind == CROSS
    mine = [
        index
        for index, call in enumerate(part.calls)
        if (call.q.shape[2] != call.k.shape[2]) == cross
    ]
    own = part.weights[kind]
    if not own:
        yield from ((index, part.seen[index]) for index in mine)
        return
    for weights in own:
        index = next((one for one in mine if _same(part.seen[one], weights)), None)
        if index is not None:
            mine = mine[mine.index(index) + 1 :]
        yield index, weights


def _same(seen: Tensor, weights: Tensor) -> bool:
    if seen.shape != weights.shape:
        return False
    return all(
        torch.allclose(seen[row, :, :rows], weights[row, :, :rows], atol=CLOSE)
        for row, rows in (
            (0, weights.shape[2]),
            (1, min(weights.shape[2], READ - PADDED)),
        )
    )


def _info(
    part: Part,
    layer: int,
    kind: Kind,
    weights: Tensor,
    call: Call | None,
) -> AttentionInfo:
    heads = weights.shape[1]
    causal = kind == SELF and is_causal(weights[0, 0] > 0)
    return AttentionInfo(
        place=f"{part.stack}.{layer}.{kind}",
        stack=part.stack,
        layer=layer,
        kind=kind,
        query=part.texts[kind][0],
        key=part.texts[kind][1],
        heads=heads,
        kv_heads=call.k.shape[1] if call else heads,
        mask=_mask(causal, call),
        scoring=_scoring(call),
        qk=call is not None,
        projection=UNKNOWN,
    )


def _mask(causal: bool, call: Call | None) -> str:
    rules = [CAUSAL] if causal else []
    if call and call.window:
        rules.append(f"window-{call.window}")
    return " & ".join(rules) or PADDING


def _scoring(call: Call | None) -> str:
    """Return how scores are computed, as far as known."""
    if call is None:
        return "unknown"
    scales = {call.q.shape[-1] ** -0.5: SCALED_DOT, 1.0: "dot"}
    named = (name for scale, name in scales.items() if math.isclose(scale, call.scale))
    parts = [next(named, f"dot-by-{call.scale:g}")]
    if call.bias is not None and bool(call.bias.any()):  # T5's cross-attention adds zeros
        parts.append("bias")
    if call.cap is not None:
        parts.append(f"softcap-{call.cap:g}")
    if call.sink is not None:
        parts.append("sink")
    return " & ".join(parts)


def order(part: Part, layers: Iterable[Layer]) -> tuple[str, ...]:
    """Return the place of every call of a part; "" for a call that belongs to no attention."""
    places = {one.index: one.info.place for one in layers}
    return tuple(places.get(index, "") for index in range(len(part.calls)))
