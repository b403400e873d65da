"""Finds how an attention of `transformers` computes q, k and v from the residual stream.

Module names differ between architectures, so numbers are compared: those of a probe that went
into and out of an attention's modules, and the q, k and v with which it called `attend`.

    read   = norm(x), or x
    before = read W + b, in the columns of each head
    q, k   = rotation(rms_norm(before)), without what a model does not have

A matrix may hold q, k and v together (GPT-2, GPT-NeoX). A rotation acts on pairs of channels
(a, b), at position p by the angle p · θ:

    (x_a, x_b) → scale · (x_a cos pθ − x_b sin pθ, x_a sin pθ + x_b cos pθ)

Models differ in which channels form a pair (neighbours, or i and i + r/2 of the first r channels),
in θ, and in the scale (YaRN). Source: Su et al. 2021, "RoFormer", equations 15 and 34.

Shapes: N rows, H heads of d channels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from model.adapters.huggingface.recorded_attention import Call
from model.adapters.huggingface.stream_modules import ModuleCall, close, linear, norm_of
from model.explain.residual_stream import Norm

FREQUENCIES, SCALE = "inv_freq", "attention_scaling"


@dataclass(frozen=True, eq=False)
class Rotation:
    """θ of each pair (P,), the channels of each pair (P, 2), and the scale."""

    theta: Tensor
    pairs: Tensor
    scale: float

    def __call__(self, x: Tensor, first: int = 0) -> Tensor:
        """Rotate vectors (heads, N, d) of positions `first` to `first` + N − 1."""
        positions = torch.arange(first, first + x.shape[1], device=x.device)
        angles = positions[:, None] * self.theta  # (N, P)
        cos, sin = angles.cos() * self.scale, angles.sin() * self.scale
        first_channels, second_channels = self.pairs.T
        a, b = x[..., first_channels], x[..., second_channels]
        out = x.clone()
        out[..., first_channels], out[..., second_channels] = a * cos - b * sin, a * sin + b * cos
        return out


def rotations(model: nn.Module) -> Iterator[Rotation]:
    """Yield the rotations that a model may use, in both arrangements of pairs."""
    for module in model.modules():
        for name, theta in module.named_buffers(recurse=False):
            if name.endswith(FREQUENCIES) and "original" not in name:
                scale = _scale(module, name)
                yield from (Rotation(theta, pairs, scale) for pairs in _pairs(len(theta)))


def _scale(module: Any, name: str) -> float:
    """Return the scale that belongs to frequencies, such as those of one type of layer."""
    scale_name = name.removesuffix(FREQUENCIES) + SCALE
    return float(getattr(module, scale_name, getattr(module, SCALE, 1.0)) or 1.0)


def _pairs(count: int) -> tuple[Tensor, Tensor]:
    channels = torch.arange(2 * count)
    return channels.view(2, count).T, channels.view(count, 2)


Columns = dict[str, Tensor]  # by letter: the columns of a matrix, head by head


@dataclass(frozen=True, eq=False)
class Projection:
    """q, k or v: some columns of a linear module, and a norm per head."""

    linear: ModuleCall
    columns: Tensor  # (H · d,)
    norm: ModuleCall | None

    @property
    def W(self) -> Tensor:  # noqa: N802
        """The matrix (D, H · d)."""
        matrix, _ = linear(self.linear.module)
        assert matrix is not None
        return matrix[:, self.columns.to(matrix.device)]

    @property
    def b(self) -> Tensor | None:
        """The bias (H · d,)."""
        _, bias = linear(self.linear.module)
        return None if bias is None else bias[self.columns.to(bias.device)]


@dataclass(frozen=True, eq=False)
class Projections:
    """How an attention computes q, k and v. Without `before`, the matrices read x itself."""

    q: Projection
    k: Projection
    v: Projection
    rotation: Rotation | None
    before: ModuleCall | None  # the norm


def projections_of(
    call: Call,
    x: Tensor,
    memory: Tensor,
    inner_calls: Sequence[ModuleCall],
    layer: Sequence[ModuleCall],
    turns: Sequence[Rotation],
) -> Projections | None:
    """Return how q is computed from `x`, and k and v from `memory` (N, D); None if unknown.

    `inner_calls` are the calls of the attention's modules, `layer` those of its layer.
    """
    width, wider = call.q.shape[-1], call.v.shape[-1]
    sizes = call.q.shape[1], call.k.shape[1], width, wider
    sources = list(_sources(inner_calls, sizes))
    matched = _matching(call.v[0], "v", sources, inner_calls, [None])
    if matched is None:
        return None
    v, _ = matched
    fitting: list[Rotation | None] = [
        None,
        *(turn for turn in turns if 2 * len(turn.theta) <= width),
    ]
    for turn in fitting:
        q = _matching(call.q[0], "q", sources, inner_calls, [turn])
        k = _matching(call.k[0], "k", sources, inner_calls, [turn]) if q else None
        if q and k:
            return _read(Projections(q[0], k[0], v, turn, None), x, memory, layer)
    return None


def _read(
    projections: Projections, x: Tensor, memory: Tensor, layer: Sequence[ModuleCall]
) -> Projections | None:
    """Return the projections with the norm that they read, if they read these states."""
    q, k, v = (
        projection.linear.read for projection in (projections.q, projections.k, projections.v)
    )
    if memory is not x:
        if not (close(k, memory) and close(v, memory)):
            return None
    elif not (close(k, q) and close(v, q)):
        return None
    if close(q, x):
        return projections
    for call in layer:
        if close(call.read, x) and close(call.output, q) and norm_of(call) is not None:
            return Projections(
                projections.q, projections.k, projections.v, projections.rotation, call
            )
    return None


def _sources(
    inner_calls: Sequence[ModuleCall], sizes: tuple[int, int, int, int]
) -> Iterator[tuple[ModuleCall, Columns]]:
    """Yield each linear module of an attention with the columns that may hold q, k and v."""
    for call in inner_calls:
        matrix, bias = linear(call.module)
        if matrix is None or call.read.dim() != 2 or call.read.shape[-1] != len(matrix):
            continue
        product = call.read @ matrix
        if close(product if bias is None else product + bias, call.output):
            yield from ((call, columns) for columns in _layouts(call.output.shape[-1], *sizes))


def _layouts(width: int, heads: int, groups: int, d: int, d_v: int) -> Iterator[Columns]:
    """Yield how a matrix of this width may hold q (H · d), k (G · d) and v (G · d_v)."""
    sizes = {"q": heads * d, "k": groups * d, "v": groups * d_v}
    channels = torch.arange(width)
    yield {letter: channels for letter, size in sizes.items() if size == width}
    if width == sizes["k"] + sizes["v"]:
        yield _split(channels, {"k": sizes["k"], "v": sizes["v"]})
    if width == sum(sizes.values()):
        yield _split(channels, sizes)
        if d == d_v:  # one key head after the other, each with its query heads
            grouped = channels.view(groups, -1, d)
            q, k, v = grouped[:, :-2], grouped[:, -2], grouped[:, -1]
            yield {"q": q.flatten(), "k": k.flatten(), "v": v.flatten()}


def _split(channels: Tensor, sizes: Mapping[str, int]) -> Columns:
    return dict(zip(sizes, torch.split(channels, list(sizes.values())), strict=True))


def _matching(
    vectors: Tensor,
    letter: str,
    sources: Sequence[tuple[ModuleCall, Columns]],
    inner_calls: Sequence[ModuleCall],
    turns: Sequence[Rotation | None],
) -> tuple[Projection, Rotation | None] | None:
    """Return the columns that give these vectors (H, N, d), and the rotation."""
    heads, rows, channels = vectors.shape
    for call, columns in sources:
        if letter not in columns or len(call.output) != rows:
            continue
        channels_of_letter = columns[letter]
        flat = call.output[:, channels_of_letter.to(call.output.device)].view(rows, heads, channels)
        before, norm = _normed(flat.transpose(0, 1), inner_calls)
        for turn in turns:
            if close(before if turn is None else turn(before), vectors):
                return Projection(call, channels_of_letter, norm), turn
    return None


def _normed(before: Tensor, inner_calls: Sequence[ModuleCall]) -> tuple[Tensor, ModuleCall | None]:
    """Return vectors (H, N, d) after an RMSNorm of each head's channels, if there is one."""
    for call in inner_calls:
        for axes in ((0, 1), (1, 0)):  # the module reads (H, N, d) or (N, H, d)
            if call.read.dim() == 3 and close(call.read.movedim((0, 1), axes), before):
                norm = norm_of(call)
                if norm is not None and not norm.centred and norm.shift is None:
                    return call.output.movedim((0, 1), axes), call
    return before, None


def gain_of(module: nn.Module, norm: Norm) -> Tensor:
    """Return the present gain of a module that was found to be this norm: γ, or 1 + γ."""
    weight = module.weight
    assert isinstance(weight, Tensor)
    return weight if norm.gain.data_ptr() == weight.data_ptr() else 1 + weight
