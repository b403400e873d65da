"""Describes how the attentions of this repository's Transformer compute their scores."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import torch
from torch import Tensor

from model.adapters.transformer_stream import encoder_of, norm, stream_of
from model.explain.score_terms import Scores, Side
from model.explain.stream import Norm, Stack
from model.explain.stream_terms import POSITION, Reader
from model.transformer.attention import MultiHeadAttention
from model.transformer.layers import DecoderLayer, EncoderLayer
from model.transformer.norms import AddNorm, PreNorm
from model.transformer.positions import OnQueriesAndKeys, Positions, Relative, Rotary
from model.transformer.stacks import Transformer


def scores_of(model: Transformer) -> dict[str, Scores]:
    """Return the scores of each attention by place; they follow changes of the parameters."""
    return dict(_each(encoder_of(model), stream_of(model), model))


def _each(encoder: Stack, decoder: Stack, model: Transformer) -> Iterator[tuple[str, Scores]]:
    for index, layer in enumerate(model.encoder):
        assert isinstance(layer, EncoderLayer)
        place = f"encoder.{index}.self"
        ours = encoder, (index, 0), _before(layer.self_norm)
        yield place, _scores(place, layer.self_attention, ours, ours, model.encoder_positions)
    for index, layer in enumerate(model.decoder):
        assert isinstance(layer, DecoderLayer)
        place = f"decoder.{index}.self"
        ours = decoder, (index, 0), _before(layer.self_norm)
        yield place, _scores(place, layer.self_attention, ours, ours, model.decoder_positions)
        reads = decoder, (index, 1), _before(layer.cross_norm)
        place, memory = f"decoder.{index}.cross", (encoder, None, None)
        yield place, _scores(place, layer.cross_attention, reads, memory, Positions())


Read = tuple[Stack, Reader | None, Norm | None]


def _scores(
    place: str, attention: MultiHeadAttention, query: Read, key: Read, positions: Positions
) -> Scores:
    def side(letter: str, read: Read) -> Side:
        stack, reader, before = read
        linear = getattr(attention, f"W_{letter}")
        return Side(
            stack=stack,
            reader=reader,
            letter=letter,
            matrix=lambda head: columns(linear.weight.T, head, attention.heads),
            bias=lambda head: (
                None if linear.bias is None else columns(linear.bias, head, attention.heads)
            ),
            before=before,
            position=f"{place}.{POSITION}" if isinstance(positions, OnQueriesAndKeys) else None,
            turn=partial(_turned, positions) if isinstance(positions, Rotary) else None,
        )

    return Scores(
        query=side("q", query),
        key=side("k", key),
        scale=attention.scoring.scale,
        offset=partial(_offset, positions) if isinstance(positions, Relative) else None,
    )


def columns(matrix: Tensor, head: int, heads: int) -> Tensor:
    """Return a head's columns of a matrix (…, H · d)."""
    width = matrix.shape[-1] // heads
    return matrix[..., head * width : (head + 1) * width]


def _before(add: AddNorm) -> Norm | None:
    return norm(add.norm) if isinstance(add, PreNorm) else None


def _turned(positions: Positions, terms: Tensor, position: int) -> Tensor:
    """Rotate vectors (A, d) to a position."""
    at = torch.tensor([position], device=terms.device)
    return positions.on_qk(terms[:, None, None], at)[:, 0, 0]


def _offset(positions: Relative, head: int, query: int, key: int) -> float:
    at = torch.tensor([query]), torch.tensor([key])
    return float(positions.of(*(one.to(positions.pi.device) for one in at))[head])
