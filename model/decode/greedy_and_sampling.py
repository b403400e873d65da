"""Greedy decoding and sampling, as a generator of steps, or at once for a batch.

`model.decode.beam_search` has beam search. Control tokens other than ``<eos>`` are never written. A
translation may be required to start with a prefix: its tokens are read one by one like any other,
and the search continues from there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from model.decode.decoding_steps import FINISHED, LIVE, Branch, Drawn, Hypothesis, SearchStep
from model.text.tokens import Tokenizer
from model.trace.tensor_tap import NULL, Tap
from model.transformer.attention import Cache
from model.transformer.stacks import Transformer


@dataclass(frozen=True)
class Draw:
    """Sampling options: by default all tokens at temperature 1."""

    temperature: float = 1.0  # divisor of the log-probabilities
    top_k: int | None = None  # only the k most probable tokens
    top_p: float = 1.0  # only the fewest tokens that together have this probability
    seed: int = 0


class Dice:
    """Chooses a token for each row: samples it, or takes the most probable one.

    A row's samples depend only on its own seed, whatever else is in the batch.
    """

    def __init__(self, draws: Sequence[Draw | None]) -> None:
        self.draws = list(draws)
        self.generators = [torch.Generator().manual_seed(d.seed) if d else None for d in draws]

    def throw(self, logprobs: Tensor) -> tuple[Tensor, dict[int, Tensor]]:
        """Return a token for each row of `logprobs` (B, V): ids (B,), and the pool of each row."""
        ids = logprobs.argmax(dim=-1)
        pools: dict[int, Tensor] = {}
        for row, (draw, generator) in enumerate(zip(self.draws, self.generators, strict=True)):
            if draw and generator:
                pools[row] = narrowed(logprobs[row].cpu(), draw).exp()
                ids[row] = torch.multinomial(pools[row], 1, generator=generator)
        return ids, pools

    def keep(self, rows: Sequence[int]) -> None:
        """Keep only these rows."""
        self.draws = [self.draws[row] for row in rows]
        self.generators = [self.generators[row] for row in rows]


def narrowed(logprobs: Tensor, draw: Draw) -> Tensor:
    """Return log-probabilities (V,) after temperature, top-k and top-p, in this order.

    Source: Fan et al. 2018 (top-k), Holtzman et al. 2020 (top-p).
    """
    cooled = (logprobs / draw.temperature).log_softmax(dim=-1)
    if draw.top_k is None and draw.top_p == 1:
        return cooled
    count = min(draw.top_k or len(cooled), len(cooled))
    values, order = cooled.topk(count) if draw.top_k else cooled.sort(descending=True, stable=True)
    probabilities = values.softmax(dim=-1)
    before = probabilities.cumsum(dim=-1) - probabilities
    kept = before < draw.top_p  # the token that reaches p is included
    kept[0] = True
    values = values.masked_fill(~kept, -torch.inf).log_softmax(dim=-1)
    return torch.full_like(cooled, -torch.inf).scatter(0, order, values)


class Predictor(Protocol):
    """A model between two steps: reads one token per row, returns log-probabilities."""

    def logprobs(self) -> Tensor:
        """Return log P(next token | tokens read) for each row, (B, V)."""

    def append(self, ids: Tensor, rows: Tensor | None = None) -> None:
        """Read `ids` (B,) next, after row i has become a copy of row `rows[i]`."""


class Ends(Protocol):
    """The part of a vocabulary that a search needs."""

    ends: frozenset[int]  # tokens that end a text


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
        self.source = torch.arange(len(source), device=source.device)  # the source of each row
        self.cache = Cache(model.config.decoder_layers) if cached else None
        self.read = torch.full((len(source), 1), tokenizer.bos, device=source.device)
        specials = sorted(tokenizer.specials - {tokenizer.eos})
        self.never = torch.tensor(specials, device=source.device)

    def logprobs(self) -> Tensor:
        """Return log P(next token | source, tokens read) per row, (B, V); control tokens −inf."""
        real = torch.ones_like(self.read, dtype=torch.bool)
        new = self.read[:, self.cache.length :] if self.cache else self.read
        tap = self.tap.begin(self.cache.length if self.cache else 0)
        x = self.model.decode(new, real, self.memory, self.source_real, tap, self.cache)
        logprobs = self.model.logits(x[:, -1:])[:, 0].float().log_softmax(dim=-1)
        return logprobs.index_fill_(1, self.never, -torch.inf)

    def append(self, ids: Tensor, rows: Tensor | None = None) -> None:
        """Read `ids` (B,) next, after row i has become a copy of row `rows[i]`."""
        if rows is not None:
            self.keep(rows)
        self.read = torch.cat([self.read, ids[:, None]], dim=1)

    def keep(self, rows: Tensor) -> None:
        """Make row i a copy of row `rows[i]`, with its tap; other rows are dropped."""
        source = self.source[rows]
        moved = not torch.equal(source, self.source)  # often False: beams keep their source
        if moved:
            self.source, self.memory = source, self.memory[rows]
            self.source_real = self.source_real[rows]
        self.read = self.read[rows]
        if self.cache:
            self.cache.select(rows, moved)
        self.tap = self.tap.keep(rows.tolist())


def sample(
    reader: Predictor,
    tokenizer: Ends,
    limits: Sequence[int],
    draws: Sequence[Draw | None],
    prefixes: Sequence[Sequence[int]] = (),
) -> Iterator[SearchStep]:
    """Yield steps that sample a token (None: take the most probable one) for all rows of a batch.

    Row i begins with `prefixes[i]` and stops at an end token or after `limits[i]` tokens. A row's
    samples depend only on its own seed, whatever else is in the batch. The log-probabilities of a
    hypothesis are the model's own, not those that the token was sampled from. Random numbers are
    also drawn for the prefix: a prefix that would have been sampled anyway changes nothing.
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
            new = rows[index].then(id_, logprob, id_ in tokenizer.ends)
            forced = length <= len(prefixes[index])
            state = FINISHED if new.finished else LIVE
            branches.append(Branch(index, new, state, forced, None if forced else drawn.get(index)))
        grown = {branch.parent: branch.hypothesis for branch in branches}
        read, rows = rows, tuple(grown.get(index, row) for index, row in enumerate(rows))
        yield SearchStep(read, logprobs, tuple(branches), rows)
        if all(row.finished or length >= limits[i] for i, row in enumerate(rows)):
            return
        reader.append(ids)


def write(
    reader: Reader,
    tokenizer: Ends,
    limits: Sequence[int],
    draws: Sequence[Draw | None],
    prefixes: Sequence[Sequence[int]],
) -> list[tuple[int, ...]]:
    """Return the ids that `sample` of this file writes; the arguments are the same.

    Rows that have ended leave the batch.
    """
    rows = list(range(len(limits)))  # the rows still in the batch
    dice, written = Dice(draws), [list[int]() for _ in rows]
    for length in range(max(limits)):
        ids, _ = dice.throw(reader.logprobs())
        chosen = ids.tolist()
        for place, row in enumerate(rows):
            if length < len(prefixes[row]):
                chosen[place] = prefixes[row][length]
            written[row].append(chosen[place])
        going = [
            place
            for place, row in enumerate(rows)
            if chosen[place] not in tokenizer.ends and length + 1 < limits[row]
        ]
        if not going:
            break
        if len(going) < len(rows):
            rows, chosen = [rows[place] for place in going], [chosen[place] for place in going]
            reader.keep(torch.tensor(going, device=ids.device))
            dice.keep(going)
        reader.append(torch.tensor(chosen, device=ids.device))
    return [tuple(ids) for ids in written]
