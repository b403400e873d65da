"""Alignment supervision of two heads: the lexicon against plain loops, the loss by hand."""

import math
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from model.text.tokens import Tokenizer
from model.train.data import Corpus, TokenBatch, both_ways
from model.train.events import Step
from model.train.loss import (
    ROUNDS,
    TENSION,
    UNALIGNED,
    AttentionWeights,
    Guide,
    Lexicon,
    prior,
    training_loss,
)
from model.train.plan import TrainingOptions
from model.train.run import Trainer
from model.train.run_state import Chance
from model.transformer.config import ModelConfig
from model.transformer.stacks import Transformer

# Words occur in different combinations, so that their translations can be inferred.
PAIRS = [
    ("The cat", "猫"),
    ("A cat", "猫"),
    ("The dog ran", "狗跑"),
    ("A cat ran", "猫跑"),
    ("A dog", "狗"),
    ("the cat sat", "猫坐"),
    ("a dog sat", "狗坐"),
]


@pytest.fixture(scope="module")
def words() -> Tokenizer:
    """Return a tokenizer of whole words."""
    return Tokenizer.train([text for pair in PAIRS for text in pair] * 20, vocabulary=400)


@pytest.fixture(scope="module")
def corpus(words: Tokenizer) -> Corpus:
    return Corpus(both_ways(PAIRS, ("en", "zh")), words, 64, torch.device("cpu"))


@pytest.fixture(scope="module")
def lexicon(corpus: Corpus, words: Tokenizer) -> Lexicon:
    return Lexicon.learned(corpus, len(words))


def rows(batch: TokenBatch) -> list[tuple[list[int], list[int]]]:
    """Return the ids of each example without padding: tag and source, <bos> and target."""
    return [
        (
            batch.source[n][batch.source_real[n]].tolist(),
            [int(batch.read[n, 0]), *batch.written[n][batch.target_real[n]].tolist()],
        )
        for n in range(len(batch.source))
    ]


def shares(
    table: dict[tuple[int, int], float], given: list[int], said: list[int]
) -> list[list[float]]:
    """Compute IBM model 1 with the diagonal prior: a row for each of `said` except the first."""
    found = []
    for j in range(1, len(said)):
        near = [
            math.exp(-TENSION * abs(i / (len(given) - 1) - j / (len(said) - 1)))
            for i in range(1, len(given))
        ]
        before = [UNALIGNED, *((1 - UNALIGNED) * n / sum(near) for n in near)]
        likely = [b * table[given[i], said[j]] for i, b in enumerate(before)]
        found.append([value / sum(likely) for value in likely])
    return found


def by_loops(examples: list[tuple[list[int], list[int]]]) -> dict[tuple[int, int], float]:
    table: dict[tuple[int, int], float] = defaultdict(lambda: 1.0)
    for _ in range(ROUNDS):
        counts: dict[tuple[int, int], float] = defaultdict(float)
        totals: dict[int, float] = defaultdict(float)
        for source, target in examples:
            for given, said in ((source, target), (target, source)):
                for j, row in enumerate(shares(table, given, said), start=1):
                    for i, share in enumerate(row):
                        counts[given[i], said[j]] += share
                        totals[given[i]] += share
        table = defaultdict(float, {key: n / totals[key[0]] for key, n in counts.items()})
    return table


def test_the_lexicon_equals_plain_loops(corpus: Corpus, lexicon: Lexicon) -> None:
    examples = [row for batch in corpus.batches(999, 0, 0) for row in rows(batch)]
    expected = torch.zeros_like(lexicon.table)
    for (given, said), share in by_loops(examples).items():
        expected[given, said] = share
    torch.testing.assert_close(lexicon.table, expected, atol=1e-5, rtol=1e-4)


def test_links_are_what_both_directions_agree_on(corpus: Corpus, lexicon: Lexicon) -> None:
    table = defaultdict(float, {})
    for given, said in lexicon.table.nonzero().tolist():
        table[given, said] = float(lexicon.table[given, said])
    for batch in corpus.batches(60, 1, 0):  # a few rows each, some with padding
        links = lexicon.links(batch)
        assert links.shape == (*batch.written.shape, batch.source.shape[1])
        for n, (source, target) in enumerate(rows(batch)):
            there, back = shares(table, source, target), shares(table, target, source)
            expected = torch.zeros_like(links[n])
            for j in range(len(target) - 1):
                for i in range(1, len(source)):
                    expected[j, i] = there[j][i] * back[i - 1][j + 1]
            torch.testing.assert_close(links[n], expected, atol=1e-5, rtol=1e-4)


