"""The divergence of a layer's heads: by hand, by loops, in company, and in training."""

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor

from model.text.tokens import Tokenizer
from model.train.data import Corpus, TokenBatch, both_ways
from model.train.events import Step
from model.train.loss import AttentionWeights, entropy, head_divergence, training_loss
from model.train.plan import TrainingOptions
from model.train.run import Trainer
from model.train.run_state import Chance
from model.transformer.config import ModelConfig
from model.transformer.stacks import Transformer

PAIRS = [
    ("A dog.", "狗。"),
    ("The cat sat on the mat.", "猫坐在垫子上。"),
    ("I don't know who she is.", "我不知道她是谁。"),
]


@pytest.fixture
def corpus(tokenizer: Tokenizer) -> Corpus:
    return Corpus(both_ways(PAIRS, ("en", "zh")), tokenizer, 64, torch.device("cpu"))


@pytest.fixture
def batch(corpus: Corpus) -> TokenBatch:
    [made] = corpus.batches(999, 1, 0)
    return made


def one_hot(*keys: int, width: int) -> Tensor:
    return torch.eye(width)[list(keys)]


def rows_of(heads: Tensor) -> Iterator[float]:
    """Yield, row by row, the mean Kullback–Leibler divergence of the heads from their mean."""
    count, queries, keys = heads.shape
    for i in range(queries):
        middle = [sum(float(heads[h, i, j]) for h in range(count)) / count for j in range(keys)]
        yield (
            sum(
                float(heads[h, i, j]) * math.log(float(heads[h, i, j]) / middle[j])
                for h in range(count)
                for j in range(keys)
                if heads[h, i, j] > 0
            )
            / count
        )


def test_by_hand() -> None:
    """Four heads that attend to four keys reach ln 4; two pairs of them, ln 2; equal heads, 0."""
    real = torch.ones(1, 1, dtype=torch.bool)
    for keys, expected in (((0, 1, 2, 3), math.log(4)), ((0, 0, 1, 1), math.log(2)), ((2,) * 4, 0)):
        weights = one_hot(*keys, width=5)[None, :, None, :]
        assert head_divergence([weights], real).item() == pytest.approx(expected, abs=1e-6)
    even = torch.full((1, 4, 1, 5), 0.2)
    assert head_divergence([even], real).item() == pytest.approx(0, abs=1e-6)
    both = [one_hot(0, 1, width=5)[None, :, None, :], even]
    assert head_divergence(both, real).item() == pytest.approx(math.log(2) / 2, abs=1e-6)
    assert entropy(even).flatten().tolist() == pytest.approx([math.log(5)] * 4)


@pytest.mark.parametrize("heads", [1, 2, 5, 8])
@pytest.mark.parametrize("lengths", [[1], [2, 7], [6, 1, 3, 6]])
def test_it_is_the_mean_divergence_from_the_mean_head(heads: int, lengths: list[int]) -> None:
    """By loops over each row, without the padding that the batch adds."""
    torch.manual_seed(heads)
    size = max(lengths)
    real = torch.arange(size) < torch.tensor(lengths)[:, None]
    scores = 3 * torch.randn(2, len(lengths), heads, size, size)
    layers = scores.masked_fill(~real[:, None, None, :], -torch.inf).softmax(dim=-1)
    rows = [
        row
        for layer in layers
        for n, length in enumerate(lengths)
        for row in rows_of(layer[n, :, :length, :length])
    ]
    found = head_divergence(list(layers), real).item()
    assert found == pytest.approx(sum(rows) / len(rows), abs=1e-5)


def test_keys_without_weight_have_a_finite_gradient() -> None:
    weights = one_hot(0, 1, width=3)[None, :, None, :].clone().requires_grad_()
    [gradient] = torch.autograd.grad(
        head_divergence([weights], torch.ones(1, 1, dtype=torch.bool)), [weights]
    )
    assert gradient.isfinite().all()


@pytest.mark.parametrize("r_drop", [0.0, 1.0])
def test_it_is_subtracted_from_what_is_minimised(
    r_drop: float, batch: TokenBatch, config: ModelConfig
) -> None:
    torch.manual_seed(0)
    model = Transformer(replace(config, dropout=0.0))
    watch = AttentionWeights()
    model.encode(batch.source, batch.source_real, watch)
    apart = head_divergence(watch.found["encoder.self"], batch.source_real)
    plain, _ = training_loss(model, batch, 0.1, r_drop)
    for weight in (0.5, 2.0):
        loss, shown = training_loss(model, batch, 0.1, r_drop, None, weight)
        assert shown.item() == pytest.approx(plain.item(), abs=1e-5)
        assert (plain - loss).item() == pytest.approx(weight * apart.item(), abs=1e-5)
    assert apart.item() > 0.001


def test_a_run_with_it_has_heads_that_differ(
    tmp_path: Path, corpus: Corpus, batch: TokenBatch, config: ModelConfig
) -> None:
    found = {}
    for weight in (0.0, 1.0):
        torch.manual_seed(0)
        model = Transformer(replace(config, dropout=0.0))
        options = TrainingOptions(
            batch=999, steps=60, every=60, epochs=99, warmup=20, average=1, head_divergence=weight
        )
        chance = Chance(options.seed, corpus.device)
        trainer = Trainer(tmp_path / str(weight), model, corpus, corpus, options, chance)
        losses = [event.loss for event in trainer.events() if isinstance(event, Step)]
        assert losses[-1] < losses[0] - 1, "it still learns to translate"
        watch = AttentionWeights()
        with torch.no_grad():
            model.encode(batch.source, batch.source_real, watch)
        found[weight] = head_divergence(watch.found["encoder.self"], batch.source_real).item()
    assert found[1.0] > found[0.0] + 0.3


def test_a_negative_reward_is_an_error() -> None:
    with pytest.raises(ValueError, match="head_divergence must be at least 0, not -1"):
        TrainingOptions(head_divergence=-1)
