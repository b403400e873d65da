"""Describes the stacks of this repository's Transformer: what adds to their streams."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypedDict

from torch import Tensor, nn

from model.explain.stream import Norm, Stack, Stream, Sublayer
from model.trace.tensor_tap import NULL, SOURCE, TARGET
from model.transformer.attention import MultiHeadAttention
from model.transformer.layers import DecoderLayer, EncoderLayer
from model.transformer.norms import End, Last
from model.transformer.stacks import Transformer


def encoder_of(model: Transformer) -> Stack:
    """Return the encoder's stack, which follows changes of the parameters."""
    return Stack(stack="encoder", text=SOURCE, **_parts(model.encoder, model.encoder_norm))


def stream_of(model: Transformer) -> Stream:
    """Return the decoder's stream, which follows changes of the parameters."""
    end = model.decoder_norm
    last = end if isinstance(end, Last) else None

    def logits(x: Tensor) -> Tensor:
        read = x if last is None else last(x, NULL)
        scores: Tensor = read @ model.embedding.weight.T
        return scores

    return Stream(
        stack="decoder",
        text=TARGET,
        matrix=model.embedding.weight,
        logits=logits,
        **_parts(model.decoder, end),
    )


class Parts(TypedDict):
    """The layers of a stack, and the norm at its end."""

    layers: tuple[tuple[Sublayer, ...], ...]
    last: Norm | None


def _parts(layers: Iterable[nn.Module], end: End) -> Parts:
    last = norm(end) if isinstance(end, Last) else None
    return {"layers": tuple(tuple(_sublayers(one, last is None)) for one in layers), "last": last}


def _sublayers(layer: nn.Module, post: bool) -> Iterator[Sublayer]:
    assert isinstance(layer, EncoderLayer | DecoderLayer)
    yield _attention("self", layer.self_attention, norm(layer.self_norm.norm) if post else None)
    if isinstance(layer, DecoderLayer):
        after = norm(layer.cross_norm.norm) if post else None
        yield _attention("cross", layer.cross_attention, after)
    yield Sublayer("ffn", layer.ffn.W_2.bias, post=norm(layer.ffn_norm.norm) if post else None)


def _attention(name: str, attention: MultiHeadAttention, post: Norm | None) -> Sublayer:
    return Sublayer(name, attention.W_o.bias, attention.W_o.weight.T, post=post)


def norm(one: nn.LayerNorm) -> Norm:
    """Return the description of a layer norm."""
    return Norm(one.weight, one.bias, one.eps)
