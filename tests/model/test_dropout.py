"""Dropout with one byte per entry: its rate, its mean, its seed, its first step."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from model.text.tokens import Tokenizer
from model.train.data import Corpus
from model.train.loop import Trainer
from model.train.options import TrainingOptions
from model.train.pairs import both_ways
from model.train.randomness import Chance
from model.transformer.config import ModelConfig
from model.transformer.dropout import Dropout, keep
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
