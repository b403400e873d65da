"""The steps of a decoding: ids and numbers, independent of how they are presented."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

LIVE, FINISHED, PRUNED = "live", "finished", "pruned"


@dataclass(frozen=True)
class Hypothesis:
    """The text written so far: ids with ``<eos>``, and their log-probabilities (nats)."""

    ids: tuple[int, ...] = ()
    logprobs: tuple[float, ...] = ()
    finished: bool = False

    @property
    def logprob(self) -> float:
        """Sum of `logprobs`: log P(ids | source)."""
        return sum(self.logprobs, 0.0)

    def score(self, length_penalty: float) -> float:
        """Return the score by which beams are ranked: log P / lp (see `penalty`)."""
        return self.logprob / penalty(len(self.ids), length_penalty)

    def then(self, id_: int, logprob: float, finished: bool) -> Hypothesis:
        """Return the hypothesis extended by one token."""
        return Hypothesis((*self.ids, id_), (*self.logprobs, logprob), finished)


def penalty(length: int, alpha: float) -> float:
    """Return the length penalty lp = ((5 + length) / 6)^α (Wu et al. 2016, equation 14)."""
    return float(((5 + length) / 6) ** alpha)


@dataclass(frozen=True)
class Drawn:
    """How a token was sampled: from how many, and with which probability among these."""

    pool: int
    probability: float


@dataclass(frozen=True)
class Branch:
    """A hypothesis extended by one token, and its state."""

    parent: int  # index of the step's `read` that it extends
    hypothesis: Hypothesis  # its last token is the new one
    state: str = LIVE
    forced: bool = False  # whether the token was given by the prefix
    drawn: Drawn | None = None


@dataclass(frozen=True)
class Candidate:
    """A candidate for the next token."""

    id: int
    logprob: float


@dataclass(frozen=True, eq=False)
class SearchStep:
    """One step of a search: the hypotheses before it, the next-token scores, and the results.

    `read` and the rows of `logprobs` (read, V; control tokens −inf) correspond. A batch of greedy
    or sampled rows is as many parallel searches: row i continues from i. `written` is the result so
    far: every row's, or for beam search the finished hypotheses (or the live ones if none), best
    first.
    """

    read: tuple[Hypothesis, ...]
    logprobs: Tensor
    branches: tuple[Branch, ...]  # live ones best first, then finished, then pruned
    written: tuple[Hypothesis, ...]

    @property
    def forced(self) -> bool:
        """Whether the token was given by the prefix."""
        return all(branch.forced for branch in self.branches)

    def candidates(self, row: int, count: int) -> tuple[list[Candidate], float]:
        """Return the `count` most probable tokens after `read[row]`, and the rest.

        The rest is the probability of all other tokens, including control tokens, which are never
        written.
        """
        top = self.logprobs[row].topk(min(count, self.logprobs.shape[1]))
        listed = [
            Candidate(id_, logprob)
            for id_, logprob in zip(top.indices.tolist(), top.values.tolist(), strict=True)
            if logprob > -torch.inf
        ]
        return listed, max(0.0, 1 - top.values.double().exp().sum().item())

    def rank(self, branch: Branch) -> int:
        """Return the rank of a branch's token among all tokens that can be written, from 1."""
        logprobs = self.logprobs[branch.parent]
        return 1 + int((logprobs > logprobs[branch.hypothesis.ids[-1]]).sum())
