"""The Transformer (Vaswani et al. 2017, figure 1): an encoder, a decoder, one embedding matrix.

The only difference from the paper: positions are computed at run time rather than stored.

Shapes: B batch, S source tokens, T target tokens, V vocabulary.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from model.progress import go_on
from model.trace.record import heard
from model.trace.tensor_tap import FEATURE, NULL, QUERY, RANK, SOURCE, TARGET, VOCAB, Tap
from model.transformer import masks
from model.transformer.attention import Cache
from model.transformer.config import ModelConfig
from model.transformer.layers import DecoderLayer, EncoderLayer
from model.transformer.norms import NORMS
from model.transformer.positions import POSITIONS, Order
from model.transformer.regularization import Dropout

CANDIDATES = 10  # number of most probable next tokens in a trace


class Transformer(nn.Module):
    """Encoder–decoder with tied source, target and output embeddings (section 3.4)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocabulary, config.d_model)
        positions = POSITIONS[config.positions]
        self.encoder_positions, self.decoder_positions = (
            positions(config.max_tokens, config.d_model, heads, config.max_offset)
            for heads in config.heads_of.values()
        )
        self.encoder_mask = masks.named(config.encoder_mask)
        self.decoder_mask = masks.named(config.decoder_mask)
        self.dropout = Dropout(config.dropout)
        self.encoder = nn.ModuleList(EncoderLayer(config) for _ in range(config.encoder_layers))
        self.decoder = nn.ModuleList(DecoderLayer(config) for _ in range(config.decoder_layers))
        self.encoder_norm = NORMS[config.norm].last(config.d_model)
        self.decoder_norm = NORMS[config.norm].last(config.d_model)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialise matrices (Xavier-uniform), biases (zero) and embeddings (unit size if scaled).

        W_q, W_k and W_v are smaller by √½, as if they were one matrix (as in torch's module): at
        full size, the first steps saturate the softmax, and heads that attend to a single token get
        hardly any gradient. Positions and scorings initialise their own parameters.
        """
        for name, parameter in self.named_parameters():
            if parameter.dim() > 1 and name.endswith("weight"):
                small = name.rsplit(".", 2)[-2] in ("W_q", "W_k", "W_v")
                nn.init.xavier_uniform_(parameter, gain=0.5**0.5 if small else 1.0)
            elif name.endswith("bias"):
                nn.init.zeros_(parameter)
        nn.init.normal_(self.embedding.weight, std=self.config.d_model**-0.5)

    def embed(self, ids: Tensor, order: Order, tap: Tap) -> Tensor:
        """Embed `ids` (B, N) at the positions in `order` -> (B, N, d_model).

        Embeddings times √d_model (section 3.4) plus positional encodings (section 3.5).
        """
        scale = math.sqrt(self.config.d_model)
        embedding = tap("embedding", self.embedding(ids) * scale, (QUERY, FEATURE))
        return tap("input", self.dropout(order.at_input(embedding, tap)), (QUERY, FEATURE))

    def encode(self, source: Tensor, real: Tensor, tap: Tap = NULL) -> Tensor:
        """Encode ids `source` (B, S), `real` (B, S) true where not padding -> (B, S, d_model)."""
        tap = heard(self, tap)
        order = Order.of(self.encoder_positions, source)
        x = self.embed(source, order, tap.at("source", query=SOURCE))
        mask = masks.allowed(self.encoder_mask, real, order.queries, order.keys)
        encoder_tap = tap.at("encoder", query=SOURCE, key=SOURCE)
        for index, layer in enumerate(self.encoder):
            go_on(x)
            x = layer(x, mask, order, encoder_tap.at(str(index)))
        return self.encoder_norm(x, encoder_tap)

    def decode(
        self,
        target: Tensor,
        real: Tensor,
        memory: Tensor,
        source_real: Tensor,
        tap: Tap = NULL,
        cache: Cache | None = None,
    ) -> Tensor:
        """Decode ids `target` (B, T) after `memory` (B, S, d_model) -> (B, T, d_model).

        `real` (B, all tokens so far) is true where not padding. With a cache, `target` has only
        the tokens that have not been read yet.
        """
        tap = heard(self, tap)
        order = Order.of(self.decoder_positions, target, start=cache.length if cache else 0)
        x = self.embed(target, order, tap.at("target", query=TARGET))
        self_mask = masks.allowed(self.decoder_mask, real, order.queries, order.keys)
        cross_mask = source_real[:, None].expand(-1, target.shape[1], -1)
        decoder_tap = tap.at("decoder", query=TARGET, key=TARGET)
        for index, layer in enumerate(self.decoder):
            go_on(x)
            layer_cache = cache.layers[index] if cache else None
            x = layer(
                x, memory, self_mask, cross_mask, order, decoder_tap.at(str(index)), layer_cache
            )
        if cache:
            cache.length += target.shape[1]
        return self.decoder_norm(x, decoder_tap)

    def logits(self, x: Tensor, tap: Tap = NULL) -> Tensor:
        """Multiply by the transposed embeddings (section 3.4): (B, T, d_model) -> (B, T, V)."""
        decoder_tap = heard(self, tap).at("decoder", query=TARGET, key=TARGET)
        logits = decoder_tap("logits", x @ self.embedding.weight.T, (QUERY, VOCAB))
        if decoder_tap.wants("probabilities") or decoder_tap.wants("candidates"):
            top = logits.softmax(dim=-1).topk(min(CANDIDATES, logits.shape[-1]), dim=-1)
            decoder_tap("probabilities", top.values, (QUERY, RANK))
            decoder_tap("candidates", top.indices, (QUERY, RANK))
        return logits

    def forward(
        self,
        source: Tensor,
        target: Tensor,
        source_real: Tensor | None = None,
        target_real: Tensor | None = None,
        tap: Tap = NULL,
    ) -> Tensor:
        """Run with teacher forcing: ids (B, S) and (B, T) -> logits (B, T, V) of each next token.

        Without masks, no token is padding.
        """
        source_real = (
            torch.ones_like(source, dtype=torch.bool) if source_real is None else source_real
        )
        target_real = (
            torch.ones_like(target, dtype=torch.bool) if target_real is None else target_real
        )
        memory = self.encode(source, source_real, tap)
        return self.logits(self.decode(target, target_real, memory, source_real, tap), tap)
