"""Changing the machine: an intervention replaces a named tensor while the model runs.

An effect is a function of the tensor of one request, without the batch axis, and one line in
`EFFECTS` that says at which tensor of a place it acts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

Effect = Callable[[Tensor], Tensor]

EFFECTS: dict[str, tuple[str, Effect]] = {
    # No weight, so the head mixes nothing and W_O adds nothing for it.
    "zero": ("weights", torch.zeros_like),
    # Equal scores: the mask and the softmax then spread the weight over the keys allowed.
    "uniform": ("scores", torch.zeros_like),
}


@dataclass(frozen=True)
class Intervention:
    """Does `do` (a key of `EFFECTS`) to one head, or to all, of the attention `at` a place."""

    at: str  # "encoder.1.self"
    do: str
    head: int | None = None

    def __call__(self, name: str, value: Tensor) -> Tensor:
        """`value` (head, query, key), changed if `name` is the tensor that this acts on.

        Returns `value` itself, not a copy, where there is nothing to change.
        """
        tensor, effect = EFFECTS[self.do]
        if name != f"{self.at}.{tensor}":
            return value
        if self.head is None:
            return effect(value)
        changed = value.clone()
        changed[self.head] = effect(value[self.head])
        return changed