def test_translations_are_found(corpus: Corpus, lexicon: Lexicon, words: Tokenizer) -> None:
    one = Corpus(both_ways([("The dog ran", "狗跑")], ("en", "zh")), words, 64, corpus.device)
    [batch] = one.batches(999, 0, 0)
    for n, (source, target) in enumerate(rows(batch)):
        found = {
            frozenset(words.token(id_).text.strip() for id_ in (target[j + 1], source[i]))
            for j, i in (lexicon.links(batch)[n] > 0.3).nonzero().tolist()
        }
        assert found >= {frozenset(pair) for pair in ({"狗", "dog"}, {"跑", "ran"}, {"<eos>"})}


@pytest.mark.parametrize("length", [1, 2, 7])
def test_a_prior_adds_up_to_one(length: int) -> None:
    said = torch.ones(2, 5, dtype=torch.bool)
    given = torch.arange(9) <= torch.tensor([[length], [8]])
    found = prior(said, given)
    torch.testing.assert_close(found.sum(dim=-1), torch.ones(2, 5))
    assert not found[0, :, length + 1 :].any()


def test_the_loss_by_hand(corpus: Corpus, lexicon: Lexicon) -> None:
    guide = Guide(lexicon, layers=2, weight=0.5)
    batch = next(iter(corpus.batches(999, 0, 0)))
    shape = len(batch.source), 4, batch.written.shape[1], batch.source.shape[1]
    layers = torch.rand(2, *shape)
    watch = AttentionWeights()
    for layer, weights in enumerate(layers):
        here = watch.at("decoder").at(str(layer))
        here.at("self")("weights", weights + 1, ())
        here.at("cross")("scores", weights + 1, ())
        here.at("cross")("weights", weights, ())
    links, total, count = lexicon.links(batch), 0.0, 0
    for n, (source, target) in enumerate(rows(batch)):
        for j in range(len(target) - 1):
            count += 1
            for i in range(len(source)):
                total -= float(links[n, j, i] * layers[1, n, 0, j, i].log())
                if j:  # the first row has read <bos>, which translates nothing
                    total -= float(links[n, j - 1, i] * layers[0, n, 1, j, i].log())
    assert guide.loss(watch, batch).item() == pytest.approx(0.5 * total / count, rel=1e-4)


@pytest.mark.parametrize("r_drop", [0.0, 1.0])
def test_it_is_added_to_what_is_minimised(
    r_drop: float, corpus: Corpus, lexicon: Lexicon, words: Tokenizer, config: ModelConfig
) -> None:
    model = Transformer(replace(config, vocabulary=len(words), dropout=0.0))
    batch = next(iter(corpus.batches(999, 0, 0)))
    plain, _ = training_loss(model, batch, 0.1, r_drop)
    for weight in (1.0, 3.0):
        loss, shown = training_loss(model, batch, 0.1, r_drop, Guide(lexicon, 2, weight))
        guide = Guide(lexicon, 2)
        watch = AttentionWeights()
        model.decode(
            batch.read,
            batch.target_real,
            model.encode(batch.source, batch.source_real),
            batch.source_real,
            watch,
        )
        extra = weight * guide.loss(watch, batch)
        assert shown.item() == pytest.approx(plain.item(), abs=1e-5)
        assert (loss - plain).item() == pytest.approx(extra.item(), abs=1e-5)


def test_a_run_teaches_the_two_heads_from_its_step_on(
    tmp_path: Path, corpus: Corpus, words: Tokenizer, config: ModelConfig
) -> None:
    torch.manual_seed(0)
    model = Transformer(replace(config, vocabulary=len(words), dropout=0.0))
    options = TrainingOptions(
        batch=999, steps=60, every=60, epochs=99, warmup=20, average=1, guide=1.0, guide_from=31
    )
    guide = Guide.of(corpus, model.config, 1.0)
    losses = []

    [batch] = corpus.batches(options.batch, 0, 0)
    chance = Chance(options.seed, corpus.device)
    for event in Trainer(tmp_path, model, corpus, corpus, options, chance).events():
        if isinstance(event, Step):
            watch = AttentionWeights()
            with torch.no_grad():
                memory = model.encode(batch.source, batch.source_real)
                model.decode(batch.read, batch.target_real, memory, batch.source_real, watch)
                losses.append(guide.loss(watch, batch).item())
    assert losses[29] > 0.8 * losses[0], "not before its step"
    assert losses[-1] < 0.5 * losses[29]


def test_one_head_is_too_few(corpus: Corpus, config: ModelConfig) -> None:
    with pytest.raises(ValueError, match="2 heads, not 1"):
        Guide.of(corpus, replace(config, heads=1), 1.0)
