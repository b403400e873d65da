"""Beam search: it finds the best results, in any batch, and says what became of each."""

import random
from itertools import product

import pytest
import torch

from model.decode.beam_search import Beam, BeamSearch, beam, write_beams
from model.decode.decoding_steps import FINISHED, LIVE, PRUNED, Hypothesis
from model.decode.greedy_and_sampling import Reader, sample
from model.text.tokens import Tokenizer
from model.transformer.config import ModelConfig
from model.transformer.stacks import Transformer
from tests.model.decoding import reader, sources


@torch.inference_mode()
def test_beam_of_one_is_greedy(model: Transformer, tokenizer: Tokenizer) -> None:
    *_, greedily = sample(reader(model, tokenizer, [6]), tokenizer, [10], [None])
    *_, last = beam(reader(model, tokenizer, [6]), tokenizer, 10, width=1)
    assert last.written[0].ids == greedily.written[0].ids


@torch.inference_mode()
@pytest.mark.parametrize("cached", [True, False])
@pytest.mark.parametrize("count", [1, 3, 16])
def test_a_batch_of_beams_finds_what_each_finds_alone(
    model: Transformer, tokenizer: Tokenizer, count: int, cached: bool
) -> None:
    """The batch has padded sources of other lengths, and narrower searches that end first."""
    chance = random.Random(count)
    lengths = [chance.randint(1, 30) for _ in range(count)]
    asked = [
        Beam(
            chance.randint(1, 20),
            chance.randint(1, 6),
            chance.choice((0.0, 0.6, 2.0)),
            chance.choice(((), (), (300,), (17, 301), (40, tokenizer.eos))),
        )
        for _ in lengths
    ]
    together = reader(model, tokenizer, lengths, cached)
    source, real = sources(tokenizer, lengths)
    found = write_beams(together, tokenizer, asked)
    for row, (length, one) in enumerate(zip(lengths, asked, strict=True)):
        alone = Reader(
            model, tokenizer, source[row : row + 1, :length], real[row : row + 1, :length]
        )
        width = one.width, one.length_penalty
        *_, last = beam(alone, tokenizer, one.limit, *width, one.prefix)
        assert [h.ids for h in found[row]] == [h.ids for h in last.written]
        for mine, its in zip(found[row], last.written, strict=True):
            assert mine.finished == its.finished
            assert mine.logprobs == pytest.approx(its.logprobs, abs=1e-5)
            assert mine.score(one.length_penalty) == pytest.approx(
                its.score(one.length_penalty), abs=1e-5
            )
    if count > 2:
        assert len({len(hypotheses[0].ids) for hypotheses in found}) > 1
        assert len(together.read) < sum(one.width for one in asked), "ended searches have left"


@torch.inference_mode()
def test_beams_of_a_batch_score_as_by_teacher_forcing(
    model: Transformer, tokenizer: Tokenizer
) -> None:
    lengths = [3, 11, 6]
    source, _ = sources(tokenizer, lengths)
    asked = [Beam(9, width, 0.6) for width in (2, 4, 3)]
    found = write_beams(reader(model, tokenizer, lengths), tokenizer, asked)
    for row, (length, hypotheses) in enumerate(zip(lengths, found, strict=True)):
        assert len(hypotheses) > 1
        for hypothesis in hypotheses:
            again = scored(model, source[row : row + 1, :length], hypothesis.ids, tokenizer)
            assert hypothesis.logprobs == pytest.approx(again.logprobs, abs=1e-4)


class Tiny(Tokenizer):
    """Five ordinary tokens and the controls: few enough to try every sentence."""

    def __init__(self, *also: int) -> None:
        self.pad, self.bos, self.eos = 0, 1, 2
        self.specials = frozenset({0, 1, 2})
        self.ends = frozenset({self.eos, *also})


@torch.inference_mode()
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("also", [(), (6,), (5, 7)])
def test_a_wide_beam_equals_exhaustive_search(also: tuple[int, ...], seed: int) -> None:
    torch.manual_seed(seed)
    config = ModelConfig(
        vocabulary=8, d_model=16, heads=2, d_ff=16, encoder_layers=1, decoder_layers=1
    )
    model, tokenizer, limit = Transformer(config).eval(), Tiny(*also), 4
    torch.nn.init.normal_(model.embedding.weight, std=0.6)
    source = torch.tensor([[3, 4, 5]])
    real = torch.ones_like(source, dtype=torch.bool)
    every = [
        scored(model, source, (*words, end), tokenizer)
        for length in range(limit)
        for words in product(set(range(3, 8)) - tokenizer.ends, repeat=length)
        for end in tokenizer.ends
    ]
    for alpha in (0.0, 0.6, 2.0):
        best = max(every, key=lambda hypothesis: hypothesis.score(alpha))
        search = beam(Reader(model, tokenizer, source, real), tokenizer, limit, 5**limit, alpha)
        *_, last = search
        assert last.written[0].ids == best.ids
        assert last.written[0].score(alpha) == pytest.approx(best.score(alpha), abs=1e-5)


def test_beams_go_on_even_if_all_ends_are_more_probable() -> None:
    search = BeamSearch(Beam(5, width=2), frozenset({2, 6, 7}))
    logprobs = torch.tensor([[0.01, 0.02, 0.3, 0.03, 0.02, 0.02, 0.3, 0.3]]).log()
    top = logprobs.topk(search.most)
    step = search.step(
        logprobs, [list(zip(top.values[0].tolist(), top.indices[0].tolist(), strict=True))]
    )
    assert step.branches[0].hypothesis.ids == (3,)
    assert len(search.opened) == 2


def scored(
    model: Transformer, source: torch.Tensor, ids: tuple[int, ...], tokenizer: Tokenizer
) -> Hypothesis:
    """Score ids by teacher forcing, which shares no code with the search."""
    logits = model(source, torch.tensor([[tokenizer.bos, *ids[:-1]]]))[0]
    logprobs = logits.log_softmax(-1)[range(len(ids)), ids]
    return Hypothesis(ids, tuple(logprobs.tolist()), finished=True)


@torch.inference_mode()
def test_a_step_of_beam_search_says_what_became_of_each(
    model: Transformer, tokenizer: Tokenizer
) -> None:
    """Compare with the sorted list of all extensions."""
    width, ended = 3, list[Hypothesis]()
    for step in beam(reader(model, tokenizer, [6]), tokenizer, 10, width):
        every = sorted(
            (
                (before.logprob + logprob, (*before.ids, id_), row)
                for row, before in enumerate(step.read)
                for id_, logprob in enumerate(step.logprobs[row].tolist())
            ),
            reverse=True,
        )[: 2 * width]
        going = [(ids, row) for _, ids, row in every if ids[-1] != tokenizer.eos]
        told = {
            state: [(b.hypothesis.ids, b.parent) for b in step.branches if b.state == state]
            for state in (LIVE, FINISHED, PRUNED)
        }
        assert told[LIVE] == going[:width]
        assert [one for one in told[PRUNED] if one[0][-1] != tokenizer.eos] == going[width:]
        ended += [b.hypothesis for b in step.branches if b.hypothesis.finished]
        best = sorted(ended, key=lambda one: -one.score(0.6))[:width]
        assert all(
            (b.hypothesis in best) == (b.state == FINISHED)
            for b in step.branches
            if b.hypothesis.finished
        )
        assert len(step.branches) == len(every)
        for branch in step.branches:
            row = step.logprobs[branch.parent].tolist()
            assert step.rank(branch) == 1 + sorted(row, reverse=True).index(
                row[branch.hypothesis.ids[-1]]
            )
