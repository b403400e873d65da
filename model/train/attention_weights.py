"""A tap that keeps attention weights with their gradients, for losses that depend on them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from torch import Tensor

from model.trace.tensor_tap import Tap


@dataclass
class AttentionWeights(Tap):
    """Keeps the weights (B, H, N, M) of every attention, layer by layer.

    `found` has them by stack and kind: `encoder.self`, `decoder.self`, `decoder.cross`.
    """

    path: tuple[str, ...] = ()
    found: defaultdict[str, list[Tensor]] = field(default_factory=lambda: defaultdict(list))

    def at(self, place: str, **over: str) -> Tap:
        return AttentionWeights((*self.path, place), self.found)

    def __call__(self, name: str, value: Tensor, dims: tuple[str, ...]) -> Tensor:
        if name == "weights":
            self.found[f"{self.path[0]}.{self.path[-1]}"].append(value)
        return value
