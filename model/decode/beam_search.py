"""Beam search: over one source as a generator of steps, or over many at once.

Both use `BeamSearch`, so a sentence's hypotheses are the same alone and in a batch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from model.decode.decoding_steps import (
    FINISHED,
    LIVE,
    PRUNED,
    Branch,
    Hypothesis,
    SearchStep,
    penalty,
)
from model.decode.greedy_and_sampling import Ends, Predictor


@dataclass(frozen=True)
class Beam:
    """Search parameters: at most `limit` tokens after `prefix`, `width` hypotheses at a time."""

    limit: int
    width: int = 4
    length_penalty: float = 0.6
    prefix: Sequence[int] = ()


class BeamSearch:
    """The search for one source, between two steps (section 6.1).

    Each step extends every open beam by every token and keeps the `width` most probable results
    that continue; finished ones are ranked by score. The search has `ended` when no open beam can
    still beat the best finished one: a log-probability can only fall, and is divided by at most
    lp(limit). While the prefix is read, it is the only beam.
    """

    def __init__(self, beam_: Beam, ends: frozenset[int]) -> None:
        self.asked = beam_
        self.ends = ends
        self.length = 0
        self.opened: tuple[Hypothesis, ...] = (Hypothesis(),)
        self.finished: tuple[Hypothesis, ...] = ()
        self.parents: list[int] = []  # for each open beam, the row of the last step that it extends
        self.ended = False

    @property
    def most(self) -> int:
        """Return how many extensions are considered in a step: (1 + end tokens) · width."""
        return (1 + len(self.ends)) * self.asked.width

    @property
    def written(self) -> tuple[Hypothesis, ...]:
        """Return the result so far: finished hypotheses, or the open ones if none, best first."""
        return self.finished or self.opened

    def step(self, logprobs: Tensor, top: Sequence[Sequence[tuple[float, int]]]) -> SearchStep:
        """Take a step, given log P of every next token for the open beams, (open, V).

        `top` has the `most` most probable tokens of each row: (log-probability, id).
        """
        beam_, before = self.asked, self.opened
        self.length += 1
        if self.length <= len(beam_.prefix):
            id_ = beam_.prefix[self.length - 1]
            branches_ = [self._extended(0, id_, logprobs[0, id_].item(), forced=True)]
        else:
            branches_ = self._best(top)
        ended = [branch.hypothesis for branch in branches_ if branch.hypothesis.finished]
        ranked = sorted((*self.finished, *ended), key=self._score, reverse=True)
        self.finished = tuple(ranked[: beam_.width])
        branches = _judged(branches_, beam_.width, self.finished)
        live = [branch for branch in branches if branch.state == LIVE]
        self.opened = tuple(branch.hypothesis for branch in live)
        self.parents = [branch.parent for branch in live]
        self.ended = self._settled()
        return SearchStep(before, logprobs, branches, self.written)

    def _best(self, top: Sequence[Sequence[tuple[float, int]]]) -> list[Branch]:
        """Return the most probable hypotheses extended by one token, best first.

        A beam can end in as many ways as there are end tokens, so `most` of them include `width`
        that continue.
        """
        totals = [
            (beam.logprob + logprob, row, id_, logprob)
            for row, beam in enumerate(self.opened)
            for logprob, id_ in top[row]
            if logprob > -torch.inf
        ]
        totals.sort(key=lambda total: total[0], reverse=True)
        best = totals[: self.most]
        return [self._extended(row, id_, logprob) for _, row, id_, logprob in best]

    def _extended(self, row: int, id_: int, logprob: float, forced: bool = False) -> Branch:
        return Branch(row, self.opened[row].then(id_, logprob, id_ in self.ends), forced=forced)

    def _score(self, hypothesis: Hypothesis) -> float:
        return hypothesis.score(self.asked.length_penalty)

    def _settled(self) -> bool:
        if not self.opened or self.length == self.asked.limit:
            return True
        bound = self.opened[0].logprob / penalty(self.asked.limit, self.asked.length_penalty)
        return bool(self.finished) and self._score(self.finished[0]) >= bound


def beam(
    reader: Predictor,
    tokenizer: Ends,
    limit: int,
    width: int = 4,
    length_penalty: float = 0.6,
    prefix: Sequence[int] = (),
) -> Iterator[SearchStep]:
    """Yield the steps of a `BeamSearch` over one source (a batch of one)."""
    search = BeamSearch(Beam(limit, width, length_penalty, prefix), tokenizer.ends)
    while not search.ended:
        yield from _advance(reader, [search])


def write_beams(
    reader: Predictor, tokenizer: Ends, beams: Sequence[Beam]
) -> list[tuple[Hypothesis, ...]]:
    """Return the hypotheses that a `BeamSearch` finds for each source of a batch, best first.

    The reader starts with one row per source and later has one per open beam. Sources whose search
    has ended leave the batch.
    """
    searches = [BeamSearch(beam_, tokenizer.ends) for beam_ in beams]
    while going := [search for search in searches if not search.ended]:
        _advance(reader, going)
    return [search.written for search in searches]


def _advance(reader: Predictor, searches: Sequence[BeamSearch]) -> list[SearchStep]:
    """Take a step of each search; the reader's rows are their open beams, in order."""
    logprobs = reader.logprobs()
    count = min(max(search.most for search in searches), logprobs.shape[1])
    top = logprobs.topk(count)
    likely = [
        list(zip(values, ids, strict=True))
        for values, ids in zip(top.values.tolist(), top.indices.tolist(), strict=True)
    ]
    steps, start = [], 0
    ids, rows = list[int](), list[int]()
    for search in searches:
        end = start + len(search.opened)
        steps.append(search.step(logprobs[start:end], likely[start:end]))
        if not search.ended:
            ids += [hypothesis.ids[-1] for hypothesis in search.opened]
            rows += [start + parent for parent in search.parents]
        start = end
    if ids:
        device = logprobs.device
        reader.append(torch.tensor(ids, device=device), torch.tensor(rows, device=device))
    return steps


def _judged(
    branches: Sequence[Branch], width: int, finished: Sequence[Hypothesis]
) -> tuple[Branch, ...]:
    """Return the branches with their states: live ones best first, then finished, then pruned."""
    going = [branch for branch in branches if not branch.hypothesis.finished]
    ended = {branch.hypothesis: branch for branch in branches if branch.hypothesis.finished}
    still_finished = [
        replace(ended[hypothesis], state=FINISHED) for hypothesis in finished if hypothesis in ended
    ]
    lost = [
        *going[width:],
        *(ended[hypothesis] for hypothesis in ended if hypothesis not in finished),
    ]
    return (*going[:width], *still_finished, *(replace(branch, state=PRUNED) for branch in lost))
