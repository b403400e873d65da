"""Dropout that draws a byte an entry: the share it drops, the mean it keeps, its seed."""

import pytest
import torch

from model.dropout import Dropout, keep


@pytest.mark.parametrize("p", [0.1, 0.25, 0.5])
def test_the_share_is_p_to_a_256th(p: float) -> None:
    torch.manual_seed(1)
    assert keep(torch.Size([999, 1001]), p).double().mean() == pytest.approx(
        1 - round(p * 256) / 256, abs=2e-3
    )


def test_the_mean_and_the_gradient_go_through_what_is_kept() -> None:
    torch.manual_seed(1)
    x = torch.ones(1000, 333, requires_grad=True)
    found = Dropout(0.1)(x)
    assert found.mean().item() == pytest.approx(1, abs=2e-3)
    found.sum().backward()
    assert x.grad is not None
    assert torch.equal(x.grad, found.detach())


def test_a_seed_decides_and_shapes_of_any_size_are_covered() -> None:
    dropout = Dropout(0.5)
    for shape in [(1,), (7, 1), (3, 5, 9)]:
        torch.manual_seed(3)
        one = dropout(torch.ones(shape))
        torch.manual_seed(3)
        assert torch.equal(one, dropout(torch.ones(shape)))
        assert one.shape == shape


def test_it_rests_when_it_should() -> None:
    x = torch.randn(4, 5)
    assert torch.equal(Dropout(0.5).eval()(x), x)
    assert torch.equal(Dropout(0.0)(x), x)
