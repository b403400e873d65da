"""Positional encodings against the formula, number by number."""

import math
from dataclasses import replace

import pytest
import torch
from torch import nn

from model.trace.tensor_tap import NULL
from model.transformer.attention import MultiHeadAttention
from model.transformer.config import ModelConfig
from model.transformer.parameters import parameters
from model.transformer.positions import (
    POSITIONS,
    Order,
    Positions,
    Relative,
    RelativeProduct,
    Rotary,
    Table,
    sinusoidal,
)
from model.transformer.scoring import SCORINGS
from model.transformer.stacks import Transformer
from tests.model.reference import copy_attention, our_stacks


def drawn(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)))


def test_position_one_of_eight_features() -> None:
    expected = [0.8415, 0.5403, 0.0998, 0.9950, 0.0100, 1.0000, 0.0010, 1.0000]
    torch.testing.assert_close(sinusoidal(2, 8)[1], torch.tensor(expected), atol=1e-4, rtol=0)


@pytest.mark.parametrize(("length", "d_model"), [(1, 2), (7, 4), (50, 6), (200, 5), (3000, 8)])
def test_every_entry(length: int, d_model: int) -> None:
    encoding = sinusoidal(length, d_model)
    assert encoding.shape == (length, d_model)
    for position in {0, 1, length // 2, length - 1} & set(range(length)):
        for feature in range(d_model):
            angle = position / 10000 ** ((feature - feature % 2) / d_model)
            expected = math.cos(angle) if feature % 2 else math.sin(angle)
            assert encoding[position, feature].item() == pytest.approx(expected, abs=1e-7)


def test_a_shift_is_a_rotation() -> None:
    """PE(pos + k) = R(k) PE(pos), with one rotation per pair of features (section 3.5)."""
    encoding = sinusoidal(40, 6).double().view(40, 3, 2)
    k = 7
    angle = k / 10000 ** (torch.arange(0, 6, 2).double() / 6)
    sin, cos = encoding[:-k].unbind(-1)
    turned = torch.stack(
        [sin * angle.cos() + cos * angle.sin(), cos * angle.cos() - sin * angle.sin()], -1
    )
    torch.testing.assert_close(encoding[k:], turned, atol=1e-6, rtol=0)


@pytest.mark.parametrize("positions", POSITIONS)
@pytest.mark.parametrize("scoring", SCORINGS)
def test_what_is_learned_has_a_name_and_named_axes(positions: str, scoring: str) -> None:
    model = Transformer(ModelConfig(50, 32, 4, 64, 2, 2, positions=positions, scoring=scoring))
    named = dict(parameters(model))
    assert sum(one.value.numel() for one in named.values()) == sum(
        one.numel() for one in model.parameters()
    )
    assert all(one.value.ndim == len(one.dims) for one in named.values())


def turned(x: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
    """Rotary positions with complex numbers: each pair of channels times e^(i·pos·θ)."""
    pairs = torch.view_as_complex(x.double().view(*x.shape[:-1], -1, 2))
    theta = 10000 ** (-torch.arange(0, x.shape[-1], 2).double() / x.shape[-1])
    turns = torch.polar(torch.ones(()).double(), at.double()[:, None] * theta)
    return torch.view_as_real(pairs * turns).flatten(-2).float()


@pytest.mark.parametrize(("length", "d_k"), [(1, 2), (2, 4), (9, 8), (64, 6), (300, 16)])
def test_rotary_equals_a_product_of_complex_numbers(length: int, d_k: int) -> None:
    part = Rotary(length, 2 * d_k, 2)
    x = torch.randn(3, 2, length, d_k, generator=torch.Generator().manual_seed(length))
    at = torch.arange(length)
    torch.testing.assert_close(part.on_qk(x, at), turned(x, at), atol=1e-5, rtol=0)
    some = at[length // 2 :]  # a step of decoding
    torch.testing.assert_close(
        part.on_qk(x[:, :, some], some), turned(x, at)[:, :, some], atol=1e-5, rtol=0
    )


def test_rotary_by_hand() -> None:
    """d_k = 4: position 1 turns the first pair by 1 and the second by 1/100 (radians)."""
    x = torch.tensor([[[[1.0, 0.0, 1.0, 0.0], [1.0, 0.0, 0.0, 1.0]]]])
    expected = [[1, 0, 1, 0], [math.cos(1), math.sin(1), -math.sin(0.01), math.cos(0.01)]]
    turned = Rotary(2, 4, 1).on_qk(x, torch.arange(2))
    torch.testing.assert_close(turned[0, 0], torch.tensor(expected), atol=1e-6, rtol=0)


def test_rotary_products_see_the_distance_alone() -> None:
    q, k = torch.randn(2, 1, 8, generator=torch.Generator().manual_seed(0))
    part = Rotary(60, 8, 1)
    at = torch.arange(50)
    same = (part.on_qk(q.expand(50, 8), at) * part.on_qk(k.expand(50, 8), at + 7)).sum(-1)
    torch.testing.assert_close(same, same[:1].expand(50), atol=1e-5, rtol=0)
    other = (part.on_qk(q.expand(50, 8), at) * part.on_qk(k.expand(50, 8), at + 8)).sum(-1)
    assert (same - other).abs().max() > 1e-2


def test_relative_adds_the_number_of_the_offset() -> None:
    part = Relative(5, 4, 2)
    with torch.no_grad():
        part.pi.copy_(torch.arange(18).view(2, 9) * 0.5)
    queries, keys = torch.tensor([2, 4]), torch.arange(5)
    biased = part.on_scores(torch.ones(3, 2, 2, 5), queries, keys)
    for head in range(2):
        for row, i in enumerate(queries.tolist()):
            for j in range(5):
                # Offsets run from −4 to 4: column 4 is offset 0.
                expected = 1 + part.pi[head, j - i + 4].item()
                assert biased[1, head, row, j].item() == expected


def test_offsets_beyond_the_largest_count_as_it() -> None:
    part = Relative(9, 4, 1, max_offset=2)
    assert part.pi.shape == (1, 5)
    with torch.no_grad():
        part.pi.copy_(torch.tensor([[-20.0, -10.0, 0.0, 10.0, 20.0]]))
    found = part.on_scores(torch.zeros(1, 1, 2, 5), torch.tensor([0, 3]), torch.arange(5))
    assert found[0, 0].tolist() == [[0, 10, 20, 20, 20], [-20, -20, -10, 0, 10]]
    assert Relative(3, 4, 1, max_offset=8).pi.shape == (1, 5)  # there are no larger offsets


def test_a_relative_product_multiplies_and_begins_as_one() -> None:
    part = RelativeProduct(3, 4, 2)
    scores, at = drawn(1, 2, 3, 3), torch.arange(3)
    assert torch.equal(part.on_scores(scores, at, at), scores)
    with torch.no_grad():
        part.pi[1] = torch.tensor([0.5, 2.0, 1.0, -1.0, 3.0])  # offsets −2 to 2
    factors = torch.tensor([[1.0, -1.0, 3.0], [2.0, 1.0, -1.0], [0.5, 2.0, 1.0]])
    found = part.on_scores(scores, at, at)
    torch.testing.assert_close(found[0, 1], scores[0, 1] * factors)
    assert torch.equal(found[0, 0], scores[0, 0])


def test_largest_offsets_are_of_relative_positions() -> None:
    assert ModelConfig(50, positions="relative", max_offset=4).max_offset == 4
    with pytest.raises(ValueError, match="positions rotary do not use max_offset"):
        ModelConfig(50, positions="rotary", max_offset=4)
    with pytest.raises(ValueError, match="max_offset must be at least 1, not 0"):
        ModelConfig(50, positions="relative", max_offset=0)


@pytest.mark.parametrize("kind", ["sinusoidal", "learned"])
@torch.no_grad()
def test_positions_of_queries_and_keys_are_not_in_values(kind: str) -> None:
    """Compare with torch's own module, which takes queries, keys and values separately."""
    part = POSITIONS[f"{kind}-on-qk"](9, 8, 2)
    ours, theirs = MultiHeadAttention(8, 2).eval(), nn.MultiheadAttention(8, 2, batch_first=True)
    copy_attention(ours, theirs)
    x, at = drawn(1, 5, 8), torch.arange(2, 7)
    assert isinstance(part, Table)
    placed = x + part.table[at]
    expected, _ = theirs.eval()(placed, placed, x)
    order = Order(part, at, at)
    found = ours(x, x, torch.ones(1, 5, 5).bool(), NULL, order)
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("norm", ["post", "pre"])
@torch.no_grad()
def test_positions_of_each_layer_are_added_to_what_it_reads(norm: str) -> None:
    """Compare with a model without positions, with the table added before each layer."""
    plain = our_stacks(norm)
    placed = Transformer(replace(plain.config, positions="sinusoidal-each-layer")).eval()
    placed.load_state_dict(plain.state_dict())
    ids, real = torch.tensor([[5, 6, 7, 8]]), torch.ones(1, 4).bool()
    table = sinusoidal(4, 32)
    x, order = plain.embedding(ids) * 32**0.5, Order(Positions(), torch.arange(4), torch.arange(4))
    for layer in plain.encoder:
        x = layer(x + table, real[:, None].expand(1, 4, 4), order, NULL)
    x = plain.encoder_norm(x, NULL)
    torch.testing.assert_close(placed.encode(ids, real), x, atol=1e-5, rtol=1e-4)


PLACES = {
    **dict.fromkeys(("sinusoidal", "learned"), "at_input"),
    **dict.fromkeys(("sinusoidal-each-layer", "learned-each-layer"), "at_layer"),
    **dict.fromkeys(("sinusoidal-on-qk", "learned-on-qk"), "before_qk"),
    **dict.fromkeys(("relative", "relative-product"), "on_scores"),
    "rotary": "on_qk",
    "none": "",
}


@pytest.mark.parametrize("name", POSITIONS)
def test_a_variant_enters_where_it_says(name: str) -> None:
    """Each method changes its argument, or returns the same tensor."""
    part = POSITIONS[name](9, 8, 2)
    for parameter in part.parameters():
        torch.nn.init.normal_(parameter)
    at = torch.arange(3, 7)
    x, scores = torch.randn(1, 4, 8), torch.randn(1, 2, 4, 4)
    heads = x.view(1, 2, 4, 4)
    changed = {
        "at_input": part.at_input(x, at, NULL) is not x,
        "at_layer": part.at_layer(x, at, NULL) is not x,
        "before_qk": part.before_qk(x, at, NULL) is not x,
        "on_qk": part.on_qk(heads, at) is not heads,
        "on_scores": part.on_scores(scores, at, at) is not scores,
    }
    assert [place for place, found in changed.items() if found] == [PLACES[name]] * bool(
        PLACES[name]
    )
    assert part.fusible != changed["on_scores"]
