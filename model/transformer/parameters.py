"""The learned matrices and vectors under the paper's names, for checking a run by hand."""

from __future__ import annotations

from collections.abc import Iterator

from torch import Tensor, nn

from model.trace.tensor_tap import FEATURE, HIDDEN, IN, OUT, VOCAB, NamedTensor
from model.transformer.attention import MultiHeadAttention
from model.transformer.layers import DecoderLayer, EncoderLayer, FeedForward
from model.transformer.norms import AddNorm
from model.transformer.positions import Positions
from model.transformer.scoring import Scoring
from model.transformer.stacks import Transformer

Named = tuple[str, NamedTensor]


def parameters(model: Transformer) -> Iterator[Named]:
    """Yield every parameter, with matrices as the paper multiplies them: `x @ W + b`.

    The columns of W_q, W_k and W_v are the heads' channels, head by head: head i of h owns columns
    i · d_k to (i + 1) · d_k, and the same rows of W_o.
    """
    yield "embedding", _named((VOCAB, FEATURE), model.embedding.weight)
    for stack, layers, last in (
        ("encoder", model.encoder, model.encoder_norm),
        ("decoder", model.decoder, model.decoder_norm),
    ):
        yield from _learned(f"{stack}.positions", getattr(model, f"{stack}_positions"))
        for index, layer in enumerate(layers):
            assert isinstance(layer, EncoderLayer | DecoderLayer)
            place = f"{stack}.{index}"
            yield from _attention(f"{place}.self", layer.self_attention, layer.self_norm)
            if isinstance(layer, DecoderLayer):
                yield from _attention(f"{place}.cross", layer.cross_attention, layer.cross_norm)
            yield from _ffn(f"{place}.ffn", layer.ffn, layer.ffn_norm)
        if isinstance(last, nn.LayerNorm):
            yield from _norm(stack, last)


def _attention(place: str, attention: MultiHeadAttention, norm: AddNorm) -> Iterator[Named]:
    for name in "qkvo":
        linear = getattr(attention, f"W_{name}")
        yield f"{place}.W_{name}", _named((IN, OUT), linear.weight.T)
        if linear.bias is not None:
            yield f"{place}.b_{name}", _named((OUT,), linear.bias)
    yield from _learned(f"{place}.scoring", attention.scoring)
    yield from _norm(place, norm.norm)


def _learned(place: str, part: Positions | Scoring) -> Iterator[Named]:
    for name, dims in part.learns.items():
        yield f"{place}.{name}", _named(dims, getattr(part, name))


def _ffn(place: str, ffn: FeedForward, norm: AddNorm) -> Iterator[Named]:
    yield f"{place}.W_1", _named((FEATURE, HIDDEN), ffn.W_1.weight.T)
    yield f"{place}.b_1", _named((HIDDEN,), ffn.W_1.bias)
    yield f"{place}.W_2", _named((HIDDEN, FEATURE), ffn.W_2.weight.T)
    yield f"{place}.b_2", _named((FEATURE,), ffn.W_2.bias)
    yield from _norm(place, norm.norm)


def _norm(place: str, norm: nn.LayerNorm) -> Iterator[Named]:
    yield f"{place}.gain", _named((FEATURE,), norm.weight)
    yield f"{place}.bias", _named((FEATURE,), norm.bias)


def _named(dims: tuple[str, ...], value: Tensor) -> NamedTensor:
    return NamedTensor(dims, {}, value.detach().cpu().contiguous())
