"""Writing a translation: greedy, sampled or by beam search, as generators of steps.

Control tokens other than ``<eos>`` are never written. A translation may have to begin with a
prefix: its tokens are read one by one like any other, and the search goes on from there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Protocol

import torch
from torch import Tensor

from model.decode.sampling import Dice, Draw
from model.decode.steps import (
    FINISHED,
    LIVE,
    PRUNED,
    Branch,
    Drawn,
    Hypothesis,
    SearchStep,
    penalty,
)
from model.text.tokens import Tokenizer
from model.trace.tensor_tap import NULL, Tap
from model.transformer.cache import Cache
from model.transformer.stacks import Transformer


class Predictor(Protocol):
    """A model between two steps: reads one token a row, answers with log-probabilities."""

    def logprobs(self) -> Tensor:
        """For each row log P(next token | what was read), (B, V)."""

    def append(self, ids: Tensor, rows: Tensor | None = None) -> None:
        """Reads `ids` (B,) next, after row i has become a copy of row `rows[i]`."""


class Ends(Protocol):
    """What a search must know of a vocabulary."""

    eos: int  # the token that ends a text


class Reader(Predictor):
    """A decoder that has read a source."""

    def __init__(
        self,
        model: Transformer,
        tokenizer: Tokenizer,
        source: Tensor,
        real: Tensor,
        tap: Tap = NULL,
        cached: bool = True,
    ) -> None:
        self.model = model
        self.tap = tap
        self.source_real = real
        self.memory = model.encode(source, real, tap)  # (B, S, d_model)
        self.cache = Cache(model.config.decoder_layers) if cached else None
        self.read = torch.full((len(source), 1), tokenizer.bos, device=source.device)
        specials = sorted(tokenizer.specials - {tokenizer.eos})
        self.never = torch.tensor(specials, device=source.device)

    def logprobs(self) -> Tensor:
        """For each row log P(next token | source, what was read), (B, V); control tokens −inf."""
        real = torch.ones_like(self.read, dtype=torch.bool)
        new = self.read[:, self.cache.length :] if self.cache else self.read
        tap = self.tap.begin(self.cache.length if self.cache else 0)
        x = self.model.decode(new, real, self.memory, self.source_real, tap, self.cache)
        logprobs = self.model.logits(x[:, -1:])[:, 0].float().log_softmax(dim=-1)
        return logprobs.index_fill_(1, self.never, -torch.inf)

    def append(self, ids: Tensor, rows: Tensor | None = None) -> None:
        """Reads `ids` (B,) next, after row i has become a copy of row `rows[i]`."""
        if rows is not None:
            self.read, self.memory = self.read[rows], self.memory[rows]
            self.source_real = self.source_real[rows]
            if self.cache:
                self.cache.select(rows)
        self.read = torch.cat([self.read, ids[:, None]], dim=1)

    def keep(self, rows: Sequence[int]) -> None:
        """Only these rows go on, each with what its tap does."""
        index = torch.tensor(rows, device=self.read.device)
        self.read, self.memory = self.read[index], self.memory[index]
        self.source_real = self.source_real[index]
        if self.cache:
            self.cache.select(index)
        self.tap = self.tap.keep(rows)


def sample(
    reader: Predictor,
    tokenizer: Ends,
    limits: Sequence[int],
    draws: Sequence[Draw | None],
    prefixes: Sequence[Sequence[int]] = (),
) -> Iterator[SearchStep]:
    """A token drawn at each step (None: the most probable one), for all rows of a batch at once.

    Row i begins with `prefixes[i]` and stops at ``<eos>`` or after `limits[i]` tokens.
    A row's draws depend on its own seed alone, whoever else is in the batch. The log-probabilities
    of a hypothesis are the model's own, not those that the token was drawn from. Where the prefix
    decides, the dice are thrown too: a prefix that would have been drawn changes nothing.
    """
    rows = tuple(Hypothesis() for _ in limits)
    prefixes = prefixes or [()] * len(limits)
    dice = Dice(draws)
    for length in range(1, max(limits) + 1):
        logprobs = reader.logprobs()
        ids, pools = dice.throw(logprobs)
        drawn = {
            index: Drawn(int((pool > 0).sum()), pool[ids[index]].item())
            for index, pool in pools.items()
        }
        for index, prefix in enumerate(prefixes):
            if length <= len(prefix):
                ids[index] = prefix[length - 1]
        chosen = logprobs.gather(1, ids[:, None])[:, 0]
        branches = []
        for index, (id_, logprob) in enumerate(zip(ids.tolist(), chosen.tolist(), strict=True)):
            if rows[index].finished or length > limits[index]:
                continue
            new = rows[index].then(id_, logprob, id_ == tokenizer.eos)
            forced = length <= len(prefixes[index])
            state = FINISHED if new.finished else LIVE
            branches.append(Branch(index, new, state, forced, None if forced else drawn.get(index)))
        grown = {branch.parent: branch.hypothesis for branch in branches}
        read, rows = rows, tuple(grown.get(index, row) for index, row in enumerate(rows))
        yield SearchStep(read, logprobs, tuple(branches), rows)
        if all(row.finished or length >= limits[i] for i, row in enumerate(rows)):
            return
        reader.append(ids)


def beam(
    reader: Predictor,
    tokenizer: Ends,
    limit: int,
    width: int = 4,
    length_penalty: float = 0.6,
    prefix: Sequence[int] = (),
) -> Iterator[SearchStep]:
    """Beam search over one source (a batch of one), as in section 6.1.

    Each step extends every open beam by every token and keeps the `width` most probable that go
    on; the ones that end are ranked by score. It stops when no open beam can still beat the best
    finished one: a log-probability only falls, and is divided by at most lp(`limit`). While the
    prefix is read it is the one beam.
    """
    opened: tuple[Hypothesis, ...] = (Hypothesis(),)
    finished: tuple[Hypothesis, ...] = ()
    for length in range(1, limit + 1):
        logprobs = reader.logprobs()  # (open beams, V)
        if length <= len(prefix):
            found = [_extended(opened, logprobs, 0, prefix[length - 1], tokenizer.eos, forced=True)]
        else:
            found = _best(opened, logprobs, 2 * width, tokenizer.eos)
        ended = [branch.hypothesis for branch in found if branch.hypothesis.finished]
        ranked = sorted((*finished, *ended), key=lambda h: h.score(length_penalty), reverse=True)
        finished = tuple(ranked[:width])
        branches = _judged(found, width, finished)
        live = [branch for branch in branches if branch.state == LIVE]
        read, opened = opened, tuple(branch.hypothesis for branch in live)
        yield SearchStep(read, logprobs, branches, finished or opened)
        if not opened or length == limit:
            return
        bound = opened[0].logprob / penalty(limit, length_penalty)
        if finished and finished[0].score(length_penalty) >= bound:
            return
        ids, parents = [h.ids[-1] for h in opened], [branch.parent for branch in live]
        device = logprobs.device
        reader.append(torch.tensor(ids, device=device), torch.tensor(parents, device=device))


def _best(opened: Sequence[Hypothesis], logprobs: Tensor, count: int, eos: int) -> list[Branch]:
    """The `count` most probable hypotheses with a token more, best first.

    Each beam can end in one way only, so twice as many as there are beams hold enough that go on.
    """
    totals = logprobs + logprobs.new_tensor([[h.logprob] for h in opened])
    top = totals.flatten().topk(min(count, totals.numel()))
    found = []
    for total, flat in zip(top.values.tolist(), top.indices.tolist(), strict=True):
        if total > -torch.inf:
            row, id_ = divmod(flat, logprobs.shape[1])
            found.append(_extended(opened, logprobs, row, id_, eos))
    return found


def _extended(
    opened: Sequence[Hypothesis],
    logprobs: Tensor,
    row: int,
    id_: int,
    eos: int,
    forced: bool = False,
) -> Branch:
    new = opened[row].then(id_, logprobs[row, id_].item(), id_ == eos)
    return Branch(row, new, forced=forced)


def _judged(
    found: Sequence[Branch], width: int, finished: Sequence[Hypothesis]
) -> tuple[Branch, ...]:
    """The branches with their states: live ones best first, then finished, then pruned."""
    going = [branch for branch in found if not branch.hypothesis.finished]
    ended = {branch.hypothesis: branch for branch in found if branch.hypothesis.finished}
    kept = [replace(ended[one], state=FINISHED) for one in finished if one in ended]
    lost = [*going[width:], *(ended[one] for one in ended if one not in finished)]
    return (*going[:width], *kept, *(replace(branch, state=PRUNED) for branch in lost))
