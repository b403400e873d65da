"""Which parts matter: change each once, and score the output text again.

For a row t that predicts the token y_t, where p is the model's next-token distribution and p' the
distribution with the change:

    delta_t      = log p'(y_t) − log p(y_t)
    divergence_t = KL(p ‖ p') = Σ_y p(y) (log p(y) − log p'(y))
    contrast_t   = log p'(y_t) / p'(z_t) − log p(y_t) / p(z_t)

in nats; z_t is the token that is contrasted with y_t. A head or a sublayer is ablated, or a tensor
is patched from another run. Of two heads that are ablated together,

    interaction_t = delta_t(both) − delta_t(one) − delta_t(other)

is below 0 if each stands in for the other: both together cost more than the sum. With the
distribution q of the run that a patch is taken from,

    recovered_t  = contrast_t / (log q(y_t) / q(z_t) − log p(y_t) / p(z_t))

is the share of the difference between both runs that the patch makes: 1 if it makes all of it.

All rows read the same target (teacher forcing), so a row shows the effect of a change on this
token, not on the tokens before it. A model of one text is scored on the tokens of its text and on
what continues it, a masked language model on the words at its masks.

Sources: Michel et al. 2019, "Are Sixteen Heads Really Better than One?", section 3.2 (one head at a
time; they report BLEU); Wang et al. 2023, "Interpretability in the Wild", section 3 (patches, and
the difference of two logits).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import torch
from torch import Tensor

from model.adapters import sweep_changes
from model.adapters.requests.adapter_interface import Adapter
from model.adapters.requests.model_info import ModelInfo
from model.adapters.requests.request import Patch, Request
from model.adapters.requests.trace import Trace
from model.adapters.requests.validate import check_range
from model.adapters.sweep_changes import (
    Change,
    Rows,
    Second,
    changes,
    counterparts,
    interaction,
    paired,
)
from model.errors import InputError
from model.text.tokens import Token
from model.trace.interventions import Intervention
from model.trace.tensor_names import LOGITS

TOKENS = 768  # in one run at most, about as many as in a batch of some long sentences
LOGITS_KEPT = 40_000_000  # in one run at most: some models have 250,000 tokens
SAME = 0.01  # nats: if the contrasts of two runs differ less, there is nothing to recover
CANDIDATES = 5  # most probable tokens of each run that a written token may be contrasted with


@dataclass(frozen=True)
class Ablation:
    """The effect of one change, one number per row."""

    at: str
    head: int | None
    delta: tuple[float, ...]
    divergence: tuple[float, ...]
    contrast: tuple[float, ...]
    recovered: tuple[float | None, ...] | None = None  # of a patch; of a row None: no difference
    token: int | None = None  # our row, if only one is changed
    also: Second | None = None  # of a pair: the second head
    interaction: tuple[float, ...] | None = None  # delta of the pair − those of both alone


@dataclass(frozen=True)
class OtherRun:
    """The run that a patch takes its values from."""

    trace: Trace
    contrast: tuple[float | None, ...]  # of the same tokens as in the base run; None: no such row
    pairs: Mapping[str, Rows]  # of each text: its rows, and those here that they replace


@dataclass(frozen=True)
class Sweep:
    """The effects of all changes, in order; the model runs each batch on demand."""

    base: Trace  # with only the request's own interventions
    rows: tuple[int, ...]  # the reported rows
    changes: int  # how many there are
    batches: Iterator[list[Ablation]]
    against: tuple[Token, ...]  # of each reported row, the token contrasted with the written one
    contrast: tuple[float, ...]  # log p(written) / p(against)
    candidates: tuple[tuple[Token, ...], ...]  # for each row, others that are probable in a run
    other: OtherRun | None = None


def check(
    adapter: Adapter,
    request: Request,
    effect: str | Patch,
    over: str = "heads",
    against: int | None = None,
    among: Sequence[str] | None = None,
) -> None:
    """Raise `InputError` for a request that cannot be swept. Runs no model."""
    adapter.info.require("sweep", "model")
    adapter.check(request)
    sweep_changes.check(adapter, request, effect, over, among)
    if against is not None:
        check_range("against", against, 0, adapter.info.vocabulary - 1)


def sweep(
    adapter: Adapter,
    request: Request,
    effect: str | Patch = "zero",
    row: int | None = None,
    over: str = "heads",
    against: int | None = None,
    among: Sequence[str] | None = None,
) -> Sweep:
    """Make each change once, several at a time, on top of the request's interventions.

    `effect` is done to each head, or, with `over` "pairs", to each head and each pair of heads of
    the attentions that match the patterns in `among` (None: all); "zero" also to each sublayer. Or
    it is a patch, made at each part named by `over`: heads, sublayers, or layers and positions. A
    patch without a target reads what this run writes.
    `against` is the id of the token that the written one is contrasted with; by default the other
    run's most probable token if that is another one, else this run's second choice.

    Without a target, the model decodes one first. Raises `InputError` as `check` does, and for a
    row that does not exist.
    """
    check(adapter, request, effect, over, against, among)
    logits = next(name for name in adapter.names if name.endswith(LOGITS))
    [base] = adapter.run([replace(request, select=(logits,), summarise=(), pad_to=None)])
    if base.written is None:
        detail = f"text must contain {adapter.info.mask}: its word is what the heads are scored on"
        raise InputError("no-mask", adapter.info.texts[0], detail)
    output = base.output
    if row is not None:
        check_range("row", row, 0, len(output.tokens) - 1)
    rows = tuple(range(len(output.tokens))) if row is None else (row,)
    # The exact ids: tokenizing the text again could give others.
    written = tuple(token.id for token in output.tokens[output.continues :])
    decode = replace(request.decode, prefix=written, max_tokens=len(written))
    forced = replace(base.request, target=None, decode=decode)
    donor = theirs = None
    before = Written.of(base, rows)
    if isinstance(effect, Patch):
        if effect.request.target is None:
            effect = replace(effect, request=replace(effect.request, decode=decode))
        donor = _other(adapter, replace(effect.request, select=(logits,)))
        pairs = paired(effect, donor, base)
        tokens = paired(replace(effect, rows=None), donor, base)[adapter.info.texts[0]]
        donor_rows = counterparts(base, donor, (*tokens, *(effect.rows or ())), rows)
        theirs = _logits_at(donor, donor_rows, before)
    ids = _against(before, theirs, against)
    donor_run = None
    if donor is not None and theirs is not None:
        odds = before.contrast_in(theirs, ids).tolist()
        contrasts = tuple(
            None if row is None else odd for row, odd in zip(donor_rows, odds, strict=True)
        )
        donor_run = OtherRun(donor, contrasts, pairs)
    planned = list(changes(adapter, effect, over, donor_run.pairs if donor_run else {}, among))
    return Sweep(
        base,
        rows,
        len(planned),
        _effects(adapter, forced, Measure(base, rows, before, ids, donor_run), planned),
        tuple(adapter.token(id_) for id_ in ids.tolist()),
        tuple(before.contrast_in(before.logits, ids).tolist()),
        tuple(tuple(map(adapter.token, row)) for row in _candidates(before, theirs)),
        donor_run,
    )


def at_once(info: ModelInfo, tokens: float) -> int:
    """Return the number of heads to ablate in one run over this many tokens."""
    rows = min(TOKENS, LOGITS_KEPT // info.vocabulary)
    return max(1, int(rows // max(1.0, tokens)))


def _other(adapter: Adapter, request: Request) -> Trace:
    """Run the sentence of a patch, with its logits."""
    [trace] = adapter.run([replace(request, summarise=(), interventions=(), pad_to=None)])
    return trace


def _logits_at(donor: Trace, donor_rows: Sequence[int | None], before: Written) -> Tensor:
    """Return the other run's logits (rows, V) there, and this run's where it has no such row."""
    logits = _logits(donor, [row or 0 for row in donor_rows])
    has = torch.tensor([row is not None for row in donor_rows])
    return torch.where(has[:, None], logits, before.logits)


def _against(before: Written, theirs: Tensor | None, against: int | None) -> Tensor:
    """Return the id of the token that each row's is contrasted with (rows,)."""
    ids = before.ids[:, 0]
    if against is not None:
        return torch.full_like(ids, against)
    second = before.logits.scatter(1, before.ids, -torch.inf).argmax(-1)
    if theirs is None:
        return second
    best = theirs.argmax(-1)
    return torch.where(best == ids, second, best)


