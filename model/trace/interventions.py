"""Interventions: replace a named tensor while the model runs.

An effect is one line in `EFFECTS`: the tensors that it acts on, and a function of such a tensor of
one request, without the batch axis. This module applies it to the right heads and requests, in
order.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from model.number_ranges import Probability
from model.trace.attentions import Attentions, read_whole

HEADS, TENSOR, ORDER, TEXT = "heads", "tensor", "order", "text"  # kinds of an effect's `at`


@dataclass(frozen=True)
class Scene:
    """The context of an effect, besides the tensor that it changes.

    `queries` and `keys` are the numbers of the request's own tokens on the two axes, without
    padding (None: no padding), so that the result does not depend on the padding of the batch.
    """

    start: int = 0  # the position of the first query: with a cache, only new rows are computed
    queries: int | None = None
    keys: int | None = None
    text: str | None = None  # the text that the key axis follows
    seen: Mapping[str, Tensor] = field(default_factory=dict)  # tensors computed before it, by name


Change = Callable[[Tensor, Any, Scene], Tensor]


@dataclass(frozen=True)
class Effect:
    """A replacement for a tensor, and how a request refers to it.

    `tensors` are patterns of names. `at` can be:

    HEADS   an attention; `change` gets one head of its tensor, or all of them
    TENSOR  the full name of a tensor
    ORDER   the same, only for a text that is complete at the start: only its order can change
    TEXT    a text: all of these tensors whose keys are its tokens
    """

    tensors: tuple[str, ...]
    change: Change
    at: str = HEADS

    @property
    def heads(self) -> bool:
        """Whether the effect can be applied to one head."""
        return self.at == HEADS

    def places(self, names: Iterable[str], attentions: Attentions) -> set[str]:
        """Return the valid values of an intervention's `at` in a model that records `names`."""
        if self.at == TEXT:
            return {one.key for one in attentions}
        found = {name for name in names if self._acts_on(name)}
        if self.at == ORDER:
            return found & {f"{text}.position" for text in read_whole(attentions)}
        return {name.rpartition(".")[0] for name in found} if self.heads else found

    def means(self, name: str, at: str, keys: str | None) -> bool:
        """Return whether `at` refers to the tensor `name` with a key axis over the text `keys`."""
        if not self._acts_on(name):
            return False
        if self.at == TEXT:
            return at == keys
        return at == (name.rpartition(".")[0] if self.heads else name)

    def _acts_on(self, name: str) -> bool:
        return any(fnmatchcase(name, pattern) for pattern in self.tensors)


def _nothing(value: Tensor, _: Any, __: Scene) -> Tensor:
    return torch.zeros_like(value)


def _cooled(scores: Tensor, temperature: float, _: Scene) -> Tensor:
    return scores / temperature


def _cut(scores: Tensor, edge: tuple[int, int], scene: Scene) -> Tensor:
    """Remove an edge: the softmax gives −∞ no weight and spreads it over the other keys."""
    row, key = edge[0] - scene.start, edge[1]
    if not 0 <= row < scores.shape[-2] or key >= scores.shape[-1]:
        return scores
    scores = scores.clone()
    scores[..., row, key] = -torch.inf
    return scores


@dataclass(frozen=True)
class Cell:
    """A weight to set. With `renormalise`, the rest of its row is scaled so that it sums to 1."""

    query: int
    key: int
    value: Probability
    renormalise: bool = False


def _set(weights: Tensor, cell: Cell, scene: Scene) -> Tensor:
    row = cell.query - scene.start
    if not 0 <= row < weights.shape[-2] or cell.key >= weights.shape[-1]:
        return weights
    weights = weights.clone()
    if cell.renormalise:
        others = 1 - weights[..., row, cell.key]
        rest = torch.where(others > 0, (1 - cell.value) / others, 0)
        weights[..., row, :] *= rest[..., None]
    weights[..., row, cell.key] = cell.value
    return weights


@dataclass(frozen=True, eq=False)
class Pattern:
    """The values to replace a tensor with: weights (…, N', M'), or a mean (…, d_k)."""

    value: Tensor


