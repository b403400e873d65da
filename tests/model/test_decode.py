"""Decoding: the cache changes nothing, and the search finds the best results."""

import math
import random
from collections.abc import Callable, Iterator, Sequence
from itertools import product

import pytest
import torch

from model.decode.beam_search import Beam, beam, write_beams
from model.decode.sampling import Draw
from model.decode.search import Reader, sample
from model.decode.steps import FINISHED, LIVE, PRUNED, Hypothesis, SearchStep
from model.decode.write_batch import write
from model.text.tokens import Tokenizer
from model.transformer.config import ModelConfig
from model.transformer.stacks import Transformer


@pytest.fixture(scope="module")
def model(config: ModelConfig) -> Transformer:
    """A random model with weights so large that its output varies from token to token."""
    torch.manual_seed(3)
    model = Transformer(config).eval()
    torch.nn.init.normal_(model.embedding.weight, std=0.5)
    return model


def reader(
    model: Transformer, tokenizer: Tokenizer, lengths: list[int], cached: bool = True
) -> Reader:
    return Reader(model, tokenizer, *sources(tokenizer, lengths), cached=cached)


def sources(tokenizer: Tokenizer, lengths: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return random ids of sources with these lengths, and a mask that is false for padding."""
    generator = torch.Generator().manual_seed(len(lengths))
    source = torch.randint(5, len(tokenizer), (len(lengths), max(lengths)), generator=generator)
    real = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    return source, real


@torch.inference_mode()
def test_cached_equals_uncached(model: Transformer, tokenizer: Tokenizer) -> None:
    kept, anew = (reader(model, tokenizer, [9, 4, 1], cached) for cached in (True, False))
    for step in range(12):
        one, other = kept.logprobs(), anew.logprobs()
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-5)
        ids = torch.tensor([7 + step, 9, 11 + step])
        rows = torch.tensor([1, 0, 2]) if step % 3 == 2 else None
        kept.append(ids, rows)
        anew.append(ids, rows)


@torch.inference_mode()
@pytest.mark.parametrize("cached", [True, False])
def test_greedy_takes_the_most_probable(
    model: Transformer, tokenizer: Tokenizer, cached: bool
) -> None:
    lengths, limits = [6, 3], [8, 5]
    steps = list(sample(reader(model, tokenizer, lengths, cached), tokenizer, limits, [None] * 2))
    for row, hypothesis in enumerate(steps[-1].written):
        again = reader(model, tokenizer, lengths)
        total = []
        for id_, logprob in zip(hypothesis.ids, hypothesis.logprobs, strict=True):
            logprobs = again.logprobs()[row]
            assert logprobs.argmax() == id_
            assert logprobs[id_].item() == pytest.approx(logprob, abs=1e-5)
            total.append(logprobs[id_].item())
            again.append(torch.tensor([id_, id_]))
        assert hypothesis.finished or len(hypothesis.ids) == limits[row]
        assert hypothesis.logprob == pytest.approx(sum(total), abs=1e-4)
    assert [len(step.written[0].ids) for step in steps] == list(range(1, len(steps) + 1))[
        : len(steps)
    ]


@torch.inference_mode()
def test_beam_of_one_is_greedy(model: Transformer, tokenizer: Tokenizer) -> None:
    *_, greedily = sample(reader(model, tokenizer, [6]), tokenizer, [10], [None])
    *_, last = beam(reader(model, tokenizer, [6]), tokenizer, 10, width=1)
    assert last.written[0].ids == greedily.written[0].ids


@torch.inference_mode()
@pytest.mark.parametrize("cached", [True, False])
@pytest.mark.parametrize("count", [1, 2, 3, 7, 16])
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

    def __init__(self) -> None:
        self.pad, self.bos, self.eos = 0, 1, 2
        self.specials = frozenset({0, 1, 2})


@torch.inference_mode()
@pytest.mark.parametrize("alpha", [0.0, 0.6, 2.0])
@pytest.mark.parametrize("seed", range(6))
def test_a_wide_beam_equals_exhaustive_search(seed: int, alpha: float) -> None:
    torch.manual_seed(seed)
    config = ModelConfig(
        vocabulary=8, d_model=16, heads=2, d_ff=16, encoder_layers=1, decoder_layers=1
    )
    model, tokenizer, limit = Transformer(config).eval(), Tiny(), 4
    torch.nn.init.normal_(model.embedding.weight, std=0.6)
    source = torch.tensor([[3, 4, 5]])
    real = torch.ones_like(source, dtype=torch.bool)
    sentences = [
        (*words, tokenizer.eos)
        for length in range(limit)
        for words in product(range(3, 8), repeat=length)
    ]
    best = max(
        (scored(model, source, sentence, tokenizer) for sentence in sentences),
        key=lambda hypothesis: hypothesis.score(alpha),
    )
    search = beam(Reader(model, tokenizer, source, real), tokenizer, limit, 5**limit, alpha)
    *_, last = search
    assert last.written[0].ids == best.ids
    assert last.written[0].score(alpha) == pytest.approx(best.score(alpha), abs=1e-5)


def scored(
    model: Transformer, source: torch.Tensor, ids: tuple[int, ...], tokenizer: Tokenizer
) -> Hypothesis:
    """Score ids by teacher forcing, which shares no code with the search."""
    logits = model(source, torch.tensor([[tokenizer.bos, *ids[:-1]]]))[0]
    logprobs = logits.log_softmax(-1)[range(len(ids)), ids]
    return Hypothesis(ids, tuple(logprobs.tolist()), finished=True)


@torch.inference_mode()
def test_control_tokens_are_never_written(model: Transformer, tokenizer: Tokenizer) -> None:
    logprobs = reader(model, tokenizer, [5]).logprobs()
    never = sorted(tokenizer.specials - {tokenizer.eos})
    assert (logprobs[:, never] == -torch.inf).all()
    assert logprobs[0, tokenizer.eos] > -torch.inf


@torch.inference_mode()
def test_a_seed_gives_the_same_samples_in_any_batch(
    model: Transformer, tokenizer: Tokenizer
) -> None:
    draws = [Draw(seed=5), None, Draw(seed=6), Draw(seed=5)]
    lengths = [4, 4, 4, 4]
    together = reader(model, tokenizer, lengths)
    same = together.memory[:1].expand_as(together.memory)
    together.memory = same
    together.source_real = together.source_real[:1].expand_as(together.source_real)
    *_, last = sample(together, tokenizer, [10] * 4, draws)
    rows = last.written
    assert rows[0].ids == rows[3].ids
    assert rows[0].ids != rows[2].ids
    assert rows[1].logprobs[0] >= max(row.logprobs[0] for row in rows)


Search = Callable[[Reader, Tokenizer, Sequence[int]], Iterator[SearchStep]]
SEARCHES: dict[str, Search] = {
    "greedy": lambda reader, tokenizer, prefix: sample(reader, tokenizer, [12], [None], [prefix]),
    "beam": lambda reader, tokenizer, prefix: beam(reader, tokenizer, 12, 3, 0.6, prefix),
    "sample": lambda reader, tokenizer, prefix: sample(
        reader, tokenizer, [12], [Draw(temperature=0.8, top_k=9, seed=11)], [prefix]
    ),
}


def outcome(steps: Iterator[SearchStep]) -> Hypothesis:
    *_, last = steps
    return last.written[0]


@torch.inference_mode()
@pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)
def test_a_search_continues_from_a_prefix(
    model: Transformer, tokenizer: Tokenizer, search: Search
) -> None:
    prefix = (300, 17, 301, 40)
    kept, anew = (
        list(search(reader(model, tokenizer, [6], cached), tokenizer, prefix))
        for cached in (True, False)
    )
    for one, other in zip(kept, anew, strict=True):
        torch.testing.assert_close(one.logprobs, other.logprobs, atol=1e-5, rtol=1e-5)
        assert [b.hypothesis.ids for b in one.branches] == [
            b.hypothesis.ids for b in other.branches
        ]
    assert kept[-1].written[0].ids[:4] == prefix
    assert [step.forced for step in kept] == [True] * 4 + [False] * (len(kept) - 4)
    for length, step in enumerate(kept[:4], 1):
        [branch] = step.branches
        assert (branch.hypothesis.ids, branch.state) == (prefix[:length], LIVE)
        own = step.logprobs[0, prefix[length - 1]].item()
        assert branch.hypothesis.logprobs[-1] == pytest.approx(own)


@torch.inference_mode()
@pytest.mark.parametrize("method", ["greedy", "sample"])
def test_a_prefix_that_would_have_been_written_changes_nothing(
    model: Transformer, tokenizer: Tokenizer, method: str
) -> None:
    free = outcome(SEARCHES[method](reader(model, tokenizer, [6]), tokenizer, ()))
    for length in range(len(free.ids) + 1):
        begun = SEARCHES[method](reader(model, tokenizer, [6]), tokenizer, free.ids[:length])
        assert outcome(begun).ids == free.ids


@torch.inference_mode()
@pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)
def test_a_prefix_that_ends_is_the_end(
    model: Transformer, tokenizer: Tokenizer, search: Search
) -> None:
    steps = list(search(reader(model, tokenizer, [6]), tokenizer, (300, tokenizer.eos)))
    assert len(steps) == 2
    [last] = steps[-1].branches
    assert last.state == FINISHED
    assert steps[-1].written[0] == last.hypothesis


@torch.inference_mode()
def test_rows_of_a_batch_have_their_own_prefixes(model: Transformer, tokenizer: Tokenizer) -> None:
    prefixes: list[tuple[int, ...]] = [(300,), (), (17, 301, 40)]
    together = reader(model, tokenizer, [5, 5, 5])
    for row in (1, 2):
        together.memory[row] = together.memory[0]
    draws = [None, Draw(seed=3), Draw(seed=3)]
    *_, last = sample(together, tokenizer, [9, 9, 9], draws, prefixes)
    for row, (draw, prefix) in enumerate(zip(draws, prefixes, strict=True)):
        alone = reader(model, tokenizer, [5, 5, 5])
        alone.memory[:] = alone.memory[:1].clone()
        *_, one = sample(alone, tokenizer, [9] * 3, [draw] * 3, [prefix] * 3)
        assert last.written[row].ids == one.written[row].ids
        assert last.written[row].ids[: len(prefix)] == prefix


@torch.inference_mode()
@pytest.mark.parametrize("cached", [True, False])
def test_a_batch_is_written_as_its_steps_say(
    model: Transformer, tokenizer: Tokenizer, cached: bool
) -> None:
    """Rows of every kind end at different lengths, so that the batch shrinks."""
    lengths, limits = [9, 1, 5, 5, 7, 2, 3], [12, 1, 3, 9, 2, 12, 5]
    draws = [None, None, Draw(seed=3), Draw(0.7, top_k=9, seed=4), None, Draw(top_p=0.4), None]
    prefixes: list[tuple[int, ...]] = [(), (), (300, 17), (), (40,), (301, tokenizer.eos), (9,) * 5]
    lengths, limits = lengths + [4] * 9, limits + [12] * 9
    draws, prefixes = draws + [Draw(seed=5)] * 9, prefixes + [(300,)] * 9
    together = reader(model, tokenizer, lengths, cached)
    ids = write(together, tokenizer, limits, draws, prefixes)
    *_, last = sample(reader(model, tokenizer, lengths), tokenizer, limits, draws, prefixes)
    assert ids == [hypothesis.ids for hypothesis in last.written]
    assert len({len(row) for row in ids}) > 4
    assert len(together.read) < len(ids), "only the longest are left"


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


def test_candidates_and_the_rest_are_everything() -> None:
    probabilities = [0.35, 0.05, 0.25, 0.1, 0.2, 0.05]
    logprobs = torch.tensor([[*probabilities, 0.0]]).log()  # the last can never be written
    step = SearchStep((Hypothesis(),), logprobs, (), ())
    listed, rest = step.candidates(0, 2)
    assert [one.id for one in listed] == [0, 2]
    assert [one.logprob for one in listed] == pytest.approx([math.log(0.35), math.log(0.25)])
    assert rest == pytest.approx(0.4)
    listed, rest = step.candidates(0, 50)
    assert len(listed) == 6
    assert rest == pytest.approx(0, abs=1e-6)
