"""Measures the importance of each head: by how much the loss rises without it.

A head's `mix` is replaced by zeros, or by its mean (see `model.measure.mean_outputs`). The measure
is the cross-entropy of given translations, in nats per target token.


Source: Michel et al. 2019, Are Sixteen Heads Really Better than One?, section 3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from torch import Tensor

from model.measure.mean_outputs import MIX
from model.trace.tensor_tap import Tap
from model.train.data import TokenBatch
from model.train.loss import dev_loss
from model.transformer.stacks import Transformer


class Instead(Tap):
    """Replaces one head's mix at one attention by `value` (d_k), at every position."""

    def __init__(self, attention: str, head: int, value: Tensor, place: str = "") -> None:
        self.attention = attention
        self.head = head
        self.value = value
        self.place = place

    def at(self, place: str, **over: str) -> Tap:
        inner = f"{self.place}.{place}" if self.place else place
        return Instead(self.attention, self.head, self.value, inner)

    def __call__(self, name: str, value: Tensor, dims: tuple[str, ...]) -> Tensor:
        if name != MIX or self.place != self.attention:
            return value
        value = value.clone()
        value[:, self.head] = self.value
        return value


def costs(
    model: Transformer, batches: Sequence[TokenBatch], instead: Mapping[str, Tensor]
) -> Iterator[tuple[str, int, float]]:
    """Yield attention, head, and the rise of the loss with `instead`, (H, d_k) by attention."""
    whole = dev_loss(model, batches)
    for attention, values in instead.items():
        for head, value in enumerate(values):
            tap = Instead(attention, head, value)
            yield attention, head, dev_loss(model, batches, tap=tap) - whole
