"""The training loss: against torch, by hand, and with two dropout masks."""

import math
from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from model.text.tokens import Tokenizer
from model.train.data import Corpus, TokenBatch, both_ways
from model.train.loss import autocast, divergence, output_loss, training_loss
from model.transformer.config import ModelConfig
from model.transformer.stacks import Transformer


def with_torch(
    x: Tensor, embedding: Tensor, written: Tensor, smoothing: float, r_drop: float
) -> tuple[Tensor, Tensor]:
    """The same losses with torch's operations."""
    logits = F.linear(x, embedding)
    logits = logits.float() if logits.dtype == torch.bfloat16 else logits
    entropy = F.cross_entropy(logits, written, label_smoothing=smoothing)
    if not r_drop:
        return entropy, entropy
    return entropy + r_drop * divergence(*logits.chunk(2)), entropy


@pytest.mark.parametrize("count", [1, 127, 128, 129, 300])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("r_drop", [0.0, 0.3, 5.0])
def test_the_output_loss_equals_torch(count: int, smoothing: float, r_drop: float) -> None:
    torch.manual_seed(count)
    passes = 2 if r_drop else 1
    x = torch.randn(count * passes, 16, dtype=torch.double, requires_grad=True)
    embedding = torch.randn(40, 16, dtype=torch.double, requires_grad=True)
    written = torch.randint(40, (count,)).repeat(passes)
    expected = with_torch(x, embedding, written, smoothing, r_drop)
    wanted = torch.autograd.grad(3 * expected[0], [x, embedding])
    found = output_loss(x, embedding, written, smoothing, r_drop)
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(torch.autograd.grad(3 * found[0], [x, embedding]), wanted)


@pytest.mark.parametrize("r_drop", [0.0, 1.0])
def test_the_output_loss_in_bfloat16_is_as_near_as_torchs(r_drop: float) -> None:
    """To the same in float64: both round products, and nothing else."""
    torch.manual_seed(5)
    x, embedding = torch.randn(300, 32), torch.randn(50, 32)
    written = torch.randint(50, (150,)).repeat(2)

    def grads(loss: Callable[..., tuple[Tensor, Tensor]], dtype: torch.dtype) -> list[Tensor]:
        given = [one.to(dtype).requires_grad_() for one in (x, embedding)]
        with torch.autocast("cpu", torch.bfloat16, enabled=dtype == torch.float32):
            found, _ = loss(*given, written, 0.1, r_drop)
        return [found.detach(), *torch.autograd.grad(found, given)]

    exact = grads(with_torch, torch.double)
    torchs, own = grads(with_torch, torch.float32), grads(output_loss, torch.float32)
    for true, one, other in zip(exact, torchs, own, strict=True):
        assert other.dtype == torch.float32
        assert float((other - true).norm()) < 1.2 * float((one - true).norm()) + 1e-4
        assert float((other - true).norm()) < 0.02 * float(true.norm())


def test_the_loss_of_what_was_thought_impossible_is_finite() -> None:
    x = torch.tensor([[400.0], [-400.0]], requires_grad=True)
    table = torch.tensor([[1.0], [-1.0]])
    for r_drop, written in ((0.0, [1, 0]), (1.0, [1, 1])):
        loss, _ = output_loss(x, table, torch.tensor(written), 0.1, r_drop)
        [gradient] = torch.autograd.grad(loss, [x])
        assert loss.isfinite()
        assert gradient.isfinite().all()


def test_divergence_by_hand() -> None:
    """For rows (3/4, 1/4) and (1/4, 3/4), both KL divergences are ½ ln 3; equal rows add 0."""
    p, q = torch.tensor([[3.0, 1], [1, 1]]).log(), torch.tensor([[1.0, 3], [1, 1]]).log()
    assert divergence(p, q).item() == pytest.approx(math.log(3) / 2 / 2)
    assert divergence(p, q + 5).item() == pytest.approx(
        math.log(3) / 4
    )  # logits, not probabilities


@pytest.fixture
def batch(tokenizer: Tokenizer) -> TokenBatch:
    pairs = [("A dog.", "狗。"), ("The cat sat on the mat.", "猫坐在垫子上。")]
    [made] = Corpus(both_ways(pairs, ("en", "zh")), tokenizer, 64, torch.device("cpu")).batches(
        999, 1, 0
    )
    return made


@pytest.mark.parametrize("p", [0.0, 0.3])
def test_r_drop_draws_two_answers_together(
    p: float, batch: TokenBatch, config: ModelConfig
) -> None:
    torch.manual_seed(2)
    model = Transformer(replace(config, dropout=p)).train()
    plain, shown = (value.item() for value in training_loss(model, batch, 0.1, 0.0))
    assert shown == plain
    loss, shown = (value.item() for value in training_loss(model, batch, 0.1, 5.0))
    if p:
        assert loss - shown > 0.01
    else:  # both outputs are equal, so the loss of the doubled batch is that of the batch
        assert loss == pytest.approx(shown, abs=1e-6) == pytest.approx(plain, abs=1e-6)


@pytest.mark.parametrize(
    ("able", "precision", "expected"),
    [
        ({"avx512_bf16": True}, "auto", True),
        ({"amx_bf16": True}, "auto", True),
        ({"avx2": True}, "auto", False),
        ({"avx512_bf16": True}, "float32", False),
        ({"avx2": True}, "bf16", True),
    ],
)
def test_bfloat16_where_the_processor_has_it(
    able: dict[str, bool], precision: str, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: able, raising=False)
    with autocast(torch.device("cpu"), precision):
        assert torch.is_autocast_enabled("cpu") is expected
        product = torch.ones(2, 2) @ torch.ones(2, 2)
    assert product.dtype == (torch.bfloat16 if expected else torch.float32)
