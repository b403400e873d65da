"""Probes a model: which attentions it has, and how the weights of each can be recorded.

A model that does not use the attention interface of `transformers` silently never calls `attend`.
So the model is run twice on the same tokens, once with its own ("eager") attention, which returns
weights, and once with `attend`, and both are compared:

    recorded   every attention called `attend`, with the same weights and the same outputs
    eager      none did, or something differs: weights are taken from eager outputs
    mixed      some did: these are recorded, the others are taken from the outputs

The result is the table of its attentions.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import torch
from torch import Tensor

from model.adapters.huggingface.recorded_attention import IMPLEMENTATION, Call, passing
from model.adapters.huggingface.unsupported_models import (
    other_inputs,
    other_results,
    own_attention,
    shape_of,
    vocabulary,
)
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
from model.trace.tensor_tap import SOURCE, TARGET, Tap

READ, WRITTEN = 7, 5  # tokens of the probe; different, so that shapes identify cross-attention

PADDED = 2  # padding tokens in the second row

CLOSE = 1e-4

Texts = Mapping[Kind, tuple[str, str]]

Weights = Mapping[Kind, Sequence[Tensor]]


@dataclass(frozen=True)
class ProbePass:
    """A forward pass of a probe: outputs, eager weights by kind, and the calls of `attend`."""

    stack: str
    texts: Texts  # of the queries and of the keys
    output: Tensor
    weights: Weights
    calls: Sequence[Call] = ()
    seen: Sequence[Tensor] = ()  # weights of each call
    other: str = ""  # what it reports as weights in another form


def is_causal(weights: Tensor) -> bool:
    """Return whether no query sees a later token, in (N, N)."""
    return not bool(weights.triu(1).any())


@dataclass(frozen=True)
class ProbedAttention:
    """An attention, its weights in the probe, and the call that recorded it."""

    info: AttentionInfo
    weights: Tensor
    call: Call | None
    index: int | None  # of the call; None if it was not recorded


def attention_table(part: ProbePass) -> Iterator[ProbedAttention]:
    """Yield a part's attentions in order, each with the call that recorded it."""
    kinds = {kind: list(_matched(part, kind)) for kind in part.weights}
    for layer in range(max(map(len, kinds.values()), default=0)):
        for kind, matched in kinds.items():
            if layer < len(matched):
                index, weights = matched[layer]
                call = None if index is None else part.calls[index]
                info = _info(part, layer, kind, weights, call)
                yield ProbedAttention(info, weights, call, index)


def _matched(part: ProbePass, kind: Kind) -> Iterator[tuple[int | None, Tensor]]:
    """Yield each attention of a kind: the index of its call, None if not recorded, and weights.

    Calls are in the order of layers. If eager outputs have no weights, only the calls are used.
    """
    cross = kind == CROSS
    mine = [
        index
        for index, call in enumerate(part.calls)
        if (call.q.shape[2] != call.k.shape[2]) == cross
    ]
    reported = part.weights[kind]
    if not reported:
        yield from ((index, part.seen[index]) for index in mine)
        return
    for weights in reported:
        index = next(
            (call_index for call_index in mine if _same(part.seen[call_index], weights)), None
        )
        if index is not None:
            mine = mine[mine.index(index) + 1 :]
        yield index, weights


def _same(recorded: Tensor, weights: Tensor) -> bool:
    if recorded.shape != weights.shape:
        return False
    return all(
        torch.allclose(recorded[row, :, :rows], weights[row, :, :rows], atol=CLOSE)
        for row, rows in (
            (0, weights.shape[2]),
            (1, min(weights.shape[2], READ - PADDED)),
        )
    )


