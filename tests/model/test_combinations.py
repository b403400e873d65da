"""Models with every combination of parts: with and without a cache, batched and alone."""

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from model.adapters.encoder_decoder.encoder_decoder_adapter import load
from model.bundle.weights import save_bundle
from model.errors import InputError
from model.text.tokens import Tokenizer
from model.trace.tensor_tap import BatchTap, NameTap, Recorder
from model.transformer.attention import Cache
from model.transformer.config import ModelConfig
from model.transformer.positions import POSITIONS
from model.transformer.scoring import SCORINGS, Additive
from model.transformer.stacks import Transformer
from tests.model.reference import CONFIG, padded
from tests.model.test_positions import turned

NAMES = [
    *("target.input", "decoder.0.self.norm", "encoder.1.ffn.norm"),
    *(f"decoder.0.{kind}.{name}" for kind in ("self", "cross") for name in ("q", "k", "scores")),
]
MASKS = (("padding", "causal"), ("window-3", "causal & window-3"))


def model_of(**changes: Any) -> Transformer:
    torch.manual_seed(0)
    model = Transformer(replace(CONFIG, **changes)).eval()
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.3)
    return model


COMBINED = [  # with one of the masks, in turn
    (positions, scoring, MASKS[(i + j) % len(MASKS)])
    for (i, positions), (j, scoring) in product(enumerate(POSITIONS), enumerate(SCORINGS))
]


@pytest.mark.parametrize(("positions", "scoring", "rules"), COMBINED)
@torch.no_grad()
def test_with_a_cache_as_without_and_in_a_batch_as_alone(
    positions: str, scoring: str, rules: tuple[str, str]
) -> None:
    encoder_mask, decoder_mask = rules
    model = model_of(
        positions=positions, scoring=scoring, encoder_mask=encoder_mask, decoder_mask=decoder_mask
    )
    source, real = padded(3, 11, 0)
    target = padded(3, 9, 1)[0]
    expected = model(source, target, real)
    for row, length in enumerate(real.sum(dim=1).tolist()):
        alone = model(source[row : row + 1, :length], target[row : row + 1])
        torch.testing.assert_close(alone[0], expected[row], atol=2e-5, rtol=1e-4)
    memory = model.encode(source, real)
    cache = Cache(model.config.decoder_layers)
    steps = []
    for start, end in ((0, 1), (1, 2), (2, 5), (5, 9)):
        read = torch.ones(3, end).bool()
        x = model.decode(target[:, start:end], read, memory, real, cache=cache)
        steps.append(model.logits(x))
    torch.testing.assert_close(torch.cat(steps, dim=1), expected, atol=2e-5, rtol=1e-4)


@pytest.mark.parametrize("positions", POSITIONS)
@torch.no_grad()
def test_order_is_seen_by_all_but_none(positions: str) -> None:
    model = model_of(positions=positions)
    ids = torch.tensor([[5, 6, 7, 8, 9]])
    real = torch.ones(1, 5).bool()
    change = (model.encode(ids, real) - model.encode(ids.flip(1), real).flip(1)).abs().max()
    assert (change < 1e-5) == (positions == "none")


@pytest.mark.parametrize("positions", POSITIONS)
def test_a_position_fires_where_one_is_added(positions: str) -> None:
    names: dict[str, tuple[str, ...]] = {}
    ids = torch.tensor([[5, 6]])
    model_of(positions=positions)(ids, ids, tap=NameTap(names))
    added = positions in ("sinusoidal", "learned")
    assert ("encoder.1.position" in names) == positions.endswith("each-layer")
    assert ("decoder.0.self.position" in names) == positions.endswith("on-qk")
    assert "decoder.0.cross.position" not in names
    assert ("source.position" in names) == ("target.position" in names) == added
    assert [name for name in names if name.startswith("source")] == [
        name
        for name in ("source.embedding", "source.position", "source.input")
        if added or name != "source.position"
    ]


