"""Writing a translation: greedy and beam search as generators of steps.

A step says what the search did; nothing about presentation enters here. Control tokens other than
``<eos>`` are never written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from model.cache import Cache
from model.tokens import Tokenizer
from model.trace import NULL, Tap
from model.transformer import Transformer


@dataclass(frozen=True)
class Hypothesis:
    """What has been written so far: ids, ``<eos>`` included, and their log-probabilities (nats)."""

    ids: tuple[int, ...] = ()
    logprobs: tuple[float, ...] = ()
    finished: bool = False

    @property
    def logprob(self) -> float:
        """The sum of `logprobs`: log P(ids | source)."""
        return sum(self.logprobs)

    def score(self, length_penalty: float) -> float:
        """What beams are ranked by: log P / lp (see `penalty`)."""
        return self.logprob / penalty(len(self.ids), length_penalty)

    def then(self, id_: int, logprob: float, finished: bool) -> Hypothesis:
        """The same with a token more."""
        return Hypothesis((*self.ids, id_), (*self.logprobs, logprob), finished)


def penalty(length: int, alpha: float) -> float:
    """The length penalty lp = ((5 + length) / 6)^α (Wu et al. 2016, equation 14)."""
    return float(((5 + length) / 6) ** alpha)


class Reader:
    """The decoder between two steps: reads one token a row, answers with log-probabilities."""

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
        return logprobs.index_fill(1, self.never, -torch.inf)

    def append(self, ids: Tensor, rows: Tensor | None = None) -> None:
        """Reads `ids` (B,) next, after row i has become a copy of row `rows[i]`."""
        if rows is not None:
            self.read, self.memory = self.read[rows], self.memory[rows]
            self.source_real = self.source_real[rows]
            if self.cache:
                self.cache.select(rows)
        self.read = torch.cat([self.read, ids[:, None]], dim=1)


def greedy(
    reader: Reader, tokenizer: Tokenizer, limits: Sequence[int]
) -> Iterator[list[Hypothesis]]:
    """The most probable token, step by step, for every row of a batch at once.

    Yields all rows' hypotheses after each step; row i stops at ``<eos>`` or after `limits[i]`
    tokens.
    """
    rows = [Hypothesis() for _ in limits]
    for length in range(1, max(limits) + 1):
        best = reader.logprobs().max(dim=-1)
        pairs = zip(best.indices.tolist(), best.values.tolist(), strict=True)
        for index, (id_, logprob) in enumerate(pairs):
            if not rows[index].finished and length <= limits[index]:
                rows[index] = rows[index].then(id_, logprob, id_ == tokenizer.eos)
        yield list(rows)
        if all(row.finished or length >= limits[i] for i, row in enumerate(rows)):
            return
        reader.append(best.indices)


@dataclass(frozen=True)
class Beams:
    """One step of beam search: the beams still open and what has been finished, best first."""

    open: tuple[Hypothesis, ...]
    finished: tuple[Hypothesis, ...]

    @property
    def best(self) -> Hypothesis:
        """The best finished hypothesis, or the best open one while there is none."""
        return (self.finished or self.open)[0]


def beam(
    reader: Reader, tokenizer: Tokenizer, limit: int, width: int = 4, length_penalty: float = 0.6
) -> Iterator[Beams]:
    """Beam search over one source (a batch of one), as in section 6.1.

    Each step extends every open beam by every token and keeps the `width` most probable that go
    on; the ones that end are ranked by score. It stops when no open beam can still beat the best
    finished one: a log-probability only falls, and is divided by at most lp(`limit`).
    """
    opened, finished = [Hypothesis()], list[Hypothesis]()
    for length in range(1, limit + 1):
        logprobs = reader.logprobs()  # (open beams, V)
        totals = logprobs + logprobs.new_tensor([[h.logprob] for h in opened])
        # Each beam can end in one way only, so 2 · width holds width that go on.
        top = totals.flatten().topk(min(2 * width, totals.numel()))
        extended: list[tuple[int, Hypothesis]] = []
        for total, flat in zip(top.values.tolist(), top.indices.tolist(), strict=True):
            if total == -torch.inf:
                continue
            row, id_ = divmod(flat, logprobs.shape[1])
            ends = id_ == tokenizer.eos
            new = opened[row].then(id_, logprobs[row, id_].item(), ends)
            if ends:
                finished.append(new)
            else:
                extended.append((row, new))
        extended = extended[:width]
        opened = [hypothesis for _, hypothesis in extended]
        finished.sort(key=lambda h: h.score(length_penalty), reverse=True)
        finished = finished[:width]
        yield Beams(tuple(opened), tuple(finished))
        if not opened or length == limit:
            return
        bound = opened[0].logprob / penalty(limit, length_penalty)
        if finished and finished[0].score(length_penalty) >= bound:
            return
        ids = reader.read.new_tensor([h.ids[-1] for h in opened])
        reader.append(ids, reader.read.new_tensor([row for row, _ in extended]))