def _info(
    part: ProbePass,
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


def call_order(part: ProbePass, layers: Iterable[ProbedAttention]) -> tuple[str, ...]:
    """Return the place of every call of a part; "" for a call that belongs to no attention."""
    places = {layer.index: layer.info.place for layer in layers}
    return tuple(places.get(index, "") for index in range(len(part.calls)))


TEXT = "text"  # the only text of a model that reads one

TOLERANCE = 5e-4  # of weights, and relative to the largest output; other kernels round by 1e-5

ROUNDINGS = 16  # times the precision of a model that rounds more than float32

Route = Literal["recorded", "eager", "mixed"]


@dataclass(frozen=True)
class Layout:
    """A model's attentions, and the order in which each of its forward passes calls them.

    `order` lists the places of recorded attentions by part: "encoder" and "decoder", or the only
    part.
    """

    attentions: tuple[AttentionInfo, ...]
    order: Mapping[str, tuple[str, ...]]
    sinks: frozenset[str]  # places with an attention sink
    scores: frozenset[str]  # places whose reported weights are scores
    route: Route


def probe(model: Any) -> Layout:
    """Run a model both ways and return its layout; leave it configured for serving.

    Raises `RefusalError` for a model that reads no text, or whose attention cannot be recorded.
    """
    vocabulary(model)
    implementation = model.config._attn_implementation
    try:
        plain = [] if implementation == "eager" else list(run(model, reporting=False))
        _choose(model, "eager")
        eager = list(run(model))
    except Exception as error:  # whatever a model does with a text
        raise other_inputs(model, error) from error
    if plain and not _same_results(plain, eager, model.dtype):
        raise other_results(model, implementation)
    _choose(model, IMPLEMENTATION)
    try:
        tried = list(run(model))
    except Exception:  # a mask that its own attention cannot read
        tried = []
    if not tried or not _equal(eager, tried):
        tried = [replace(part, calls=(), seen=()) for part in eager]
    merged = [
        replace(part, calls=with_calls.calls, seen=with_calls.seen)
        for part, with_calls in zip(eager, tried, strict=True)
    ]
    served = [list(attention_table(part)) for part in merged]
    layers = [layer for part in served for layer in part]
    for part, part_layers in zip(merged, served, strict=True):
        _check(model, part, part_layers)
    recorded = [layer.call is not None for layer in layers]
    route: Route = "recorded" if all(recorded) else "mixed" if any(recorded) else "eager"
    if route == "eager":
        _choose(model, "eager")
    return Layout(
        tuple(layer.info for layer in layers),
        {part.stack: call_order(part, table) for part, table in zip(merged, served, strict=True)},
        frozenset(
            layer.info.place for layer in layers if layer.call and layer.call.sink is not None
        ),
        frozenset(
            layer.info.place for layer in layers if not layer.call and is_scores(layer.weights)
        ),
        route,
    )


def is_scores(reported: Tensor) -> bool:
    """Return whether a model reports scores before the softmax as its weights.

    ProphetNet does. In a probe with padding, scores are negative where a key is masked.
    """
    return bool((reported < 0).any())


def _choose(model: Any, implementation: str) -> None:
    if model._can_set_attn_implementation():  # otherwise it warns, and does nothing
        model.set_attn_implementation(implementation)


@dataclass
class CallCollector:
    """Collects the calls of a pass, and the weights of each."""

    calls: list[Call] = field(default_factory=list)
    seen: list[Tensor] = field(default_factory=list)

    def enter(self, call: Call) -> Tap:
        self.calls.append(call)
        return _WeightsTap(self.seen)


class _WeightsTap(Tap):
    def __init__(self, seen: list[Tensor]) -> None:
        self.seen = seen

    def __call__(self, name: str, value: Tensor, dims: tuple[str, ...]) -> Tensor:
        if name == "weights":
            self.seen.append(value)
        return value


@torch.inference_mode()
def run(model: Any, reporting: bool = True) -> Iterator[ProbePass]:
    """Run the probe: two rows, of which one is padded, through each part of the model.

    Parts have the model's own weights if it is asked for them, which is `reporting`.
    """
    options = {**weight_options(), "output_attentions": reporting}
    ids = draw_ids(model, READ)
    mask = torch.ones_like(ids)
    mask[1, READ - PADDED :] = 0
    if not model.config.is_encoder_decoder:
        listening = CallCollector()
        with passing(listening):
            out = model(input_ids=ids, attention_mask=mask, **options)
        self_weights = _weights_of(out.get("attentions"))
        texts: Texts = {SELF: (TEXT, TEXT)}
        unusual = _unusual_form(out.get("attentions"))
        yield ProbePass(
            _stack(self_weights, listening),
            texts,
            out[0],
            {SELF: self_weights},
            listening.calls,
            listening.seen,
            unusual,
        )
        return
    listening = CallCollector()
    with passing(listening):
        read = model.get_encoder()(input_ids=ids, attention_mask=mask, **options)
    weights: Weights = {SELF: _weights_of(read.get("attentions"))}
    texts = {SELF: (SOURCE, SOURCE)}
    unusual = _unusual_form(read.get("attentions"))
    yield ProbePass("encoder", texts, read[0], weights, listening.calls, listening.seen, unusual)
    listening = CallCollector()
    with passing(listening):
        out = model(
            **decoder_inputs(model, ids, read),
            attention_mask=mask,
            decoder_input_ids=draw_ids(model, WRITTEN),
            **options,
        )
    reported_by_kind: Mapping[Kind, Any] = {
        SELF: out.get("decoder_attentions"),
        CROSS: out.get("cross_attentions"),
    }
    weights = {kind: _weights_of(reported) for kind, reported in reported_by_kind.items()}
    texts = {SELF: (TARGET, TARGET), CROSS: (TARGET, SOURCE)}
    unusual = next(filter(None, map(_unusual_form, reported_by_kind.values())), "")
    yield ProbePass("decoder", texts, out[0], weights, listening.calls, listening.seen, unusual)


def weight_options() -> dict[str, bool]:
    """Return the options of a forward pass that returns its weights."""
    return {"output_attentions": True, "return_dict": True}


def decoder_inputs(model: Any, ids: Tensor, outputs: Any) -> dict[str, Any]:
    """Return the arguments of a decoder's pass after its encoder."""
    arguments = {"encoder_outputs": outputs}
    # FSMT makes its causal mask only if it gets the source as well.
    return {**arguments, "input_ids": ids} if model.config.model_type == "fsmt" else arguments


def _has_form(reported: object) -> bool:
    """Return whether something has an axis each for the batch, heads, queries and keys."""
    return isinstance(reported, Tensor) and reported.dim() == 4


def _weights_of(reported: Iterable[Any] | None) -> list[Tensor]:
    """Return what a pass reports as weights, as far as it has the form of weights."""
    return [tensor for tensor in reported or () if _has_form(tensor)]


def _unusual_form(reported: Iterable[Any] | None) -> str:
    """Describe the first thing that a pass reports as weights and that has another form."""
    unusual = (value for value in reported or () if value is not None and not _has_form(value))
    return next(map(shape_of, unusual), "")


def _check(model: Any, part: ProbePass, layers: Sequence[ProbedAttention]) -> None:
    """Raise `RefusalError` if an attention of a part is unknown, or its weights are no weights."""
    for _ in part.weights.keys() - {layer.info.kind for layer in layers}:
        raise own_attention(model, part.other)
    banded = getattr(model.config, "attention_window", None) is not None
    for layer in layers:
        rows, keys = (WRITTEN if text == TARGET else READ for text in layer.info.over.values())
        band = banded and layer.call is None and part.stack == "encoder"
        # ProphetNet's rows are followed by those of the streams that predict further tokens.
        _, _, queries, width = layer.weights.shape
        if queries % rows or (width != keys and not band):
            raise own_attention(model, shape_of(layer.weights))


def draw_ids(model: Any, length: int) -> Tensor:
    """Return two rows of ordinary ids (2, length), without that of padding."""
    size = vocabulary(model)
    pad = getattr(model.config.get_text_config(), "pad_token_id", None)
    drawn = torch.randint(size // 2, size, (2, length), generator=torch.Generator().manual_seed(0))
    ids = drawn if pad is None else torch.where(drawn == pad, (drawn + 1) % size, drawn)
    return ids.to(model.device)


def _stack(weights: Sequence[Tensor], listening: CallCollector) -> str:
    """Return "decoder" if no query of the only stack sees a later token, else "encoder"."""
    recorded = weights or listening.seen
    return (
        "decoder"
        if recorded and all(is_causal(layer_weights[0, 0] > 0) for layer_weights in recorded)
        else "encoder"
    )


def _same_results(
    plain: Sequence[ProbePass], eager: Sequence[ProbePass], dtype: torch.dtype
) -> bool:
    """Return whether a model computes the same when it reports its weights."""
    return all(
        agree(first.output[0], second.output[0], dtype)
        and agree(first.output[1, :WRITTEN], second.output[1, :WRITTEN], dtype)
        for first, second in zip(plain, eager, strict=True)
    )


def agree(first: Tensor, second: Tensor, dtype: torch.dtype) -> bool:
    """Return whether two results of a model in a precision differ by no more than rounding."""
    least = max(TOLERANCE, ROUNDINGS * torch.finfo(dtype).eps)
    size = max(1.0, float(first.abs().max()))
    return first.shape == second.shape and bool(((first - second).abs() <= least * size).all())


def _equal(eager: Sequence[ProbePass], recorded: Sequence[ProbePass]) -> bool:
    """Return whether the outputs of both runs agree, except at padding."""
    return all(
        torch.allclose(first.output[0], second.output[0], atol=CLOSE, rtol=CLOSE)
        and torch.allclose(
            first.output[1, :WRITTEN], second.output[1, :WRITTEN], atol=CLOSE, rtol=CLOSE
        )
        for first, second in zip(eager, recorded, strict=True)
    )
