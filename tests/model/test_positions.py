"""Positional encodings against the formula, number by number."""

import math

import pytest
import torch

from model.trace.tensor_tap import NULL
from model.transformer.config import ModelConfig
from model.transformer.parameters import parameters
from model.transformer.positions import POSITIONS, Relative, Rotary, sinusoidal
from model.transformer.scoring import SCORINGS
from model.transformer.stacks import Transformer


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
    """PE(pos + k) = R(k) PE(pos), with one rotation a pair of features (section 3.5)."""
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


@pytest.mark.parametrize("name", POSITIONS)
def test_a_variant_enters_where_it_says(name: str) -> None:
    """Each of the three places changes what passes it, or leaves the very tensor."""
    places = {"sinusoidal": (0,), "learned": (0,), "rotary": (1,), "relative": (2,), "none": ()}
    part = POSITIONS[name](9, 8, 2)
    for parameter in part.parameters():
        torch.nn.init.normal_(parameter)
    at = torch.arange(3, 7)
    x, scores = torch.randn(1, 4, 8), torch.randn(1, 2, 4, 4)
    heads = x.view(1, 2, 4, 4)
    found = (
        part.at_input(x, at, NULL) is not x,
        part.on_qk(heads, at) is not heads,
        part.on_scores(scores, at, at) is not scores,
    )
    assert tuple(place for place in range(3) if found[place]) == places[name]
    assert part.fusible != found[2]
