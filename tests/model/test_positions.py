"""Positional encodings against the formula, number by number."""

import math

import pytest
import torch

from model.transformer.positions import sinusoidal


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
