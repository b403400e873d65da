"""Attention against torch's own, and against numbers computed by hand."""

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from model.trace.tensor_tap import NULL, Tap
from model.transformer.attention import KERNELS, MultiHeadAttention, masked_softmax
from model.transformer.scoring import Dot, ScaledDot

LENGTHS = [1, 2, 3, 5, 8, 9, 16, 17, 33, 64]


def drawn(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)))


class Keep(Tap):
    """Keeps all tensors, with their batch axis."""

    def __init__(self, seen: dict[str, Tensor]) -> None:
        self.seen = seen

    def __call__(self, name: str, value: Tensor, dims: tuple[str, ...]) -> Tensor:
        self.seen[name] = value
        return value


def masks(batch: int, queries: int, keys: int) -> dict[str, Tensor]:
    lengths = torch.arange(batch) % keys + 1
    padding = (torch.arange(keys) < lengths[:, None])[:, None].expand(batch, queries, keys)
    causal = torch.ones(queries, keys).tril(keys - queries).bool().expand(batch, queries, keys)
    return {
        "none": torch.ones(batch, queries, keys).bool(),
        "padding": padding,
        "causal": causal,
        "both": padding & causal,
    }


@pytest.mark.parametrize("queries", LENGTHS)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("kind", ["none", "padding", "causal", "both"])
def test_equals_torch(queries: int, kernel: str, kind: str) -> None:
    for batch, keys in ((1, queries), (3, queries), (2, queries + 5)):
        q, k, v = drawn(batch, 4, queries, 8), drawn(batch, 4, keys, 8), drawn(batch, 4, keys, 8)
        mask = masks(batch, queries, keys)[kind]
        expected = F.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None])
        torch.testing.assert_close(
            KERNELS[kernel](q, k, v, mask, NULL, ScaledDot(4, 8)), expected, atol=1e-5, rtol=0
        )


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_query_that_may_look_nowhere_mixes_nothing(kernel: str) -> None:
    q = drawn(1, 2, 3, 4)
    mask = torch.tensor([[[True, False, False], [False, False, False], [True, True, True]]])
    mix = KERNELS[kernel](q, q, q, mask, NULL, ScaledDot(2, 4))
    assert torch.equal(mix[:, :, 1], torch.zeros(1, 2, 4))
    assert mix.isfinite().all()


def test_a_fully_masked_row_is_zeros_and_has_a_gradient() -> None:
    scores = drawn(1, 1, 2, 3).requires_grad_()
    mask = torch.tensor([[[[False, False, False], [True, True, False]]]])
    weights = masked_softmax(scores, mask)
    weights.sum().backward()  # type: ignore[no-untyped-call]
    assert torch.equal(weights[0, 0, 0], torch.zeros(3))
    assert weights[0, 0, 1, 2] == 0
    assert scores.grad is not None
    assert scores.grad.isfinite().all()


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_head_by_hand(kernel: str) -> None:
    """X = [[1,0],[0,1],[1,1]] with identity projections, unscaled."""
    x = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])[None, None]
    names: dict[str, Tensor] = {}
    everything = torch.ones(1, 3, 3).bool()
    mix = KERNELS[kernel](x, x, x, everything, Keep(names), Dot(1, 2))
    expected = [[0.8446, 0.5777], [0.5777, 0.8446], [0.7881, 0.7881]]
    torch.testing.assert_close(mix[0, 0], torch.tensor(expected), atol=5e-5, rtol=0)
    if kernel == "explicit":
        weights = [[0.4223, 0.1554, 0.4223], [0.1554, 0.4223, 0.4223], [0.2119, 0.2119, 0.5761]]
        assert torch.equal(names["scores"][0, 0], torch.tensor([[1, 0, 1], [0, 1, 1], [1, 1, 2.0]]))
        torch.testing.assert_close(names["weights"][0, 0], torch.tensor(weights), atol=5e-5, rtol=0)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("length", LENGTHS)
def test_unscaled_equals_torch(length: int, kernel: str) -> None:
    q, k, v = (drawn(2, 4, length, 8) + shift for shift in (0, 0.1, 0.2))
    mask = masks(2, length, length)["both"]
    expected = F.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None], scale=1.0)
    mix = KERNELS[kernel](q, k, v, mask, NULL, Dot(4, 8))
    torch.testing.assert_close(mix, expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("heads", [1, 2, 8])
def test_multi_head_equals_torch(heads: int, bias: bool) -> None:
    ours = MultiHeadAttention(16, heads, bias=bias)
    theirs = torch.nn.MultiheadAttention(16, heads, bias=bias, batch_first=True)
    assert len([*ours.parameters()]) == (8 if bias else 4)
    with torch.no_grad():
        packed = torch.cat([ours.W_q.weight, ours.W_k.weight, ours.W_v.weight])
        theirs.in_proj_weight.copy_(packed)
        if bias:
            theirs.in_proj_bias.copy_(torch.cat([ours.W_q.bias, ours.W_k.bias, ours.W_v.bias]))
        theirs.out_proj.load_state_dict(ours.W_o.state_dict())
    for queries, keys in ((1, 1), (3, 7), (12, 5)):
        x, memory = drawn(2, queries, 16), drawn(2, keys, 16)
        mask = masks(2, queries, keys)["padding"]
        expected = theirs(x, memory, memory, key_padding_mask=~mask[:, 0], need_weights=False)[0]
        torch.testing.assert_close(ours(x, memory, mask, NULL), expected, atol=1e-5, rtol=0)
