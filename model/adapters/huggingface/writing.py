"""Decoding with a model of `transformers`, by this project's own search algorithms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor

from model.adapters.request import Decode
from model.decode.beam_search import beam
from model.decode.sampling import Draw
from model.decode.search import Predictor, sample
from model.decode.steps import SearchStep
from model.trace.tensor_tap import Recorder

# Ids (B, N) and a recorder for each row -> logits of the next token (B, V).
Next = Callable[[Tensor, Sequence[Recorder]], Tensor]


class Rereading(Predictor):
    """Reads the whole text again at each step, so that a step equals the trace bit for bit."""

    def __init__(self, next_: Next, ids: Sequence[int], recorder: Recorder, never: Tensor) -> None:
        self.next = next_
        self.recorder = recorder
        self.never = never
        self.read = torch.tensor([list(ids)], device=never.device)

    def logprobs(self) -> Tensor:
        with torch.inference_mode():
            logits = self.next(self.read, [self.recorder] * len(self.read)).float()
        # Not renormalised without the forbidden ids: probabilities equal those of the trace.
        return logits.log_softmax(-1).index_fill(1, self.never, -torch.inf)

    def append(self, ids: Tensor, rows: Tensor | None = None) -> None:
        read = self.read if rows is None else self.read[rows]
        self.read = torch.cat([read, ids[:, None]], dim=1)


def search(reader: Predictor, ends: Ends, decode: Decode, limit: int) -> Iterator[SearchStep]:
    """Yield the steps of the search that `decode` selects."""
    if decode.method == "beam":
        return beam(reader, ends, limit, decode.beam, decode.length_penalty, decode.prefix)
    draw = (
        Draw(decode.temperature, decode.top_k, decode.top_p, decode.seed)
        if decode.method == "sample"
        else None
    )
    return sample(reader, ends, [limit], [draw], [decode.prefix])


class Ends:
    """The token that ends a text; None for a model without one."""

    def __init__(self, eos: int | None) -> None:
        self.eos = -1 if eos is None else eos
