"""The output of a row, with the probability of each token."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import torch
from torch import Tensor

from model.adapters.output import Output
from model.decode.steps import Hypothesis
from model.text.tokens import Token

ROWS = 16  # of logits at a time: few enough for the processor's cache


def scored(
    text: str,
    tokens: Sequence[Token],
    logits: Tensor,
    ends: Collection[int],
    length_penalty: float,
) -> Output:
    """Return the output of a row that wrote `tokens`, given all logits (T, V).

    It is finished if its last token is one of `ends`. Log-probabilities will do as well as logits.
    No second tensor of that size is made.
    """
    ids = [token.id for token in tokens]
    found = [
        _of(rows, torch.tensor(own, device=rows.device))
        for rows, own in zip(torch.split(logits[: len(ids)], ROWS), _parts(ids), strict=True)
    ]
    chosen = tuple(one for logprobs, _ in found for one in logprobs.tolist())
    ranks = tuple(one for _, ranks in found for one in ranks.tolist())
    hypothesis = Hypothesis(tuple(ids), chosen, bool(ids) and ids[-1] in ends)
    score = hypothesis.score(length_penalty)
    return Output(text, tuple(tokens), chosen, ranks, score, hypothesis.finished)


def _parts(ids: Sequence[int]) -> list[Sequence[int]]:
    return [ids[start : start + ROWS] for start in range(0, len(ids), ROWS)]


def _of(logits: Tensor, ids: Tensor) -> tuple[Tensor, Tensor]:
    """Return the log-probability and the rank (T,) of each row's id, given logits (T, V)."""
    precise = torch.promote_types(logits.dtype, torch.float32)
    logprobs = logits.log_softmax(-1, dtype=precise)
    chosen = logprobs.gather(1, ids[:, None])
    return chosen[:, 0], 1 + (logprobs > chosen).sum(-1)
