"""Encoder and decoder layers (section 3.1): sublayers wrapped in residual and layer norm.

Shapes: B batch, S source tokens, T target tokens.
"""

from __future__ import annotations

from torch import Tensor, nn

from model.trace.tensor_tap import FEATURE, HIDDEN, QUERY, Tap
from model.transformer.attention import LayerCache, MultiHeadAttention
from model.transformer.config import ModelConfig
from model.transformer.norms import NORMS, AddNorm
from model.transformer.positions import Order


class FeedForward(nn.Module):
    """FFN(x) = max(0, x W_1 + b_1) W_2 + b_2, the same at every position (equation 2)."""

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.W_1 = nn.Linear(d_model, d_ff)
        self.W_2 = nn.Linear(d_ff, d_model)

    def forward(self, x: Tensor, tap: Tap) -> Tensor:
        """Apply the network at each position: (B, N, d_model) -> (B, N, d_model)."""
        hidden = tap("hidden", self.W_1(x).relu(), (QUERY, HIDDEN))
        return tap("output", self.W_2(hidden), (QUERY, FEATURE))


def attention_of(config: ModelConfig, stack: str) -> MultiHeadAttention:
    """Return a multi-head attention with the size and variant of the config."""
    return MultiHeadAttention(
        config.d_model,
        config.heads_of[stack],
        config.attention_dropout,
        config.head_dropout,
        config.kernel,
        config.scoring,
        config.bias,
    )


def norm_of(config: ModelConfig) -> AddNorm:
    """Return a residual connection and layer norm with the size and variant of the config."""
    return NORMS[config.norm](config.d_model, config.dropout)


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.self_attention = attention_of(config, "encoder")
        self.self_norm = norm_of(config)
        self.ffn = FeedForward(config.d_model, config.d_ff)
        self.ffn_norm = norm_of(config)

    def forward(self, x: Tensor, mask: Tensor, order: Order, tap: Tap) -> Tensor:
        """Run the layer: `x` (B, S, d_model), `mask` (B, S, S) -> (B, S, d_model)."""
        self_tap = tap.at("self")
        x = order.at_layer(x, tap)
        x = self.self_norm(x, lambda x: self.self_attention(x, x, mask, self_tap, order), self_tap)
        ffn = tap.at("ffn")
        return self.ffn_norm(x, lambda x: self.ffn(x, ffn), ffn)  # type: ignore[no-any-return]


class DecoderLayer(nn.Module):
    """Masked self-attention, attention over the encoder's output, then feed-forward."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.self_attention = attention_of(config, "decoder")
        self.self_norm = norm_of(config)
        self.cross_attention = attention_of(config, "decoder")
        self.cross_norm = norm_of(config)
        self.ffn = FeedForward(config.d_model, config.d_ff)
        self.ffn_norm = norm_of(config)

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        self_mask: Tensor,
        cross_mask: Tensor,
        order: Order,
        tap: Tap,
        cache: LayerCache | None = None,
    ) -> Tensor:
        """Run the layer: `x` (B, T, d_model), `memory` (B, S, d_model) -> (B, T, d_model).

        `self_mask` is (B, T, T) and `cross_mask` (B, T, S). With a cache, `x` has only the new
        tokens, and the columns of `self_mask` are all tokens so far.
        """
        here, cross, ffn = tap.at("self"), tap.at("cross", key="source"), tap.at("ffn")
        grown = cache.grow if cache else None
        once = cache.once if cache else None
        x = order.at_layer(x, tap)
        x = self.self_norm(
            x, lambda x: self.self_attention(x, x, self_mask, here, order, grown), here
        )
        x = self.cross_norm(
            x, lambda x: self.cross_attention(x, memory, cross_mask, cross, kept=once), cross
        )
        return self.ffn_norm(x, lambda x: self.ffn(x, ffn), ffn)  # type: ignore[no-any-return]
