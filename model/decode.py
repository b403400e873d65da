"""Writing a translation: greedy, sampled or by beam search, as generators of steps.

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


@dataclass(frozen=True)
class Draw:
    """What a token is drawn from: all tokens at temperature 1 unless told otherwise."""

    temperature: float = 1.0  # log-probabilities are divided by it
    top_k: int | None = None  # of the k most probable tokens only
    top_p: float = 1.0  # of the fewest tokens that together have this probability
    seed: int = 0


def greedy(
    reader: Reader, tokenizer: Tokenizer, limits: Sequence[int]
) -> Iterator[list[Hypothesis]]:
    """The most probable token, step by step, for every row of a batch at once.

    Yields all rows' hypotheses after each step; row i stops at ``<eos>`` or after `limits[i]`
    tokens.
    """
    return sample(reader, tokenizer, limits, [None] * len(limits))


def sample(
    reader: Reader, tokenizer: Tokenizer, limits: Sequence[int], draws: Sequence[Draw | None]
) -> Iterator[list[Hypothesis]]:
    """A token drawn at each step (None: the most probable one); yields as `greedy` does.

    A row's draws depend on its own seed alone, whoever else is in the batch. The log-probabilities
    of a hypothesis are the model's own, not those that the token was drawn from.

    Source: Fan et al. 2018 (top-k), Holtzman et al. 2020 (top-p).
    """
    rows = [Hypothesis() for _ in limits]
    dice = [(draw, torch.Generator().manual_seed(draw.seed)) if draw else None for draw in draws]
    for length in range(1, max(limits) + 1):
        logprobs = reader.logprobs()
        ids = logprobs.argmax(dim=-1)
        for index, die in enumerate(dice):
            if die is not None:
                chances = narrowed(logprobs[index].cpu(), die[0]).exp()
                ids[index] = torch.multinomial(chances, 1, generator=die[1]).to(ids.device)
        chosen = logprobs.gather(1, ids[:, None])[:, 0]
        for index, (id_, logprob) in enumerate(zip(ids.tolist(), chosen.tolist(), strict=True)):
            if not rows[index].finished and length <= limits[index]:
                rows[index] = rows[index].then(id_, logprob, id_ == tokenizer.eos)
        yield list(rows)
        if all(row.finished or length >= limits[i] for i, row in enumerate(rows)):
            return
        reader.append(ids)


def narrowed(logprobs: Tensor, draw: Draw) -> Tensor:
    """`logprobs` (V,) after temperature, top-k and top-p, in this order, as log-probabilities."""
    cooled = (logprobs / draw.temperature).log_softmax(dim=-1)
    values, order = cooled.sort(descending=True, stable=True)
    kept = torch.ones_like(values, dtype=torch.bool)
    if draw.top_k is not None:
        kept[draw.top_k :] = False
    probabilities = values.masked_fill(~kept, -torch.inf).softmax(dim=-1)
    before = probabilities.cumsum(dim=-1) - probabilities
    kept &= before < draw.top_p  # the token that reaches p is the last one in
    kept[0] = True
    values = values.masked_fill(~kept, -torch.inf)
    return torch.empty_like(values).scatter(0, order, values).log_softmax(dim=-1)


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
