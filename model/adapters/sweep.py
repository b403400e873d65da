"""Which heads matter: ablate each head once, and score the output text again.

For a row t that predicts the token y_t, where p is the model's next-token distribution and p' the
distribution without the head:

    delta_t      = log p'(y_t) − log p(y_t)
    divergence_t = KL(p ‖ p') = Σ_y p(y) (log p(y) − log p'(y))

both in nats. All rows read the same target (teacher forcing), so a row shows the effect of a head
on this token, not on the tokens before it.

Source: Michel et al. 2019, "Are Sixteen Heads Really Better than One?", section 3.2
(one head at a time; they report BLEU).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal, get_args

import torch
from torch import Tensor

from model.adapters.request import Adapter, Request, Trace
from model.adapters.validate import check_range
from model.errors import InputError
from model.trace.interventions import Intervention
from model.trace.name_patterns import LOGITS

Ablated = Literal["zero", "uniform", "mean"]
ABLATED = get_args(Ablated)
TOKENS = 768  # in one run at most, about as many as in a batch of some long sentences


@dataclass(frozen=True)
class Ablation:
    """The effect of removing a head, one number per row."""

    at: str
    head: int
    delta: tuple[float, ...]
    divergence: tuple[float, ...]


@dataclass(frozen=True)
class Sweep:
    """The effects of all heads, in order; the model runs each batch on demand."""

    base: Trace  # with only the request's own interventions
    rows: tuple[int, ...]  # the reported rows
    heads: int  # number of heads
    batches: Iterator[list[Ablation]]


def check(adapter: Adapter, request: Request, effect: str) -> None:
    """Raise `InputError` for a request that cannot be swept. Runs no model."""
    adapter.info.require("sweep", "model")
    adapter.check(request)
    if effect not in ABLATED:
        raise InputError("unknown-effect", "effect", f"effect must be one of {', '.join(ABLATED)}")
    one = Intervention(adapter.info.places[0], effect, 0)
    try:
        adapter.check(replace(request, interventions=(one,)))
    except InputError as error:
        detail = error.detail.replace(error.field, "effect")
        raise InputError(error.kind, "effect", detail, error.excess) from error


def sweep(
    adapter: Adapter, request: Request, effect: str = "zero", row: int | None = None
) -> Sweep:
    """Ablate each head once, several at a time, on top of the request's interventions.

    Without a target, the model decodes one first. Raises `InputError` as `check` does, and for a
    row that does not exist.
    """
    check(adapter, request, effect)
    logits = next(name for name in adapter.names if name.endswith(LOGITS))
    [base] = adapter.run([replace(request, select=(logits,), summarise=(), pad_to=None)])
    written = tuple(token.id for token in base.output.tokens)
    if row is not None:
        check_range("row", row, 0, len(written) - 1)
    rows = tuple(range(len(written))) if row is None else (row,)
    # The exact ids: tokenizing the text again could give others.
    forced = replace(
        base.request,
        target=None,
        decode=replace(request.decode, prefix=written, max_tokens=len(written)),
    )
    heads = [
        Intervention(attention.place, effect, head)
        for attention in adapter.info.attentions
        for head in range(attention.heads)
    ]
    batches = _ablated(adapter, forced, base, rows, heads)
    return Sweep(base, rows, len(heads), batches)


def _ablated(
    adapter: Adapter,
    forced: Request,
    base: Trace,
    rows: Sequence[int],
    heads: Sequence[Intervention],
) -> Iterator[list[Ablation]]:
    before = Written.of(base, rows)
    chances = before.logprobs().exp()
    batch = max(1, TOKENS // sum(map(len, base.texts.values())))
    left = iter(heads)
    while some := list(islice(left, batch)):
        requests = [replace(forced, interventions=(*forced.interventions, one)) for one in some]
        yield [
            _ablation(one, before, chances, Written.of(trace, rows))
            for one, trace in zip(some, adapter.run(requests), strict=True)
        ]


@dataclass(frozen=True)
class Written:
    """The reported rows' logits (rows, V), and the log-probabilities of their tokens."""

    logits: Tensor
    chosen: Tensor  # (rows,)
    normaliser: Tensor  # (rows, 1), log Σ exp of the logits

    @classmethod
    def of(cls, trace: Trace, rows: Sequence[int]) -> Written:
        [logits] = (tensor.value for tensor in trace.tensors.values())
        if len(rows) < len(logits):
            logits = logits[list(rows)]
        chosen = torch.tensor([trace.output.logprobs[row] for row in rows])
        ids = torch.tensor([[trace.output.tokens[row].id] for row in rows])
        return cls(logits, chosen, logits.gather(1, ids) - chosen[:, None])

    def logprobs(self) -> Tensor:
        """Return the log-probability of every token (rows, V)."""
        return self.logits - self.normaliser


def _ablation(one: Intervention, before: Written, chances: Tensor, after: Written) -> Ablation:
    """Return the effect of one head; `chances` (rows, V) are the probabilities before."""
    assert one.head is not None
    # Σ p = 1, so the normalisers can be taken out of the sum, without a second softmax.
    lost = torch.linalg.vecdot(chances, before.logits - after.logits)
    divergence = lost - (before.normaliser - after.normaliser)[:, 0]
    delta = after.chosen - before.chosen
    return Ablation(
        one.at, one.head, tuple(delta.tolist()), tuple(divergence.clamp(min=0).tolist())
    )
