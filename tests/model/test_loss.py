"""The training loss: against torch, by hand, and with two dropout masks."""

import math
from dataclasses import replace

import pytest
import torch
from torch.nn import functional as F

from model.text.tokens import Tokenizer
from model.train.data import Corpus, TokenBatch
from model.train.loss import autocast, divergence, training_loss
from model.train.pairs import both_ways
from model.transformer.config import ModelConfig
from model.transformer.cross_entropy import cross_entropy
from model.transformer.stacks import Transformer


@pytest.mark.parametrize("count", [1, 255, 256, 257, 700])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_cross_entropy_equals_torch(count: int, smoothing: float) -> None:
    torch.manual_seed(count)
    x = torch.randn(count, 16, dtype=torch.double, requires_grad=True)
    embedding = torch.randn(40, 16, dtype=torch.double, requires_grad=True)
    written = torch.randint(40, (count,))
    expected = F.cross_entropy(x @ embedding.T, written, label_smoothing=smoothing)
    wanted = torch.autograd.grad(3 * expected, [x, embedding])
    found = cross_entropy(x, embedding, written, smoothing)
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(torch.autograd.grad(3 * found, [x, embedding]), wanted)


def test_cross_entropy_of_what_was_thought_impossible_is_finite() -> None:
    x = torch.tensor([[400.0]], requires_grad=True)
    loss = cross_entropy(x, torch.tensor([[1.0], [-1.0]]), torch.tensor([1]), 0.1)
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
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: able)
    with autocast(torch.device("cpu"), precision):
        assert torch.is_autocast_enabled("cpu") is expected
        product = torch.ones(2, 2) @ torch.ones(2, 2)
    assert product.dtype == (torch.bfloat16 if expected else torch.float32)
