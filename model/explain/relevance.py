"""How much the translation's log-probability depends on each attention weight.

    relevance = ∂ log P(target | source) / ∂A ⊙ A

with log P summed over all rows that predict a token. To first order, this is how much log P would
fall if this weight alone were zero, without renormalising and including all later layers. The
approximation is good only for small weights. One backward pass gives all heads of all layers.

Source: Barkan et al. 2021, Grad-SAM; Chefer et al. 2021, Generic Attention-model Explainability,
section 3. Both keep the positive part and average over the heads; here every head keeps its own
values with their sign.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from model.explain import logit_lens
from model.explain.logit_lens import others
from model.progress import go_on
from model.trace.tensor_names import INSIDE
from model.trace.tensor_tap import HEAD, KEY, QUERY, SOURCE, TARGET, BatchTap, Recorder, Tap

RELEVANCE = f"{INSIDE}relevance."


@dataclass(frozen=True)
class TokenBatch:
    """Ids and masks that are true for real tokens: (B, S) and (B, T)."""

    source: Tensor
    source_real: Tensor
    target: Tensor
    target_real: Tensor

    def row(self, index: int, lengths: Mapping[str, int]) -> TokenBatch:
        """Return one row, cut to its own lengths: a batch of one."""
        sides = {SOURCE: (self.source, self.source_real), TARGET: (self.target, self.target_real)}
        parts = [part[index : index + 1, : lengths[side]] for side in sides for part in sides[side]]
        return TokenBatch(*parts)

    def copy(self) -> TokenBatch:
        """Return a copy made outside inference mode, so that gradients can pass."""
        parts = (self.source, self.source_real, self.target, self.target_real)
        return TokenBatch(*(part.clone() for part in parts))


@dataclass(frozen=True)
class Held:
    """The weights (1, H, N, M) of a run, the zero that was added to them, and their axes."""

    weights: Tensor
    probe: Tensor
    over: dict[str, str]


class Probes(Tap):
    """A tap around another one that keeps a handle on all weights by place."""

    def __init__(
        self,
        inner: Tap,
        probes: dict[str, Held],
        place: str = "",
        over: dict[str, str] | None = None,
    ) -> None:
        self.inner = inner
        self.held = probes
        self.place = place
        self.over = over or {}

    def at(self, place: str, **over: str) -> Tap:
        name = f"{self.place}.{place}" if self.place else place
        return Probes(self.inner.at(place, **over), self.held, name, {**self.over, **over})

    def __call__(self, name: str, value: Tensor, dims: tuple[str, ...]) -> Tensor:
        value = self.inner(name, value, dims)
        if name != "weights":
            return value
        probe = torch.zeros_like(value, requires_grad=True)
        value = value + probe
        self.held[self.place] = Held(value, probe, self.over)
        return value


def names(places: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the tensors with the relevance of the attentions at these places, with their dims."""
    return {f"{RELEVANCE}{place}": (HEAD, QUERY, KEY) for place in places}


def relevance(
    run: Callable[[Tap], Tensor],
    recorder: Recorder,
    written: Sequence[int],
) -> None:
    """Add the relevance (H, N, M) of every attention to a recorder, from a separate run.

    `run` runs this request alone, to limit the memory of intermediate results, and returns its
    logits (1, T, V); its attentions pass through the tap, which makes the recorder's interventions.
    Row i predicts `written[i]`. Without a selected tensor that needs it, nothing is run.
    """
    changing = Recorder((), recorder.lengths, recorder.own, recorder.interventions)
    probes: dict[str, Held] = {}
    whole = any(name.startswith(RELEVANCE) for name in recorder.select)
    rows = [row for row, _ in logit_lens.selected_contrasts(recorder.select, rows=True)]
    if not (whole or rows):
        return
    with torch.inference_mode(False), torch.enable_grad():
        logits = run(Probes(BatchTap([changing]), probes))[0, : len(written)]
        ends = {RELEVANCE.removesuffix("."): _logprob(logits, written)} if whole else {}
        for row in rows:
            if row.row is not None and row.row < len(written):
                ends[row.name("").removesuffix(".")] = _log_odds(logits, written, row.row, row.id)
        for name, end in ends.items():
            _record(f"{name}.", end, probes, recorder, retain=name != next(reversed(ends)))
    for row, parts in logit_lens.selected_contrasts(recorder.select, rows=True):
        for place in parts:  # a row that was not written has no numbers
            if row.name(place) not in recorder.tensors:
                nothing = torch.full_like(probes[place].weights[0].detach(), torch.nan)
                recorder.record(row.name(place), nothing, (HEAD, QUERY, KEY), probes[place].over)


def _logprob(logits: Tensor, written: Sequence[int]) -> Tensor:
    """Return log P of all written tokens, given logits (T, V)."""
    return logits.log_softmax(dim=-1)[range(len(written)), list(written)].sum()


def _log_odds(logits: Tensor, written: Sequence[int], row: int, id_: int | None) -> Tensor:
    """Return log p(w) / p(z) in a row, for the token z of an id or the most probable other one."""
    against = others(logits.detach(), written, id_)
    return logits[row, written[row]] - logits[row, against[row]]


def _record(
    prefix: str, end: Tensor, probed: Mapping[str, Held], recorder: Recorder, *, retain: bool
) -> None:
    """Record gradient × attention of a number, of every attention."""
    go_on()
    probes = [held.probe for held in probed.values()]
    gradients = torch.autograd.grad(end, probes, retain_graph=retain)
    for (place, held), gradient in zip(probed.items(), gradients, strict=True):
        value = (gradient * held.weights.detach())[0]
        recorder.record(f"{prefix}{place}", value, (HEAD, QUERY, KEY), held.over)
