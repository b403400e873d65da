"""Sampling tokens from the model's distribution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


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
