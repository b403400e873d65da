"""Decoding with a model of `transformers`, by this project's own search algorithms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache, EncoderDecoderCache

from model.adapters.request import Decode
from model.decode.beam_search import beam
from model.decode.sampling import Draw
from model.decode.search import Ends, Predictor, sample
from model.decode.steps import SearchStep
from model.trace.tensor_tap import BatchTap, Recorder, Tap

# New ids (B, n), the number of all tokens, a tap and a cache -> logits of the next token (B, V).
Next = Callable[[Tensor, int, Tap, Any], Tensor]


class Writer(Predictor):
    """Reads a text token by token; `first` may be written first even if it is in `never`.

    With a cache, keys and values of earlier tokens are kept, and a step computes only the new ones.
    Without one it reads the whole text again.
    """

    def __init__(
        self,
        next_: Next,
        ids: Sequence[int],
        recorder: Recorder,
        never: Tensor,
        cache: Any = None,
        first: int | None = None,
    ) -> None:
        self.next = next_
        self.recorder = recorder
        self.never = never
        self.cache = cache
        self.first = first
        self.begun = len(ids)
        self.read = torch.tensor([list(ids)], device=never.device)
        self.known = 0  # tokens in the cache

    def logprobs(self) -> Tensor:
        length = self.read.shape[1]
        tap = BatchTap([self.recorder] * len(self.read)).begin(self.known)
        with torch.inference_mode():
            new = self.read[:, self.known :]
            logits = self.next(new, length, tap, self.cache).float()
        if self.cache is not None:
            self.known = length
        # Not renormalised without the forbidden ids: probabilities equal those of the trace.
        logprobs = logits.log_softmax(-1)
        found = logprobs.index_fill(1, self.never, -torch.inf)
        if self.first is not None and length == self.begun:
            found[:, self.first] = logprobs[:, self.first]
        return found

    def append(self, ids: Tensor, rows: Tensor | None = None) -> None:
        if rows is not None:
            self.read = self.read[rows]
            if self.cache is not None and self.known:
                self.cache.reorder_cache(rows)
        self.read = torch.cat([self.read, ids[:, None]], dim=1)


def new_cache(two_texts: bool) -> Any:
    """Return an empty cache that keeps all keys, even those outside a sliding window.

    Otherwise the columns of a step would not be the text's tokens.
    """
    if two_texts:
        return EncoderDecoderCache(DynamicCache(), DynamicCache())
    return DynamicCache()


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
