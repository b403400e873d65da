"""The stacks against torch's own with copied weights: every length, padded, batched, both masks."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from model.attention import MultiHeadAttention
from model.config import ModelConfig
from model.layers import AddNorm
from model.trace import NULL
from model.transformer import Transformer

CONFIG = ModelConfig(
    vocabulary=50, d_model=32, heads=4, d_ff=64, encoder_layers=2, decoder_layers=2, max_tokens=64
)


@pytest.fixture(scope="module")
def ours() -> Transformer:
    torch.manual_seed(1)
    model = Transformer(CONFIG).eval()
    for parameter in model.parameters():  # no zero bias, no unit gain: each must be copied
        nn.init.normal_(parameter, std=0.2)
    return model


@pytest.fixture(scope="module")
def theirs(ours: Any) -> tuple[nn.TransformerEncoder, nn.TransformerDecoder]:
    shape = (CONFIG.d_model, CONFIG.heads, CONFIG.d_ff, 0.0)
    encoder = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(*shape, batch_first=True),
        CONFIG.encoder_layers,
        norm=None,
        enable_nested_tensor=False,
    )
    decoder = nn.TransformerDecoder(
        nn.TransformerDecoderLayer(*shape, batch_first=True), CONFIG.decoder_layers, norm=None
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


def copy_linears(mine: list[nn.Linear], others: list[nn.Linear]) -> None:
    for one, other in zip(mine, others, strict=True):
        other.load_state_dict(one.state_dict())


def padded(batch: int, length: int, seed: int) -> tuple[Tensor, Tensor]:
    """Random ids and a mask; the rows have different lengths, the first is full."""
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(CONFIG.vocabulary, (batch, length), generator=generator)
    lengths = length - torch.arange(batch) * length // (batch + 1)
    return ids, torch.arange(length) < lengths[:, None]


@pytest.mark.parametrize("length", range(1, 65))
def test_stacks_equal_torch(
    ours: Transformer,
    theirs: tuple[nn.TransformerEncoder, nn.TransformerDecoder],
    length: int,
) -> None:
    encoder, decoder = theirs
    source, source_real = padded(3, length, length)
    target, target_real = padded(3, 65 - length, length)
    with torch.no_grad():
        memory = ours.encode(source, source_real)
        expected = encoder(ours.embed(source, NULL), src_key_padding_mask=~source_real)
        torch.testing.assert_close(memory, expected, atol=1e-5, rtol=0)
        size = target.shape[1]
        x = ours.decode(target, target_real, memory, source_real)
        y = decoder(
            ours.embed(target, NULL),
            memory,
            tgt_mask=torch.ones(size, size).triu(1).bool(),
            tgt_key_padding_mask=~target_real,
            memory_key_padding_mask=~source_real,
        )
        torch.testing.assert_close(x, y, atol=1e-5, rtol=0)


def test_embedding_is_scaled_and_tied(ours: Transformer) -> None:
    ids = torch.tensor([[3, 4]])
    expected = ours.embedding.weight[ids] * 32**0.5 + ours.positions[:2]
    torch.testing.assert_close(ours.embed(ids, NULL), expected)
    assert "embedding.weight" in dict(ours.named_parameters())
    assert sum(p.shape[0] == CONFIG.vocabulary for p in ours.parameters()) == 1


def test_kernels_agree(ours: Transformer) -> None:
    fused = Transformer(ModelConfig(**{**CONFIG.to_json(), "kernel": "fused"})).eval()
    fused.load_state_dict(ours.state_dict())
    source, source_real = padded(4, 13, 0)
    target, target_real = padded(4, 9, 1)
    with torch.no_grad():
        one = ours(source, target, source_real, target_real)
        other = fused(source, target, source_real, target_real)
    torch.testing.assert_close(one[target_real], other[target_real], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"heads": 3}, "d_model 32 is not a multiple of heads 3"),
        ({"d_model": 5, "heads": 5}, "odd"),
        ({"positions": "none"}, "unknown positions: none"),
        ({"kernel": "magic"}, "unknown kernel: magic"),
        ({"dropout": 1.0}, "dropout must be in"),
        ({"encoder_layers": -1}, "encoder_layers must be at least 0"),
        ({"depth": 3}, "unknown hyperparameters"),
    ],
)
def test_config_names_what_does_not_fit(changes: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        ModelConfig.from_json({**CONFIG.to_json(), **changes})
