"""What a step of decoding says: ids and numbers, and nothing about presentation."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

LIVE, FINISHED, PRUNED = "live", "finished", "pruned"


@dataclass(frozen=True)
class Hypothesis:
    """What has been written so far: ids, ``<eos>`` included, and their log-probabilities (nats)."""

    ids: tuple[int, ...] = ()
    logprobs: tuple[float, ...] = ()
    finished: bool = False

    @property
    def logprob(self) -> float:
        """The sum of `logprobs`: log P(ids | source)."""
        return sum(self.logprobs, 0.0)

    def score(self, length_penalty: float) -> float:
        """What beams are ranked by: log P / lp (see `penalty`)."""
        return self.logprob / penalty(len(self.ids), length_penalty)

    def then(self, id_: int, logprob: float, finished: bool) -> Hypothesis:
        """The same with a token more."""
        return Hypothesis((*self.ids, id_), (*self.logprobs, logprob), finished)


def penalty(length: int, alpha: float) -> float:
    """The length penalty lp = ((5 + length) / 6)^α (Wu et al. 2016, equation 14)."""
    return float(((5 + length) / 6) ** alpha)


@dataclass(frozen=True)
class Drawn:
    """How a token was drawn: out of how many, and with which probability among these."""

    pool: int
    probability: float


@dataclass(frozen=True)
class Branch:
    """A hypothesis with a token more, and what became of it."""

    parent: int  # which of the step's `read` it goes on from
    hypothesis: Hypothesis  # its last token is the new one
    state: str = LIVE
    forced: bool = False  # the prefix left no choice
    drawn: Drawn | None = None


@dataclass(frozen=True)
class Candidate:
    """A token that could come next."""

    id: int
    logprob: float


@dataclass(frozen=True, eq=False)
class SearchStep:
    """One step of a search: what had been written, what could come next, what was made of it.

    `read` and the rows of `logprobs` (read, V; control tokens −inf) go together. A batch of
    greedy or sampled rows is as many searches side by side: row i goes on from i. `written` is the
    outcome so far: every row's, or of beam search the finished ones (without any, the live ones),
    best first.
    """

    read: tuple[Hypothesis, ...]
    logprobs: Tensor
    branches: tuple[Branch, ...]  # live ones best first, then finished, then pruned
    written: tuple[Hypothesis, ...]

    @property
    def forced(self) -> bool:
        """Whether the prefix left no choice."""
        return all(branch.forced for branch in self.branches)

    def candidates(self, row: int, count: int) -> tuple[list[Candidate], float]:
        """The `count` most probable tokens after `read[row]`, and what all others have together.

        The rest is a probability; that of control tokens, which are never written, is in it.
        """
        top = self.logprobs[row].topk(min(count, self.logprobs.shape[1]))
        listed = [
            Candidate(id_, logprob)
            for id_, logprob in zip(top.indices.tolist(), top.values.tolist(), strict=True)
            if logprob > -torch.inf
        ]
        return listed, max(0.0, 1 - top.values.double().exp().sum().item())

    def rank(self, branch: Branch) -> int:
        """The place of a branch's token among all that could be written, from 1."""
        logprobs = self.logprobs[branch.parent]
        return 1 + int((logprobs > logprobs[branch.hypothesis.ids[-1]]).sum())
