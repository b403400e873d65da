"""Attention that also returns the log-sum-exp of each row, from which weights follow by slice.

    mix = softmax(cap(q · k · scale) + bias) · v          logsumexp_i = log Σ_j exp(score_ij)

torch's flash kernels compute both without the N × M weights. Masks other than causal, and biases,
are passed to them in blocks of rows; values of a different width are padded with zeros; a sink is
applied to the result. Soft-capped scores are computed explicitly, in blocks of rows.

Shapes: H heads, G heads of keys and values (H is a multiple), N queries, M keys, d channels.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from model.cancellation import go_on
from model.long.bias import Bias
from model.long.rule import BLOCK, Rule

ALIGNED = 8  # on GPUs, an additive mask must be a slice of a tensor whose width is a multiple of 8


@dataclass(frozen=True, eq=False)
class Scored:
    """How to compute the scores of an attention from q · k."""

    rule: Rule
    scale: float
    cap: float | None = None  # scores are cap · tanh(q · k · scale / cap)
    bias: Bias | None = None  # added after the cap
    sink: Tensor | None = None  # (H,), a score in each row's sum that belongs to no key


def attention(q: Tensor, k: Tensor, v: Tensor, scored: Scored) -> tuple[Tensor, Tensor]:
    """Return mix (H, N, d_v) and the log-sum-exp (H, N).

    q (H, N, d), k (G, M, d), v (G, M, d_v). For a row that may not attend to any key, both are 0.
    """
    width = max(q.shape[-1], v.shape[-1])
    mix, sums = _unsunk(_widened(q, width), _widened(k, width), _widened(v, width), scored)
    mix = mix[..., : v.shape[-1]]
    if scored.sink is None:
        return mix, sums
    with_sink = torch.logaddexp(sums, scored.sink.float()[:, None])
    return mix * (sums - with_sink).exp()[..., None], with_sink


def _widened(x: Tensor, width: int) -> Tensor:
    """Return x with zeros as further channels, which change neither products nor the mix."""
    return x if x.shape[-1] == width else F.pad(x, (0, width - x.shape[-1]))


def _unsunk(q: Tensor, k: Tensor, v: Tensor, scored: Scored) -> tuple[Tensor, Tensor]:
    """Return mix (H, N, d) and log-sum-exp (H, N) without the sink: at once, or in blocks."""
    rule, rows = scored.rule, slice(0, q.shape[1])
    if scored.cap is None and scored.bias is None and (rule.open or rule.causal):
        return _fused(q, k, v, scored, rows, slice(0, k.shape[1]), causal=not rule.open)
    some = _explicit if scored.cap is not None else _fused
    mix, sums = torch.zeros_like(q), q.new_zeros(q.shape[:2], dtype=torch.float32)
    for start in range(0, rows.stop, BLOCK):
        go_on()
        block = slice(start, min(start + BLOCK, rows.stop))
        keys = rule.band(block)
        if keys.start < keys.stop:
            found = some(q[:, block], k[:, keys], v[:, keys], scored, block, keys)
            mix[:, block], sums[:, block] = found
    return mix, sums


def _fused(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    scored: Scored,
    rows: slice,
    keys: slice,
    *,
    causal: bool = False,
) -> tuple[Tensor, Tensor]:
    """Run torch's kernel for some rows."""
    added = None if causal else _added(scored, rows, keys, q)
    one = [each[None] for each in (q, k, v)]
    if q.device.type == "cpu":
        mix, sums = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(
            *one, is_causal=causal, attn_mask=added, scale=scored.scale
        )
        return mix[0], sums[0]
    heads = q.shape[0] // k.shape[0]
    one[1:] = [each.repeat_interleave(heads, dim=1) for each in one[1:]]
    if added is not None:
        added = _aligned(added.expand(1, q.shape[0], -1, -1))
    mix, sums, *_ = torch.ops.aten._scaled_dot_product_efficient_attention(
        *one, added, compute_log_sumexp=True, is_causal=causal, scale=scored.scale
    )
    return mix[0], sums[0, :, : q.shape[1]]


def _aligned(added: Tensor) -> Tensor:
    wide = F.pad(added, (0, -added.shape[-1] % ALIGNED))
    return wide[..., : added.shape[-1]]


def _added(scored: Scored, rows: slice, keys: slice, like: Tensor) -> Tensor | None:
    """Return the mask and the bias as one additive mask (1, H or 1, rows, keys)."""
    mask = scored.rule.mask(rows, keys)
    if scored.bias is not None:
        bias = scored.bias(slice(None), rows, keys).to(like.dtype)[None]
        return bias if mask is None else bias.masked_fill(~mask, -torch.inf)
    if mask is None:
        return None
    return torch.zeros_like(mask, dtype=like.dtype).masked_fill_(~mask, -torch.inf)[None, None]


def _explicit(
    q: Tensor, k: Tensor, v: Tensor, scored: Scored, rows: slice, keys: slice
) -> tuple[Tensor, Tensor]:
    """Compute some rows step by step."""
    heads = q.shape[0] // k.shape[0]
    k, v = k.repeat_interleave(heads, dim=0), v.repeat_interleave(heads, dim=0)
    scores = capped(q @ k.mT * scored.scale, scored.cap)
    if (added := _added(scored, rows, keys, q)) is not None:
        scores = scores + added[0]
    sums = scores.float().logsumexp(-1)
    sums = sums.where(sums > -torch.inf, 0.0)
    return (scores - sums[..., None]).exp().to(v.dtype) @ v, sums


def capped(scores: Tensor, cap: float | None) -> Tensor:
    """Return cap · tanh(scores / cap), or the scores themselves without a cap."""
    return scores if cap is None else torch.tanh(scores / cap) * cap
