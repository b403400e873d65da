"""Long passes of this repository's Transformer: q, k and log-sum-exp of every attention."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from model.adapters.long_pass import LongPass
from model.adapters.requests.request import Trace
from model.long.attention import LongAttention
from model.long.flash import Scored, attention
from model.long.rule import Rule
from model.trace.attentions import AttentionInfo
from model.transformer.masks import named
from model.transformer.scoring import SCORINGS

NEEDED = ("*.q", "*.k")


def long_pass(trace: Trace, dtype: torch.dtype) -> LongPass:
    """Return the pass of a trace that recorded `NEEDED`, for a model whose scores are q·k, scaled.

    The trace was run with explicit attention: these models read texts for which that is fast.
    """
    kept = dict(_kept(trace, dtype))
    return LongPass(trace.texts, kept, trace.written, trace.direction)


def _kept(trace: Trace, dtype: torch.dtype) -> Iterator[tuple[str, LongAttention]]:
    for one in trace.model.attentions:
        q, k = (trace[f"{one.place}.{name}"].value for name in ("q", "k"))
        scale = SCORINGS[one.scoring](one.heads, q.shape[-1]).scale
        scored = Scored(_rule(one, q.shape[1], k.shape[1]), scale)
        _, sums = attention(q, k, k, scored)  # the mix is known already
        yield one.place, LongAttention.keep(q, k, sums, scored, one.over, dtype)


def _rule(info: AttentionInfo, queries: int, keys: int) -> Rule:
    mask = named(info.mask)

    def allows(rows: slice, columns: slice) -> Tensor:
        positions = (torch.arange(part.start, part.stop) for part in (rows, columns))
        shape = rows.stop - rows.start, columns.stop - columns.start
        return mask(*positions).expand(shape)

    return Rule(allows, queries, keys)
