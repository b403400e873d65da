"""Greedy decoding and sampling, as a generator of steps.

`model.decode.beam_search` has beam search. Control tokens other than ``<eos>`` are never written. A
translation may be required to start with a prefix: its tokens are read one by one like any other,
and the search continues from there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import torch
from torch import Tensor

from model.decode.hypotheses import FINISHED, LIVE, Branch, Drawn, Hypothesis, SearchStep
from model.decode.sampling import Dice, Draw
from model.text.tokens import Tokenizer
from model.trace.tensor_tap import NULL, Tap
from model.transformer.cache import Cache
from model.transformer.stacks import Transformer


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
