"""torch's own stacks with our weights, as a reference for ours.

    python -m tests.model.reference

prints the largest difference over all lengths, which docs/model.md states.
"""

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from model.trace.tensor_tap import NULL
from model.transformer.attention import MultiHeadAttention
from model.transformer.config import ModelConfig
from model.transformer.norms import AddNorm
from model.transformer.positions import Order
from model.transformer.stacks import Transformer

CONFIG = ModelConfig(
    vocabulary=50, d_model=32, heads=4, d_ff=64, encoder_layers=2, decoder_layers=2, max_tokens=64
)
LENGTHS = range(1, 65)


def our_stacks(norm: str = "post", encoder_heads: int | None = None) -> Transformer:
    """Return stacks with only random weights, without zero biases and unit gains."""
    torch.manual_seed(1)
    model = Transformer(replace(CONFIG, norm=norm, encoder_heads=encoder_heads)).eval()
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.2)
    return model


def torch_stacks(ours: Any) -> tuple[nn.TransformerEncoder, nn.TransformerDecoder]:
    """Return `nn.TransformerEncoder` and `Decoder` with the weights of `ours`."""
    first, second = (
        (CONFIG.d_model, heads, CONFIG.d_ff, 0.0)
        for heads in (ours.config.encoder_heads or CONFIG.heads, CONFIG.heads)
    )
    pre = ours.config.norm == "pre"
    last = [copied_norm(one) if pre else None for one in (ours.encoder_norm, ours.decoder_norm)]
    encoder = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(*first, batch_first=True, norm_first=pre),
        CONFIG.encoder_layers,
        norm=last[0],
        enable_nested_tensor=False,
    )
    decoder = nn.TransformerDecoder(
        nn.TransformerDecoderLayer(*second, batch_first=True, norm_first=pre),
        CONFIG.decoder_layers,
        norm=last[1],
    )
    for mine, other in zip(ours.encoder, encoder.layers, strict=True):
        copy_attention(mine.self_attention, other.self_attn)
        copy_norms([mine.self_norm, mine.ffn_norm], [other.norm1, other.norm2])
        copy_linears([mine.ffn.W_1, mine.ffn.W_2], [other.linear1, other.linear2])
    for mine, other in zip(ours.decoder, decoder.layers, strict=True):
        copy_attention(mine.self_attention, other.self_attn)
        copy_attention(mine.cross_attention, other.multihead_attn)
        norms = [mine.self_norm, mine.cross_norm, mine.ffn_norm]
        copy_norms(norms, [other.norm1, other.norm2, other.norm3])
        copy_linears([mine.ffn.W_1, mine.ffn.W_2], [other.linear1, other.linear2])
    return encoder.eval(), decoder.eval()


@torch.no_grad()
def copy_attention(mine: MultiHeadAttention, other: nn.MultiheadAttention) -> None:
    parts = [mine.W_q, mine.W_k, mine.W_v]
    other.in_proj_weight.copy_(torch.cat([part.weight for part in parts]))
    other.in_proj_bias.copy_(torch.cat([part.bias for part in parts]))
    other.out_proj.load_state_dict(mine.W_o.state_dict())


def copy_norms(mine: list[AddNorm], others: list[nn.LayerNorm]) -> None:
    for one, other in zip(mine, others, strict=True):
        other.load_state_dict(one.norm.state_dict())


def copied_norm(one: nn.LayerNorm) -> nn.LayerNorm:
    made = nn.LayerNorm(CONFIG.d_model)
    made.load_state_dict(one.state_dict())
    return made


def copy_linears(mine: list[nn.Linear], others: list[nn.Linear]) -> None:
    for one, other in zip(mine, others, strict=True):
        other.load_state_dict(one.state_dict())


def padded(batch: int, length: int, seed: int) -> tuple[Tensor, Tensor]:
    """Return random ids and a mask; the rows have different lengths, the first is full."""
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(CONFIG.vocabulary, (batch, length), generator=generator)
    lengths = length - torch.arange(batch) * length // (batch + 1)
    return ids, torch.arange(length) < lengths[:, None]


def embedded(model: Transformer, ids: Tensor) -> Tensor:
    """Return the input of a stack, which both stacks compute alike with these positions."""
    return model.embed(ids, Order.of(model.encoder_positions, ids), NULL)


@torch.no_grad()
def differences(
    ours: Transformer, theirs: tuple[nn.TransformerEncoder, nn.TransformerDecoder], length: int
) -> tuple[float, float]:
    """Return the largest differences of the encoder's and the decoder's output, for three rows.

    The source has `length` tokens and the target 65 − `length`, each row padded differently.
    """
    encoder, decoder = theirs
    source, source_real = padded(3, length, length)
    target, target_real = padded(3, 65 - length, length)
    memory = ours.encode(source, source_real)
    expected = encoder(embedded(ours, source), src_key_padding_mask=~source_real)
    size = target.shape[1]
    x = ours.decode(target, target_real, memory, source_real)
    y = decoder(
        embedded(ours, target),
        memory,
        tgt_mask=torch.ones(size, size).triu(1).bool(),
        tgt_key_padding_mask=~target_real,
        memory_key_padding_mask=~source_real,
    )
    return (memory - expected).abs().max().item(), (x - y).abs().max().item()


if __name__ == "__main__":
    ours = our_stacks()
    found = [differences(ours, torch_stacks(ours), length) for length in LENGTHS]
    encoders, decoders = zip(*found, strict=True)
    print(f"encoder {max(encoders):.1e}, decoder {max(decoders):.1e}")
