"""Probes a model: which attentions it has, and how the weights of each can be recorded.

A model that does not use the attention interface of `transformers` silently never calls `attend`.
So the model is run twice on the same tokens, once with its own ("eager") attention, which returns
weights, and once with `attend`, and both are compared:

    recorded   every attention called `attend`, with the same weights and the same outputs
    eager      none did, or something differs: weights are taken from eager outputs
    mixed      some did: these are recorded, the others are taken from the outputs
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import torch
from torch import Tensor

from model.adapters.huggingface.eager import is_scores
from model.adapters.huggingface.recording import IMPLEMENTATION, Call, passing
from model.adapters.huggingface.table import (
    CLOSE,
    PADDED,
    READ,
    WRITTEN,
    Part,
    Texts,
    Weights,
    is_causal,
    order,
    table,
)
from model.trace.attentions import CROSS, SELF, AttentionInfo
from model.trace.tensor_tap import SOURCE, TARGET, Tap

TEXT = "text"  # the only text of a model that reads one

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

    Raises `ValueError` for a model whose attention cannot be recorded.
    """
    _choose(model, "eager")
    eager = list(run(model))
    _choose(model, IMPLEMENTATION)
    try:
        found = list(run(model))
    except Exception:  # a mask that its own attention cannot read
        found = []
    if not found or not _equal(eager, found):
        found = [replace(one, calls=(), seen=()) for one in eager]
    merged = [
        replace(own, calls=new.calls, seen=new.seen) for own, new in zip(eager, found, strict=True)
    ]
    served = [list(table(part)) for part in merged]
    layers = [layer for part in served for layer in part]
    if not layers:
        raise ValueError(f"the attention of {type(model).__name__} cannot be recorded")
    recorded = [layer.call is not None for layer in layers]
    route: Route = "recorded" if all(recorded) else "mixed" if any(recorded) else "eager"
    if route == "eager":
        _choose(model, "eager")
    return Layout(
        tuple(layer.info for layer in layers),
        {part.stack: order(part, own) for part, own in zip(merged, served, strict=True)},
        frozenset(one.info.place for one in layers if one.call and one.call.sink is not None),
        frozenset(one.info.place for one in layers if not one.call and is_scores(one.weights)),
        route,
    )


def _choose(model: Any, implementation: str) -> None:
    if model._can_set_attn_implementation():  # otherwise it warns, and does nothing
        model.set_attn_implementation(implementation)


@dataclass
class Listening:
    """Collects the calls of a pass, and the weights of each."""

    calls: list[Call] = field(default_factory=list)
    seen: list[Tensor] = field(default_factory=list)

    def enter(self, call: Call) -> Tap:
        self.calls.append(call)
        return _Ear(self.seen)


class _Ear(Tap):
    def __init__(self, seen: list[Tensor]) -> None:
        self.seen = seen

    def __call__(self, name: str, value: Tensor, dims: tuple[str, ...]) -> Tensor:
        if name == "weights":
            self.seen.append(value)
        return value


@torch.inference_mode()
def run(model: Any) -> Iterator[Part]:
    """Run the probe: two rows, of which one is padded, through each part of the model."""
    ids = _ids(model, READ)
    mask = torch.ones_like(ids)
    mask[1, READ - PADDED :] = 0
    if not model.config.is_encoder_decoder:
        heard = Listening()
        with passing(heard):
            out = model(input_ids=ids, attention_mask=mask, **attentive())
        own = _own(out.get("attentions"))
        texts: Texts = {SELF: (TEXT, TEXT)}
        yield Part(_stack(own, heard), texts, out[0], {SELF: own}, heard.calls, heard.seen)
        return
    heard = Listening()
    with passing(heard):
        read = model.get_encoder()(input_ids=ids, attention_mask=mask, **attentive())
    weights: Weights = {SELF: _own(read.get("attentions"))}
    yield Part("encoder", {SELF: (SOURCE, SOURCE)}, read[0], weights, heard.calls, heard.seen)
    heard = Listening()
    with passing(heard):
        out = model(
            **encoded(model, ids, read),
            attention_mask=mask,
            decoder_input_ids=_ids(model, WRITTEN),
            **attentive(),
        )
    weights = {
        SELF: _own(out.get("decoder_attentions")),
        CROSS: _own(out.get("cross_attentions")),
    }
    texts = {SELF: (TARGET, TARGET), CROSS: (TARGET, SOURCE)}
    yield Part("decoder", texts, out[0], weights, heard.calls, heard.seen)


def attentive() -> dict[str, bool]:
    """Return the options of a forward pass that returns its weights."""
    return {"output_attentions": True, "return_dict": True}


def encoded(model: Any, ids: Tensor, outputs: Any) -> dict[str, Any]:
    """Return the arguments of a decoder's pass after its encoder."""
    given = {"encoder_outputs": outputs}
    # FSMT makes its causal mask only if it gets the source as well.
    return {**given, "input_ids": ids} if model.config.model_type == "fsmt" else given


def _own(found: Sequence[Tensor | None] | None) -> list[Tensor]:
    return [one for one in found or () if one is not None]


def _ids(model: Any, length: int) -> Tensor:
    """Return two rows of ordinary ids (2, length), without that of padding."""
    config = model.config.get_text_config()
    most = config.vocab_size
    pad = config.pad_token_id
    drawn = torch.randint(most // 2, most, (2, length), generator=torch.Generator().manual_seed(0))
    ids = drawn if pad is None else torch.where(drawn == pad, (drawn + 1) % most, drawn)
    return ids.to(model.device)


def _stack(weights: Sequence[Tensor], heard: Listening) -> str:
    """Return "decoder" if no query of the only stack sees a later token, else "encoder"."""
    seen = weights or heard.seen
    return "decoder" if seen and all(is_causal(one[0, 0] > 0) for one in seen) else "encoder"


def _equal(eager: Sequence[Part], found: Sequence[Part]) -> bool:
    """Return whether the outputs of both runs agree, except at padding."""
    return all(
        torch.allclose(one.output[0], other.output[0], atol=CLOSE, rtol=CLOSE)
        and torch.allclose(
            one.output[1, :WRITTEN], other.output[1, :WRITTEN], atol=CLOSE, rtol=CLOSE
        )
        for one, other in zip(eager, found, strict=True)
    )
