"""The output of a row, with the probability of each token."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from torch import Tensor

from model.adapters.output import Output
from model.decode.steps import Hypothesis
from model.text.tokens import Token


def scored(
    text: str, tokens: Sequence[Token], logprobs: Tensor, eos: int | None, length_penalty: float
) -> Output:
    """Return the output of a row that wrote `tokens`, given all log-probabilities (T, V)."""
    ids = [token.id for token in tokens]
    chosen = tuple(logprobs[range(len(ids)), ids].tolist())
    hypothesis = Hypothesis(tuple(ids), chosen, bool(ids) and ids[-1] == eos)
    above = logprobs[: len(ids)].numpy() > np.array(chosen, np.float32)[:, None]
    ranks = tuple((1 + np.count_nonzero(above, axis=-1)).tolist())
    score = hypothesis.score(length_penalty)
    return Output(text, tuple(tokens), chosen, ranks, score, hypothesis.finished)
