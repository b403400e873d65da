"""Dropout with one byte per entry, and of whole heads: rate, mean, seed, first step."""

from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from model.text.tokens import Tokenizer
from model.trace.tensor_tap import NULL
from model.train.data import Corpus, both_ways
from model.train.plan import TrainingOptions
from model.train.run import Trainer
from model.train.run_state import Chance
from model.transformer.attention import KERNELS, MultiHeadAttention
from model.transformer.config import ModelConfig
from model.transformer.regularization import Dropout, HeadDropout, keep
from model.transformer.stacks import Transformer


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


def test_dropout_is_off_in_evaluation() -> None:
    x = torch.randn(4, 5)
    assert torch.equal(Dropout(0.5).eval()(x), x)
    assert torch.equal(Dropout(0.0)(x), x)


def test_it_may_start_late(tokenizer: Tokenizer, config: ModelConfig, tmp_path: Path) -> None:
    """A run equals one without dropout until dropout starts, and differs afterwards."""
    examples = both_ways([("A dog.", "狗。"), ("The cat sat.", "猫坐着。")], ("en", "zh"))
    corpus = Corpus(examples, tokenizer, config.max_tokens, torch.device("cpu"))

    def trained(name: str, p: float, start: int) -> list[torch.Tensor]:
        torch.manual_seed(1)
        model = Transformer(replace(config, dropout=p))
        options = TrainingOptions(
            batch=400, steps=3, every=1, average=3, dropout_from=start, patience=9
        )
        chance = Chance(options.seed, corpus.device)
        for _ in Trainer(tmp_path / name, model, corpus, corpus, options, chance).events():
            pass
        kept = sorted((tmp_path / name / "checkpoints").glob("*"))
        return [load_file(path)["embedding.weight"] for path in kept]

    never, late, after = trained("0", 0.0, 0), trained("late", 0.3, 3), trained("after", 0.3, 4)
    assert [torch.equal(*both) for both in zip(never, late, strict=True)] == [True, True, False]
    assert all(torch.equal(*both) for both in zip(never, after, strict=True))
    assert not torch.equal(trained("always", 0.3, 0)[0], never[0])


@pytest.mark.parametrize(("heads", "p"), [(2, 0.5), (3, 0.2), (4, 0.6)])
def test_heads_are_dropped_as_often_as_all_draws_listed_say(heads: int, p: float) -> None:
    """Every set of kept heads has its probability, and every head's mean factor is 1."""
    expected: dict[tuple[float, ...], float] = {}
    for kept in product((0, 1), repeat=heads):
        chance = (1 - p) ** sum(kept) * p ** (heads - sum(kept))
        kept = kept if any(kept) else (1,) * heads
        factors = tuple(round(one * heads / sum(kept), 4) for one in kept)
        expected[factors] = expected.get(factors, 0) + chance
    torch.manual_seed(1)
    found = HeadDropout(p)(torch.ones(100_000, heads, 1, 1))[:, :, 0, 0]
    rows, counts = found.unique(dim=0, return_counts=True)
    shares = {
        tuple(round(one, 4) for one in row): count / len(found)
        for row, count in zip(rows.tolist(), counts.tolist(), strict=True)
    }
    assert shares == pytest.approx(expected, abs=0.01)
    assert found.mean(dim=0).tolist() == pytest.approx([1] * heads, abs=0.02)


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_head_is_dropped_before_w_o_in_all_rows_of_a_sentence(kernel: str) -> None:
    """What training adds is a sum of whole heads with the factors of a draw, one per sentence."""
    torch.manual_seed(2)
    attention = MultiHeadAttention(32, 4, head_dropout=0.5, kernel=kernel)
    x, mask = torch.randn(6, 9, 32), torch.ones(6, 9, 9).bool()
    factors = []
    with torch.no_grad():
        attention.W_o.bias.zero_()
        found = attention(x, x, mask, NULL)
        assert torch.equal(attention.eval()(x, x, mask, NULL), attention(x, x, mask, NULL))
        alone = []
        for head in range(4):
            part = torch.zeros(32)
            part[head * 8 : head * 8 + 8] = 1
            weight = attention.W_o.weight.clone()
            attention.W_o.weight.mul_(part)
            alone.append(attention(x, x, mask, NULL))
            attention.W_o.weight.copy_(weight)
    for sentence, *parts in zip(found, *alone, strict=True):
        terms = torch.stack([part.flatten() for part in parts], dim=1)
        solved = torch.linalg.lstsq(terms, sentence.flatten()[:, None]).solution[:, 0]
        torch.testing.assert_close(terms @ solved, sentence.flatten(), atol=1e-5, rtol=0)
        kept = (solved > 0.5).sum().item()
        expected = [4 / kept if one > 0.5 else 0.0 for one in solved.tolist()]
        assert solved.tolist() == pytest.approx(expected, abs=1e-4)
        factors.append(tuple(expected))
    assert len({*factors}) > 1


def test_head_dropout_of_0_draws_nothing_and_a_single_head_stays() -> None:
    mix = torch.randn(3, 8, 5, 4)
    before = torch.get_rng_state()
    assert HeadDropout(0.0)(mix) is mix
    assert HeadDropout(0.5).eval()(mix) is mix
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(HeadDropout(0.9)(mix[:, :1]), mix[:, :1])
    with pytest.raises(ValueError, match=r"head_dropout must be in \[0, 1\), not 1"):
        ModelConfig(300, head_dropout=1)


def test_head_dropout_has_a_seed_a_gradient_and_the_precision_of_its_input() -> None:
    dropout, mix = HeadDropout(0.3), torch.ones(50, 8, 2, 4, requires_grad=True)
    torch.manual_seed(3)
    one = dropout(mix)
    torch.manual_seed(3)
    assert torch.equal(one, dropout(mix))
    one.sum().backward()
    assert mix.grad is not None
    assert torch.equal(mix.grad, one.detach())
    assert dropout(mix.bfloat16()).dtype == torch.bfloat16
