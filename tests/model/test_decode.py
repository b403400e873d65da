"""Decoding: the cache changes nothing, and prefixes, samples and batches agree."""

import math
from collections.abc import Callable, Iterator, Sequence

import pytest
import torch

from model.decode.beam_search import beam
from model.decode.decoding_steps import FINISHED, LIVE, Hypothesis, SearchStep
from model.decode.greedy_and_sampling import Draw, Reader, sample, write
from model.text.tokens import Tokenizer
from model.transformer.stacks import Transformer
from tests.model.decoding import reader


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
