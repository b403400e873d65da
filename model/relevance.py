"""How much the translation's log-probability hangs on each weight of attention.

    relevance = ∂ log P(target | source) / ∂A ⊙ A

with log P summed over all rows that write a token. To first order it is what log P would lose if
this weight alone were zero, all later layers included and nothing renormalised: an approximation
wherever the weight is not small. One backward pass gives all heads of all layers.

Source: Barkan et al. 2021, Grad-SAM; Chefer et al. 2021, Generic Attention-model Explainability,
section 3. Both keep the positive part and take the mean of all heads; here every head has its own
with its sign.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from model.select import INSIDE
from model.trace import HEAD, KEY, QUERY, BatchTap, Recorder, Tap
from model.transformer import Transformer


@dataclass(frozen=True)
class Batch:
    """Ids and where they are no padding: (B, S) and (B, T)."""

    source: Tensor
    source_real: Tensor
    target: Tensor
    target_real: Tensor

    def rows(self, chosen: Sequence[int]) -> Batch:
        """Some of the batch's rows."""
        where = torch.tensor(chosen, device=self.source.device)
        return Batch(*(part[where] for part in self._parts()))

    def own(self) -> Batch:
        """A copy that gradients may pass, made outside of inference mode."""
        return Batch(*(part.clone() for part in self._parts()))

    def _parts(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        return self.source, self.source_real, self.target, self.target_real


@dataclass(frozen=True)
class Held:
    """The weights (B, H, N, M) that were used, a zero that was added to them, and their axes."""

    weights: Tensor
    probe: Tensor
    over: dict[str, str]


class Probes(Tap):
    """What another tap makes of every tensor, with a handle on all weights by their place."""

    def __init__(
        self, inner: Tap, held: dict[str, Held], place: str = "", over: dict[str, str] | None = None
    ) -> None:
        self.inner = inner
        self.held = held
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


def relevance(
    model: Transformer,
    batch: Batch,
    recorders: Sequence[Recorder],
    written: Sequence[Sequence[int]],
) -> None:
    """Hands each recorder the relevance (H, N, M) of every attention, in a run of its own.

    The run has the recorders' interventions; row i of the b-th target writes `written[b][i]`.
    """
    changing = [Recorder((), one.lengths, one.interventions) for one in recorders]
    held: dict[str, Held] = {}
    with torch.inference_mode(False), torch.enable_grad():
        own = batch.own()
        logits = model(
            own.source,
            own.target,
            own.source_real,
            own.target_real,
            Probes(BatchTap(changing), held),
        )
        logprobs = logits.log_softmax(dim=-1)
        total = torch.stack(
            [logprobs[row, range(len(ids)), list(ids)].sum() for row, ids in enumerate(written)]
        ).sum()
        gradients = torch.autograd.grad(total, [one.probe for one in held.values()])
    for (place, one), gradient in zip(held.items(), gradients, strict=True):
        values = gradient * one.weights.detach()
        for recorder, value in zip(recorders, values, strict=True):
            recorder.record(f"{INSIDE}relevance.{place}", value, (HEAD, QUERY, KEY), one.over)
