"""The output of a run."""

from __future__ import annotations

from dataclasses import dataclass

from model.text.tokens import Token


@dataclass(frozen=True)
class Output:
    """The text that was decoded or scored, with one log-probability (nats) per token."""

    text: str
    tokens: tuple[Token, ...]
    logprobs: tuple[float, ...]
    ranks: tuple[int, ...]
    """Rank of each token in the whole vocabulary, from 1."""
    score: float
    """Sum of `logprobs` divided by the length penalty."""
    finished: bool
    """Whether the output ends in `<eos>`."""