def _frozen(weights: Tensor, frozen: Pattern, scene: Scene) -> Tensor:
    """Replace weights by the pattern's: zero where it has no key, unchanged beyond its rows.

    Only the request's own tokens matter: the pattern's weights for keys beyond them are dropped.
    """
    pattern = frozen.value[..., scene.start : scene.queries, : scene.keys]
    rows = min(pattern.shape[-2], weights.shape[-2])
    keys = min(pattern.shape[-1], weights.shape[-1])
    if not rows:
        return weights
    weights = weights.clone()
    weights[..., :rows, :] = 0
    weights[..., :rows, :keys] = pattern[..., :rows, :keys]
    return weights


def _hidden(mask: Tensor, token: int, _: Scene) -> Tensor:
    """Hide a token of a text from all queries."""
    if token >= mask.shape[-1]:  # not written yet
        return mask
    mask = mask.clone()
    mask[..., token] = False
    return mask


def _shuffled(position: Tensor, seed: int, scene: Scene) -> Tensor:
    """Shuffle the request's own positions; the same seed gives the same order."""
    length = len(position) if scene.queries is None else scene.queries
    order = torch.randperm(length, generator=torch.Generator().manual_seed(seed))
    return torch.cat([position[:length][order.to(position.device)], position[length:]])


def _without(value: Tensor, _: Any, scene: Scene) -> Tensor:
    """Drop a term of a sum: the position, or the sublayer's input in a residual."""
    return scene.seen.get("output", torch.zeros_like(value))


def _mean(mix: Tensor, mean: Pattern, _: Scene) -> Tensor:
    """Replace `mix` (…, N, d_k) by `mean` (…, d_k) at every position."""
    return mean.value[..., None, :].expand_as(mix)


EFFECTS: dict[str, Effect] = {
    # No weight, so the head's mix is zero and W_O adds nothing for it.
    "zero": Effect(("*.weights",), _nothing),
    # Equal scores: the mask and the softmax then spread the weight over the keys allowed.
    "uniform": Effect(("*.scores",), _nothing),
    # The head's mean output over training data.
    "mean": Effect(("*.mix",), _mean),
    "set": Effect(("*.weights",), _set),
    "cut": Effect(("*.scores",), _cut),
    "freeze": Effect(("*.weights",), _frozen),
    "temperature": Effect(("*.scores",), _cooled),
    "drop": Effect(("*.position", "*.residual"), _without, at=TENSOR),
    "shuffle": Effect(("*.position",), _shuffled, at=ORDER),
    "mask": Effect(("*.mask",), _hidden, at=TEXT),
}


@dataclass(frozen=True)
class Intervention:
    """Applies `do` (a key of `EFFECTS`) at the place `at`: to one of its heads, or to all of it.

    `value` is the argument of the effect: a `Cell` for "set", (query, key) for "cut", a number for
    "temperature", a token for "mask", a seed for "shuffle", another `Request` for "freeze".
    """

    at: str  # "encoder.1.self"; "source.position"
    do: str
    head: int | None = None
    value: Hashable = None

    def concerns(self, name: str, keys: str | None) -> bool:
        """Return whether the intervention changes the tensor `name`, or needs its value."""
        return _concerns(self.do, self.at, name, keys)

    def __call__(self, name: str, value: Tensor, scene: Scene) -> Tensor:
        """Return `value` (*dims of the tensor), changed if the intervention acts on this tensor.

        Returns `value` itself, not a copy, if there is nothing to change.
        """
        effect = EFFECTS[self.do]
        if not effect.means(name, self.at, scene.text):
            return value
        if self.head is None:
            return effect.change(value, self.value, scene)
        changed = value.clone()
        changed[self.head] = effect.change(value[self.head], self.value, scene)
        return changed


@lru_cache(maxsize=1 << 14)
def _concerns(do: str, at: str, name: str, keys: str | None) -> bool:
    effect = EFFECTS[do]
    if effect.means(name, at, keys):
        return True
    place, _, last = name.rpartition(".")
    return last == "output" and effect.means(f"{place}.residual", at, keys)
