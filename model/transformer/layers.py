"""Encoder and decoder layers (section 3.1): sublayers wrapped in residual and layer norm.

Shapes: B batch, S source tokens, T target tokens.
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn

from model.trace.tap import FEATURE, HIDDEN, QUERY, Tap
from model.transformer.attention import MultiHeadAttention
from model.transformer.cache import LayerCache
from model.transformer.config import ModelConfig
from model.transformer.dropout import Dropout


class FeedForward(nn.Module):
    """FFN(x) = max(0, x W_1 + b_1) W_2 + b_2, at every position alike (equation 2)."""

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.W_1 = nn.Linear(d_model, d_ff)
        self.W_2 = nn.Linear(d_ff, d_model)

    def forward(self, x: Tensor, tap: Tap) -> Tensor:
        """(B, N, d_model) -> (B, N, d_model)."""
        hidden = tap("hidden", self.W_1(x).relu(), (QUERY, HIDDEN))
        return tap("output", self.W_2(hidden), (QUERY, FEATURE))


class AddNorm(nn.Module):
    """A sublayer in its residual connection and layer norm.

    Post-norm, as in sections 3.1 and 5.4:       LayerNorm(x + Dropout(Sublayer(x)))
    Pre-norm (Xiong et al. 2020, figure 1b):     x + Dropout(Sublayer(LayerNorm(x)))
    """

    def __init__(self, d_model: int, dropout: float, norm: str) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.dropout = Dropout(dropout)
        self.first = norm == "pre"

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor], tap: Tap) -> Tensor:
        """`x` (B, N, d_model) -> (B, N, d_model)."""
        if self.first:
            output = sublayer(tap("norm", self.norm(x), (QUERY, FEATURE)))
            return tap("residual", x + self.dropout(output), (QUERY, FEATURE))
        residual = tap("residual", x + self.dropout(sublayer(x)), (QUERY, FEATURE))
        return tap("norm", self.norm(residual), (QUERY, FEATURE))


def attention_of(config: ModelConfig) -> MultiHeadAttention:
    """A multi-head attention of the size and variant that the config names."""
    return MultiHeadAttention(config.d_model, config.heads, config.attention_dropout, config.kernel)


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.self_attention = attention_of(config)
        self.self_norm = AddNorm(config.d_model, config.dropout, config.norm)
        self.ffn = FeedForward(config.d_model, config.d_ff)
        self.ffn_norm = AddNorm(config.d_model, config.dropout, config.norm)

    def forward(self, x: Tensor, mask: Tensor, tap: Tap) -> Tensor:
        """`x` (B, S, d_model), `mask` (B, S, S) -> (B, S, d_model)."""
        here = tap.at("self")
        x = self.self_norm(x, lambda x: self.self_attention(x, x, mask, here), here)
        ffn = tap.at("ffn")
        return self.ffn_norm(x, lambda x: self.ffn(x, ffn), ffn)  # type: ignore[no-any-return]


class DecoderLayer(nn.Module):
    """Masked self-attention, attention over the encoder's output, then feed-forward."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.self_attention = attention_of(config)
        self.self_norm = AddNorm(config.d_model, config.dropout, config.norm)
        self.cross_attention = attention_of(config)
        self.cross_norm = AddNorm(config.d_model, config.dropout, config.norm)
        self.ffn = FeedForward(config.d_model, config.d_ff)
        self.ffn_norm = AddNorm(config.d_model, config.dropout, config.norm)

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        self_mask: Tensor,
        cross_mask: Tensor,
        tap: Tap,
        cache: LayerCache | None = None,
    ) -> Tensor:
        """`x` (B, T, d_model), `memory` (B, S, d_model) -> (B, T, d_model).

        `self_mask` is (B, T, T) and `cross_mask` (B, T, S); with a cache, `x` is only the newest
        tokens and the self mask's columns are all tokens so far.
        """
        here, cross, ffn = tap.at("self"), tap.at("cross", key="source"), tap.at("ffn")
        grown = cache.grow if cache else None
        once = cache.once if cache else None
        x = self.self_norm(x, lambda x: self.self_attention(x, x, self_mask, here, grown), here)
        x = self.cross_norm(
            x, lambda x: self.cross_attention(x, memory, cross_mask, cross, once), cross
        )
        return self.ffn_norm(x, lambda x: self.ffn(x, ffn), ffn)  # type: ignore[no-any-return]