def _candidates(before: Written, theirs: Tensor | None) -> Iterator[list[int]]:
    """Yield for each row the ids most probable in the other run, then here, without the written."""
    runs = [before.logits] if theirs is None else [theirs, before.logits]
    count = min(CANDIDATES + 1, before.logits.shape[-1])  # the written one may be among them
    best = [logits.topk(count, dim=-1).indices.tolist() for logits in runs]
    for written, *rows in zip(before.ids[:, 0].tolist(), *best, strict=True):
        best_others = [[id_ for id_ in row if id_ != written][:CANDIDATES] for row in rows]
        yield list(dict.fromkeys(id_ for row in best_others for id_ in row))


@dataclass(frozen=True, eq=False)
class Measure:
    """What effects are measured against."""

    base: Trace
    rows: Sequence[int]
    before: Written
    against: Tensor  # (rows,), ids
    other: OtherRun | None

    def effect(self, change: Change, trace: Trace, chances: Tensor) -> Ablation:
        """Return the effect of a change; `chances` (rows, V) are the probabilities before."""
        before, after = self.before, Written.of(trace, self.rows)
        # Σ p = 1, so the normalisers can be taken out of the sum, without a second softmax.
        lost = torch.linalg.vecdot(chances, before.logits - after.logits)
        divergence = lost - (before.normaliser - after.normaliser)[:, 0]
        delta = after.chosen - before.chosen
        contrast_before = before.contrast_in(before.logits, self.against)
        contrast = before.contrast_in(after.logits, self.against) - contrast_before
        return Ablation(
            change.made.at,
            change.made.head,
            tuple(delta.tolist()),
            tuple(divergence.clamp(min=0).tolist()),
            tuple(contrast.tolist()),
            None if self.other is None else self._shares(contrast, contrast_before, self.other),
            change.token,
        )

    @staticmethod
    def _shares(
        contrast: Tensor, contrast_before: Tensor, other: OtherRun
    ) -> tuple[float | None, ...]:
        whole = [
            0.0 if donor is None else donor - base
            for donor, base in zip(other.contrast, contrast_before.tolist(), strict=True)
        ]
        return tuple(
            part / all_ if abs(all_) >= SAME else None
            for part, all_ in zip(contrast.tolist(), whole, strict=True)
        )


