"""Scorings against numbers computed one by one."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from model.transformer.scoring import SCORINGS, Additive, AdditiveBias

LENGTHS = [(1, 1), (2, 3), (5, 4), (17, 9)]


def drawn(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)))


def test_additive_by_hand() -> None:
    """Two channels: 1 · tanh(0.5 + 0.5) − 2 · tanh(1 − 0.5), then with b = (−1, 0.5)."""
    q, k = torch.tensor([[[[0.5, 1.0]]]]), torch.tensor([[[[0.5, -0.5]]]])
    part = AdditiveBias(1, 2)
    assert not part.b.any()
    with torch.no_grad():
        part.w.copy_(torch.tensor([[1.0, -2.0]]))
        assert part(q, k).item() == pytest.approx(0.76159 - 2 * 0.46212, abs=1e-4)
        part.b.copy_(torch.tensor([[-1.0, 0.5]]))
        assert part(q, k).item() == pytest.approx(0 - 2 * 0.76159, abs=1e-4)


@pytest.mark.parametrize("kind", [Additive, AdditiveBias])
@pytest.mark.parametrize(("queries", "keys"), LENGTHS)
@torch.no_grad()
def test_additive_is_each_sum_by_itself(kind: type[Additive], queries: int, keys: int) -> None:
    part = kind(3, 4)
    part.w.copy_(drawn(3, 4))
    b = np.zeros((3, 4))
    if isinstance(part, AdditiveBias):
        part.b.copy_(drawn(4, 3).T)
        b = part.b.numpy()
    q, k = drawn(2, 3, queries, 4), drawn(2, 3, keys, 4)
    expected = np.zeros((2, 3, queries, keys))
    for batch, head, i, j in np.ndindex(expected.shape):
        sums = q[batch, head, i].numpy() + k[batch, head, j].numpy() + b[head]
        expected[batch, head, i, j] = sum(
            w * math.tanh(s) for w, s in zip(part.w[head].tolist(), sums, strict=True)
        )
    np.testing.assert_allclose(part(q, k).numpy(), expected, atol=1e-5)


@pytest.mark.parametrize("name", SCORINGS)
@torch.no_grad()
def test_a_score_is_of_its_own_query_and_key(name: str) -> None:
    part = SCORINGS[name](2, 4)
    q, k = drawn(1, 2, 5, 4), drawn(1, 2, 3, 4)
    torch.testing.assert_close(part(q, k)[..., 3:4, 1:2], part(q[..., 3:4, :], k[..., 1:2, :]))
