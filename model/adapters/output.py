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
    continues: int = 0
    """Index of the first token that continues the text, for a model that reads one text; the
    tokens before it are those of the text."""
    rows: tuple[int, ...] = ()
    """The row that predicts each token; if empty, row i predicts token i."""

    def row(self, index: int) -> int:
        """Return the row that predicts a token."""
        return self.rows[index] if self.rows else index