def _effects(
    adapter: Adapter, forced: Request, measure: Measure, planned: Sequence[Change]
) -> Iterator[list[Ablation]]:
    chances = measure.before.logprobs().exp()
    batch = at_once(adapter.info, sum(map(len, measure.base.texts.values())))
    remaining = iter(planned)
    alone: dict[Intervention, tuple[float, ...]] = {}  # the effects of single heads, for pairs
    while group := list(islice(remaining, batch)):
        requests = [
            replace(forced, interventions=(*forced.interventions, *change.all)) for change in group
        ]
        effects = []
        for change, trace in zip(group, adapter.run(requests), strict=True):
            effect = measure.effect(change, trace, chances)
            if change.also is None:
                alone[change.made] = effect.delta
            else:
                together = interaction(effect.delta, alone[change.made], alone[change.also])
                effect = replace(
                    effect, also=Second(change.also.at, change.also.head), interaction=together
                )
            effects.append(effect)
        yield effects


def _logits(trace: Trace, rows: Sequence[int]) -> Tensor:
    """Return the logits of the reported rows (rows, V)."""
    [logits] = (tensor.value for tensor in trace.tensors.values())
    logit_rows = [trace.output.row(row) for row in rows]
    return logits if logit_rows == list(range(len(logits))) else logits[logit_rows]


@dataclass(frozen=True, eq=False)
class Written:
    """The reported rows' logits (rows, V), and the log-probabilities of their tokens."""

    rows: Sequence[int]
    logits: Tensor
    ids: Tensor  # (rows, 1)
    chosen: Tensor  # (rows,)
    normaliser: Tensor  # (rows, 1), log Σ exp of the logits

    @classmethod
    def of(cls, trace: Trace, rows: Sequence[int]) -> Written:
        logits = _logits(trace, rows)
        chosen = torch.tensor([trace.output.logprobs[row] for row in rows])
        ids = torch.tensor([[trace.output.tokens[row].id] for row in rows])
        return cls(rows, logits, ids, chosen, logits.gather(1, ids) - chosen[:, None])

    def logprobs(self) -> Tensor:
        """Return the log-probability of every token (rows, V)."""
        return self.logits - self.normaliser

    def contrast_in(self, logits: Tensor, against: Tensor) -> Tensor:
        """Return log p(written) / p(against) (rows,) in a run with these logits (rows, V)."""
        return (logits.gather(1, self.ids) - logits.gather(1, against[:, None]))[:, 0]
