"""Changing the machine: an intervention replaces a named tensor while the model runs.

An effect is a function of the tensor of one request, without the batch axis, and one line in
`EFFECTS` that says which tensors it acts on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Effect:
    """What is put in the place of a tensor, and how a request says which one it means.

    With `heads`, `at` names an attention and `tensor` is what changes there, in one head or in
    all. Without, `at` names the tensor itself, and `tensor` is the last part of its name.
    """

    tensor: str
    change: Callable[[Tensor], Tensor]
    heads: bool = True

    def places(self, names: Iterable[str]) -> set[str]:
        """What `at` may say in a model that records `names`."""
        end = f".{self.tensor}"
        found = {name for name in names if name.endswith(end)}
        return {name.removesuffix(end) for name in found} if self.heads else found


EFFECTS: dict[str, Effect] = {
    # No weight, so the head mixes nothing and W_O adds nothing for it.
    "zero": Effect("weights", torch.zeros_like),
    # Equal scores: the mask and the softmax then spread the weight over the keys allowed.
    "uniform": Effect("scores", torch.zeros_like),
    # Nothing is added to the embeddings, so the model is not told where a token stands.
    "drop": Effect("position", torch.zeros_like, heads=False),
}


@dataclass(frozen=True)
class Intervention:
    """Does `do` (a key of `EFFECTS`) `at` a place: to one of its heads, or to all of it."""

    at: str  # "encoder.1.self"; "source.position"
    do: str
    head: int | None = None

    def __call__(self, name: str, value: Tensor) -> Tensor:
        """`value` ((head, query, key), or (query, feature)), changed if it is the tensor meant.

        Returns `value` itself, not a copy, where there is nothing to change.
        """
        effect = EFFECTS[self.do]
        if name != (f"{self.at}.{effect.tensor}" if effect.heads else self.at):
            return value
        if self.head is None:
            return effect.change(value)
        changed = value.clone()
        changed[self.head] = effect.change(value[self.head])
        return changed
