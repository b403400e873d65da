"""The stacks against torch's own with copied weights: every length, padded, batched, both masks."""

import pytest
import torch
from torch import nn

from model.transformer.config import ModelConfig
from model.transformer.positions import sinusoidal
from model.transformer.stacks import Transformer
from tests.model.reference import (
    CONFIG,
    LENGTHS,
    differences,
    embedded,
    our_stacks,
    padded,
    torch_stacks,
)

Stacks = tuple[nn.TransformerEncoder, nn.TransformerDecoder]


@pytest.fixture(scope="module")
def ours() -> Transformer:
    return our_stacks()


@pytest.fixture(scope="module")
def theirs(ours: Transformer) -> Stacks:
    return torch_stacks(ours)


@pytest.mark.parametrize("length", LENGTHS)
def test_stacks_equal_torch(ours: Transformer, theirs: Stacks, length: int) -> None:
    encoder, decoder = differences(ours, theirs, length)
    assert encoder <= 1e-5
    assert decoder <= 1e-5


@pytest.mark.parametrize("length", [1, 2, 17, 64])
def test_pre_norm_stacks_equal_torch(length: int) -> None:
    ours = our_stacks("pre")
    for difference in differences(ours, torch_stacks(ours), length):
        assert difference < 1e-5


def test_embedding_is_scaled_and_tied(ours: Transformer) -> None:
    ids = torch.tensor([[3, 4]])
    expected = ours.embedding.weight[ids] * 32**0.5 + sinusoidal(2, 32)
    torch.testing.assert_close(embedded(ours, ids), expected)
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
        ({"d_model": 5, "heads": 5}, "d_model 5 must be even"),
        ({"positions": "spiral"}, "unknown positions: spiral; known: .*'sinusoidal', 'learned'"),
        ({"kernel": "magic"}, "unknown kernel: magic; known: .*'explicit'"),
        ({"scoring": "cosine"}, "unknown scoring: cosine; known: .*'scaled-dot', 'dot'"),
        ({"norm": "middle"}, "unknown norm: middle; known: .*'post', 'pre'"),
        ({"encoder_mask": "holes"}, "unknown mask: holes; known: .*'padding', .*'window-n'"),
        ({"decoder_mask": "window-3"}, "decoder_mask window-3 shows later tokens"),
        ({"d_model": 36, "positions": "rotary"}, "d_k 9 must be even"),
        ({"kernel": "fused", "positions": "relative"}, "does not support .* relative"),
        ({"dropout": 1.0}, "dropout must be in"),
        ({"encoder_layers": -1}, "encoder_layers must be at least 0"),
        ({"depth": 3}, "unknown hyperparameters"),
    ],
)
def test_config_names_what_does_not_fit(changes: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        ModelConfig.from_json({**CONFIG.to_json(), **changes})


@pytest.mark.parametrize("positions", ["learned", "relative", "none"])
def test_without_sines_a_width_may_be_odd(positions: str) -> None:
    config = ModelConfig(50, d_model=15, heads=3, d_ff=8, positions=positions)
    ids = torch.tensor([[3, 4]])
    assert Transformer(config)(ids, ids).shape == (1, 2, 50)


def test_a_config_of_before_the_parts_is_the_same_model() -> None:
    """Old bundles were written when there was one scoring and one mask per stack."""
    old = {
        name: value
        for name, value in CONFIG.to_json().items()
        if name not in ("scoring", "encoder_mask", "decoder_mask")
    }
    assert ModelConfig.from_json(old) == CONFIG
    assert CONFIG.masks == {
        "encoder.self": "padding",
        "decoder.self": "causal",
        "decoder.cross": "padding",
    }