@torch.no_grad()
def test_recorded_q_and_k_are_as_scored() -> None:
    """Both are rotated, and scores are their products; in cross-attention neither is."""
    model = model_of(positions="rotary")
    ids = torch.tensor([[5, 6, 7, 8]])
    rows = [Recorder(NAMES, {})]
    model(ids, ids, tap=BatchTap(rows))
    seen = {name: one.value for name, one in rows[0].tensors.items()}
    layer: Any = model.decoder[0]
    for kind, at in (("self", torch.arange(4)), ("cross", torch.zeros(4))):
        attention = getattr(layer, f"{kind}_attention")
        read = {
            "q": seen["target.input" if kind == "self" else "decoder.0.self.norm"],
            "k": seen["target.input" if kind == "self" else "encoder.1.ffn.norm"],
        }
        for name, x in read.items():
            heads = attention.split(getattr(attention, f"W_{name}")(x)[None])[0]
            found = seen[f"decoder.0.{kind}.{name}"]
            torch.testing.assert_close(found, turned(heads, at), atol=1e-5, rtol=1e-5)
        products = seen[f"decoder.0.{kind}.q"] @ seen[f"decoder.0.{kind}.k"].mT / 8**0.5
        torch.testing.assert_close(seen[f"decoder.0.{kind}.scores"], products)


def test_learned_positions_begin_as_they_say() -> None:
    torch.manual_seed(0)
    relative = Transformer(replace(CONFIG, positions="relative"))
    assert not relative.get_parameter("encoder_positions.pi").any()
    learned = Transformer(replace(CONFIG, positions="learned"))
    spread = learned.get_parameter("decoder_positions.table").std().item()
    assert spread == pytest.approx(CONFIG.d_model**-0.5, rel=0.05)


@torch.no_grad()
def test_fused_computes_what_it_takes() -> None:
    source, real = padded(3, 11, 0)
    for positions, scoring in product(POSITIONS, SCORINGS):
        if SCORINGS[scoring].fusible and POSITIONS[positions].fusible:
            explicit = model_of(positions=positions, scoring=scoring)
            fused = Transformer(replace(explicit.config, kernel="fused")).eval()
            fused.load_state_dict(explicit.state_dict())
            one, other = (model(source, source, real) for model in (explicit, fused))
            torch.testing.assert_close(one, other, atol=2e-5, rtol=1e-4)
    with pytest.raises(ValueError, match="the fused kernel does not support scoring additive"):
        replace(CONFIG, kernel="fused", scoring="additive")


def test_learned_parts_are_kept_and_trained(tokenizer: Tokenizer, tmp_path: Path) -> None:
    """Bundles store them, they get gradients, and the recorded values are those used."""
    made: dict[str, Any] = {"positions": "learned", "scoring": "additive"}
    config = ModelConfig(len(tokenizer), 32, 4, 64, 1, 1, max_tokens=64, **made)
    model = Transformer(config)
    ids = torch.tensor([[5, 6, 7]])
    model(ids, ids).sum().backward()
    learned = {
        "encoder_positions.table",
        "decoder_positions.table",
        "encoder.0.self_attention.scoring.w",
        "decoder.0.self_attention.scoring.w",
        "decoder.0.cross_attention.scoring.w",
    }
    gradients = {name: value.grad for name, value in model.named_parameters()}
    for name in learned:
        gradient = gradients[name]
        assert gradient is not None, name
        assert gradient.abs().sum() > 0, name
    weights = {name: value.detach() for name, value in model.state_dict().items()}
    save_bundle(tmp_path, weights, config, tokenizer, "parts", torch.float32)
    adapter = load(tmp_path, "cpu")
    trace = adapter.trace("The cat", target="猫", select="*")
    q, k = (trace[f"encoder.0.self.{name}"].value for name in "qk")
    scored = Additive(4, 8)
    scored.w = model.encoder[0].get_parameter("self_attention.scoring.w")
    with torch.no_grad():
        expected = scored(q[None], k[None])[0]
    found = trace["encoder.0.self.scores"].value
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=0)


def test_inside_a_model_without_positions(tokenizer: Tokenizer, tmp_path: Path) -> None:
    """The parts of a logit add up to it, without a part for positions."""
    config = ModelConfig(len(tokenizer), 32, 4, 64, 1, 2, max_tokens=64, positions="rotary")
    save_bundle(tmp_path, Transformer(config).state_dict(), config, tokenizer, "turned")
    adapter = load(tmp_path, "cpu")
    with pytest.raises(InputError, match="names no tensor"):
        adapter.trace("The cat", select="inside.logit.position")
    trace = adapter.trace("The cat", target="猫坐", select="inside.logit.*")
    parts = {name.rpartition(".")[2]: value.value for name, value in trace.tensors.items()}
    assert "position" not in parts
    total = parts.pop("total")
    added = torch.cat([value.reshape(-1, len(total)) for value in parts.values()]).sum(dim=0)
    torch.testing.assert_close(added, total, atol=1e-4, rtol=1e-4)
