"""Attention (section 3.2): weights of each query over the keys, and the mix of their values.

Shapes: B batch, H heads, N queries, M keys, d_k channels of a head. Masks are (B, N, M) booleans
in which true means "may attend".

With a `Cache` of keys and values, a decoding step computes only the new token.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from model.trace.tensor_tap import CHANNEL, FEATURE, HEAD, KEY, QUERY, Tap
from model.transformer.positions import NO_ORDER, Order
from model.transformer.regularization import HeadDropout
from model.transformer.scoring import SCORINGS, Scoring


def masked_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """Apply softmax over the keys that the mask allows; the others get exactly zero.

    `scores` (B, H, N, M), −∞ where an edge was cut; `mask` (B, 1, N, M). A fully masked row is all
    zeros: that query attends to nothing, so neither NaN nor a uniform row would be correct.
    """
    mask = mask & (scores > -torch.inf)
    lowest = torch.finfo(scores.dtype).min
    return scores.masked_fill(~mask, lowest).softmax(dim=-1) * mask


def explicit(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor,
    tap: Tap,
    scoring: Scoring,
    order: Order = NO_ORDER,
    dropout: float = 0.0,
) -> Tensor:
    """Compute attention with every step visible to the tap.

        Attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V      with scaled dot-product scoring

    `q` (B, H, N, d_k), `k` and `v` (B, H, M, d_k), `mask` (B, N, M); returns (B, H, N, d_k).

    Source: Vaswani et al. 2017, equation 1.
    """
    scores = tap("scores", order.on_scores(scoring(q, k)), (HEAD, QUERY, KEY))
    mask = tap("mask", mask, (QUERY, KEY))
    weights = tap("weights", masked_softmax(scores, mask[:, None]), (HEAD, QUERY, KEY))
    if dropout:
        weights = F.dropout(weights, dropout)
    return tap("mix", weights @ v, (HEAD, QUERY, CHANNEL))


def fused(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor,
    tap: Tap,
    scoring: Scoring,
    order: Order = NO_ORDER,
    dropout: float = 0.0,
) -> Tensor:
    """Compute attention by torch's fused kernel: fast, but nothing inside is recorded.

    Only for scores that are a multiple of q·k and are not changed by positions.
    """
    mix = F.scaled_dot_product_attention(
        q, k, v, attn_mask=mask[:, None], dropout_p=dropout, scale=scoring.scale
    )
    has_key = mask.any(dim=-1)[:, None, :, None]  # (B, 1, N, 1): kernels differ on empty rows
    return mix.masked_fill(~has_key, 0.0)


class Kernel(Protocol):
    """The call signature of both kernels."""

    def __call__(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        mask: Tensor,
        tap: Tap,
        scoring: Scoring,
        order: Order = NO_ORDER,
        dropout: float = 0.0,
    ) -> Tensor: ...


KERNELS: dict[str, Kernel] = {
    "explicit": explicit,
    "fused": fused,
}


class MultiHeadAttention(nn.Module):
    """h parallel attentions, each in its own d_k channels of the projections.

        MultiHead(Q, K, V) = Concat(head_1, …, head_h) W_O
        head_i = Attention(Q W_Q_i, K W_K_i, V W_V_i)

    The projections have biases unless `bias` is false: the paper leaves it open, and torch's module
    has the same choice. The bias of the keys is never trained and stays zero: with dot products it
    adds the same number to every score of a row,

        q · (k_j + b) = q · k_j + q · b,

    which the softmax over j cancels. Its gradient is zero except for rounding, and Adam, which
    divides gradients by their size, would follow the rounding errors. Additive scoring already has
    the bias of the queries in the same sum. With rotary positions or a relative product the bias
    would change weights; it is omitted there too, so that variants differ in only one part.

    Source: Vaswani et al. 2017, section 3.2.2.
    """

    def __init__(
        self,
        d_model: int,
        heads: int,
        dropout: float = 0.0,
        head_dropout: float = 0.0,
        kernel: str = "explicit",
        scoring: str = "scaled-dot",
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.heads = heads
        self.dropout = dropout
        self.head_dropout = HeadDropout(head_dropout)
        self.kernel = KERNELS[kernel]
        self.scoring = SCORINGS[scoring](heads, d_model // heads)
        self.W_q = nn.Linear(d_model, d_model, bias)
        self.W_k = nn.Linear(d_model, d_model, bias)
        if bias:
            self.W_k.bias.requires_grad_(False)
        self.W_v = nn.Linear(d_model, d_model, bias)
        self.W_o = nn.Linear(d_model, d_model, bias)

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        mask: Tensor,
        tap: Tap,
        order: Order = NO_ORDER,
        kept: Callable[[Callable[[], KeysValues]], KeysValues] | None = None,
    ) -> Tensor:
        """Attend from `x` (B, N, d_model) to `memory` (B, M, d_model); return (B, N, d_model).

        `order` gives the positions of self-attention's tokens. `kept` is a cache's function that
        chooses the keys and values (see `model.decode.greedy_and_sampling`); keys are cached as
        used in the scores.
        """
        q = order.on_qk(self.split(self.W_q(order.before_qk(x, tap))))
        q = tap("q", q, (HEAD, QUERY, CHANNEL))

        def project() -> KeysValues:
            k = order.on_qk(self.split(self.W_k(order.before_qk(memory, tap))))
            k = tap("k", k, (HEAD, KEY, CHANNEL))
            v = tap("v", self.split(self.W_v(memory)), (HEAD, KEY, CHANNEL))
            return k, v

        k, v = kept(project) if kept else project()
        dropout = self.dropout if self.training else 0.0
        mix = self.head_dropout(self.kernel(q, k, v, mask, tap, self.scoring, order, dropout))
        return tap("output", self.W_o(self.join(mix)), (QUERY, FEATURE))

    def split(self, x: Tensor) -> Tensor:
        """Split the channels into heads: (B, N, H · d_k) -> (B, H, N, d_k)."""
        batch, length, width = x.shape
        return x.view(batch, length, self.heads, width // self.heads).transpose(1, 2)

    @staticmethod
    def join(mix: Tensor) -> Tensor:
        """Concatenate the heads: (B, H, N, d_v) -> (B, N, H · d_v)."""
        return mix.transpose(1, 2).flatten(2)


KeysValues = tuple[Tensor, Tensor]  # k and v, (B, H, M, d_k) each


class LayerCache:
    """The cache of a decoder layer: its own keys grow with every token, the source's do not."""

    def __init__(self) -> None:
        self.own: KeysValues | None = None
        self.source: KeysValues | None = None

    def grow(self, project: Callable[[], KeysValues]) -> KeysValues:
        """Project the new tokens and return their keys and values after all earlier ones."""
        k, v = project()
        if self.own is not None:
            k, v = torch.cat([self.own[0], k], dim=2), torch.cat([self.own[1], v], dim=2)
        self.own = (k, v)
        return self.own

    def once(self, project: Callable[[], KeysValues]) -> KeysValues:
        """Project the encoder's output the first time and return the same result afterwards."""
        if self.source is None:
            k, v = project()
            # Contiguous by head: otherwise the matrix product of each step copies them.
            self.source = (k.contiguous(), v.contiguous())
        return self.source

    def select(self, rows: Tensor, sources: bool = True) -> None:
        """Reorder the batch: row i becomes a copy of row `rows[i]`.

        With `sources` False, each row keeps its source's keys and values.
        """
        if self.own is not None:
            self.own = (self.own[0][rows], self.own[1][rows])
        if sources and self.source is not None:
            self.source = (self.source[0][rows], self.source[1][rows])


class Cache:
    """The decoder's cache: a `LayerCache` per layer, and how many tokens have been read."""

    def __init__(self, layers: int) -> None:
        self.layers = [LayerCache() for _ in range(layers)]
        self.length = 0

    def select(self, rows: Tensor, sources: bool = True) -> None:
        """Reorder the batch (see `LayerCache.select`)."""
        for layer in self.layers:
            layer.select(rows, sources)
