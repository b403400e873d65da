"""Describes this repository's decoder as a `Stream`."""

from __future__ import annotations

from torch import Tensor, nn

from model.explain.stream import Norm, Stream, Sublayer
from model.trace.tensor_tap import NULL, TARGET
from model.transformer.attention import MultiHeadAttention
from model.transformer.layers import DecoderLayer
from model.transformer.norms import Last
from model.transformer.stacks import Transformer


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
        layers=tuple(tuple(_sublayers(layer, last is None)) for layer in model.decoder),
        matrix=model.embedding.weight,
        logits=logits,
        last=None if last is None else _norm(last),
    )


def _sublayers(layer: nn.Module, post: bool) -> list[Sublayer]:
    assert isinstance(layer, DecoderLayer)
    attentions = [
        ("self", layer.self_attention, layer.self_norm),
        ("cross", layer.cross_attention, layer.cross_norm),
    ]
    return [
        *(
            _attention(name, one, _norm(after.norm) if post else None)
            for name, one, after in attentions
        ),
        Sublayer("ffn", layer.ffn.W_2.bias, post=_norm(layer.ffn_norm.norm) if post else None),
    ]


def _attention(name: str, attention: MultiHeadAttention, post: Norm | None) -> Sublayer:
    return Sublayer(name, attention.W_o.bias, attention.W_o.weight.T, post=post)


def _norm(norm: nn.LayerNorm) -> Norm:
    return Norm(norm.weight, norm.bias, norm.eps)
