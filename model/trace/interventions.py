"""Interventions: replace a named tensor while the model runs.

An effect is one line in `EFFECTS`: the tensors that it acts on, and a function of such a tensor of
one request, without the batch axis. This module applies it to the right heads and requests, in
order.

Tensors whose last axis is features can be set to zero or to one value, multiplied, or moved by a
vector. Each of these acts on every number alone, so it can be restricted to some heads, rows or
features, and its result does not depend on padding or on other requests.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from model.request_limits import Probability
from model.trace.attentions import Attentions, read_whole

# Tensors whose last axis is features, hidden units or channels, and that later values are computed
# from.
FEATURES = (
    *("embedding", "position", "input"),
    *("q", "k", "v", "mix"),
    *("hidden", "projected", "output", "residual", "norm"),
)


@dataclass(frozen=True, eq=False)
class Added:
    """A vector (features,) that is added to rows."""

    value: Tensor


def scaled(value: Tensor, factor: float, _: Any) -> Tensor:
    """Multiply by a factor."""
    return value * factor


def filled(value: Tensor, number: float, _: Any) -> Tensor:
    """Set every number to one value."""
    return torch.full_like(value, number)


def moved(value: Tensor, added: Added, _: Any) -> Tensor:
    """Add a vector to each row."""
    return value + added.value.to(value.dtype)


def within(
    before: Tensor,
    after: Tensor,
    start: int,
    heads: Collection[int] | None,
    rows: Collection[int] | None,
    units: Collection[int] | None,
) -> Tensor:
    """Return `after` (H?, N, M) at the chosen heads, rows and features, `before` elsewhere.

    None chooses all of an axis. The first row is at position `start`; a row that is not there is
    left out.
    """
    for axis, first, chosen in ((-3, 0, heads), (-2, start, rows), (-1, 0, units)):
        if chosen is not None:
            chosen_indices = torch.zeros(before.shape[axis], dtype=torch.bool, device=before.device)
            chosen_indices[
                [index - first for index in chosen if 0 <= index - first < len(chosen_indices)]
            ] = True
            after = torch.where(chosen_indices.view(-1, *[1] * (-1 - axis)), after, before)
    return after


# Kinds of an effect's `at`.
HEADS, TENSOR, ROWS, ORDER, TEXT = "heads", "tensor", "rows", "order", "text"
# Tensors whose second last axis is the tokens of a text, and that later values are computed from.
WITH_ROWS = (
    *("embedding", "position", "input"),
    *("q", "k", "v", "scores", "mask", "weights", "mix"),
    *("hidden", "projected", "output", "residual", "norm"),
)


@dataclass(frozen=True)
class Scene:
    """The context of an effect, besides the tensor that it changes.

    `queries` and `keys` are the numbers of the request's own tokens on the two axes, without
    padding (None: no padding), so that the result does not depend on the padding of the batch;
    `rows` is that of the second last axis, which is the keys in `k` and `v`.
    """

    start: int = 0  # the position of the first row: with a cache, only new rows are computed
    queries: int | None = None
    keys: int | None = None
    rows: int | None = None
    text: str | None = None  # the text that the key axis follows
    # What the effect `reads`: tensors of the same place that were computed before it, by last name.
    seen: Mapping[str, Tensor] = field(default_factory=dict)

    def of(self, head: int) -> Scene:
        """Return the scene of one head. A mask is the same for all heads."""
        tensors = {
            name: tensor if name == "mask" else tensor[head] for name, tensor in self.seen.items()
        }
        return replace(self, seen=tensors)


Change = Callable[[Tensor, Any, Scene], Tensor]


@dataclass(frozen=True)
class Effect:
    """A replacement for a tensor, and how a request refers to it.

    `tensors` are last names, such as "weights". `at` can be:

    HEADS   an attention; `change` gets one head of its tensor, or all of them
    TENSOR  the full name of a tensor
    ROWS    the same; if its dims begin with the head, `change` can get one head of it
    ORDER   the same, only for a text that is complete at the start: only its order can change
    TEXT    a text: all of these tensors whose keys are its tokens

    A tensor whose last name is in `named` can also be named in full, whatever `at` is. `part` says
    that the effect keeps every row to itself, so that it can be restricted to some of them. `reads`
    are the last names of other tensors of its place that it is computed from.
    """

    tensors: tuple[str, ...]
    change: Change
    at: str = HEADS
    named: tuple[str, ...] = ()
    part: bool = False
    reads: tuple[str, ...] = ()

    @property
    def heads(self) -> bool:
        """Whether the effect can be applied to one head."""
        return self.at == HEADS

    @property
    def by_name(self) -> bool:
        """Whether it can be applied to one head of a tensor that is named in full."""
        return self.at == ROWS or bool(self.named)

    def places(self, names: Iterable[str], attentions: Attentions) -> set[str]:
        """Return the valid values of an intervention's `at` in a model that records `names`."""
        if self.at == TEXT:
            return {attention.key for attention in attentions}
        places = {name for name in names if self._acts_on(name)}
        if self.at == ORDER:
            return places & {f"{text}.position" for text in read_whole(attentions)}
        if self.heads:
            places = {name.rpartition(".")[0] for name in places}
        return places | {name for name in names if _matches(name, self.named)}

    def means(self, name: str, at: str, keys: str | None) -> bool:
        """Return whether `at` refers to the tensor `name` with a key axis over the text `keys`."""
        if at == name and _matches(name, self.named):
            return True
        if not self._acts_on(name):
            return False
        if self.at == TEXT:
            return at == keys
        return at == (name.rpartition(".")[0] if self.heads else name)

    def needs(self, name: str, at: str, keys: str | None) -> bool:
        """Return whether it reads the tensor `name` when it is applied at `at`."""
        place, _, last = name.rpartition(".")
        return last in self.reads and any(
            self.means(f"{place}.{changed}", at, keys) for changed in self.tensors
        )

    def _acts_on(self, name: str) -> bool:
        return _matches(name, self.tensors)


def _matches(name: str, last_names: tuple[str, ...]) -> bool:
    _, dot, last = name.rpartition(".")
    return bool(dot) and last in last_names


def _nothing(value: Tensor, _: Any, __: Scene) -> Tensor:
    return torch.zeros_like(value)


def _cooled(scores: Tensor, temperature: float, _: Scene) -> Tensor:
    return scores / temperature


Edge = tuple[int, int]  # query, key


def edges_of(cut: Edge | tuple[Edge, ...]) -> tuple[Edge, ...]:
    """Return the edges of a cut: of one, or of several."""
    return (cut,) if cut and isinstance(cut[0], int) else cut


def _cut(scores: Tensor, cut: Edge | tuple[Edge, ...], scene: Scene) -> Tensor:
    """Remove edges: the softmax gives −∞ no weight and spreads it over the other keys."""
    rows, keys = scores.shape[-2:]
    cells = [(query - scene.start, key) for query, key in edges_of(cut)]
    cells = [(row, key) for row, key in cells if 0 <= row < rows and key < keys]
    if not cells:
        return scores
    scores = scores.clone()
    scores[..., [row for row, _ in cells], [key for _, key in cells]] = -torch.inf
    return scores


@dataclass(frozen=True)
class Cell:
    """A weight to set. With `renormalise`, the rest of its row is scaled so that it sums to 1."""

    query: int
    key: int
    value: Probability
    renormalise: bool = False


# Below this sum, float32 weights have lost digits: they are multiples of 1.4e-45.
FAINT = 1e-30


def _set(weights: Tensor, cell: Cell, scene: Scene) -> Tensor:
    row = cell.query - scene.start
    if not 0 <= row < weights.shape[-2] or cell.key >= weights.shape[-1]:
        return weights
    changed = weights.clone()
    if cell.renormalise:
        other_shares = _others(weights[..., row, :], row, cell.key, scene)
        changed[..., row, :] = ((1 - cell.value) * other_shares).to(weights.dtype)
    changed[..., row, cell.key] = cell.value
    return changed


def _others(weights: Tensor, row: int, key: int, scene: Scene) -> Tensor:
    """Return the shares (…, M) of the other keys in what they and a learned sink have together.

    They are divided by their sum: 1 − weight has no correct digit if the weight is nearly 1. If
    even the sum is rounded away, they follow from the scores; without other keys they are zeros.
    """
    alone = torch.arange(weights.shape[-1], device=weights.device) == key
    other_weights = weights.double().masked_fill(alone, 0)
    total = other_weights.sum(-1, keepdim=True)
    if "sink" in scene.seen:
        total = total + scene.seen["sink"][..., row, None].double()
    faint = (total < FAINT) & (weights[..., key, None] > 0)
    shares = other_weights / total.where(total > 0, 1)
    if not faint.any():
        return shares
    allowed = scene.seen["mask"][..., row, :] & ~alone
    scores = scene.seen["scores"][..., row, :].double().masked_fill(~allowed, -torch.inf)
    softmax = scores.masked_fill((scores == -torch.inf).all(-1, keepdim=True), 0).softmax(-1)
    return torch.where(faint, softmax * (scores > -torch.inf), shares)


@dataclass(frozen=True, eq=False)
class OtherRun:
    """A tensor of another run, or one head of it, whose rows replace those of this one."""

    value: Tensor  # (…, N', M')
    rows: tuple[tuple[int, int], ...] | None = None  # (its row, ours); None: row i is row i
    keyed: bool = False  # whether its last axis is keys
    unseen: float = 0.0  # the value at keys that it lacks


def _patched(value: Tensor, donor: OtherRun, scene: Scene) -> Tensor:
    """Replace rows by those of another run; the others, and those of padding, keep their values.

    Over keys, key j of the other run is key j: those that only it has are dropped, and nothing is
    renormalised.
    """
    theirs, first = donor.value, scene.start
    end = first + value.shape[-2]
    end = end if scene.rows is None else min(end, scene.rows)
    pairs = donor.rows or [(row, row) for row in range(min(theirs.shape[-2], end))]
    donor_rows = [row for row, ours in pairs if first <= ours < end and row < theirs.shape[-2]]
    rows = [ours - first for row, ours in pairs if first <= ours < end and row < theirs.shape[-2]]
    if not rows:
        return value
    values = theirs[..., donor_rows, :]
    value = value.clone()
    if donor.keyed:
        values = values[..., : scene.keys][..., : value.shape[-1]]
        value[..., rows, :] = donor.unseen
        value[..., rows, : values.shape[-1]] = values.to(value.dtype)
    else:
        value[..., rows, :] = values.to(value.dtype)
    return value


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


@dataclass(frozen=True, eq=False)
class Mean:
    """The mean output of a head, or of all heads of an attention: (…, d_k)."""

    value: Tensor


def _mean(mix: Tensor, mean: Mean, _: Scene) -> Tensor:
    """Replace `mix` (…, N, d_k) by its mean at every position."""
    return mean.value[..., None, :].expand_as(mix)


EFFECTS: dict[str, Effect] = {
    # No weight, so the head's mix is zero and W_O adds nothing for it. Or a tensor is zero.
    "zero": Effect(("weights",), _nothing, named=FEATURES, part=True),
    # Equal scores: the mask and the softmax then spread the weight over the keys allowed.
    "uniform": Effect(("scores",), _nothing, part=True),
    # The head's mean output over training data.
    "mean": Effect(("mix",), _mean, part=True),
    "set": Effect(("weights",), _set, reads=("scores", "mask", "sink")),
    "cut": Effect(("scores",), _cut),
    "patch": Effect(WITH_ROWS, _patched, at=ROWS),
    "freeze": Effect(("weights",), _patched),  # the patch of an attention's weights
    "temperature": Effect(("scores",), _cooled, part=True),
    "scale": Effect(FEATURES, scaled, at=ROWS, part=True),
    "fill": Effect(FEATURES, filled, at=ROWS, part=True),
    "add": Effect(FEATURES, moved, at=ROWS, part=True),
    "drop": Effect(("position", "residual"), _without, at=TENSOR, reads=("output",)),
    "shuffle": Effect(("position",), _shuffled, at=ORDER),
    "mask": Effect(("mask",), _hidden, at=TEXT),
}


@dataclass(frozen=True)
class Intervention:
    """Applies `do` (a key of `EFFECTS`) at the place `at`: to one of its heads, or to all of it.

    `value` is the argument of the effect: a `Cell` for "set", (query, key) or several of them for
    "cut", a number for "temperature", "scale" and "fill", a token for "mask", a seed for "shuffle",
    numbers or a `Step` for "add", another `Request` for "freeze", a `Patch` for "patch".

    `heads` are several heads instead of `head`; `rows` and `units` restrict the change to some rows
    and to some of the features of the last axis.
    """

    at: str  # "encoder.1.self"; "source.position"; "decoder.0.cross.mix"
    do: str
    head: int | None = None
    value: Hashable = None
    heads: tuple[int, ...] | None = None
    rows: tuple[int, ...] | None = None
    units: tuple[int, ...] | None = None

    def concerns(self, name: str, keys: str | None) -> bool:
        """Return whether the intervention changes the tensor `name`, or reads it."""
        return _concerns(self.do, self.at, name, keys)

    def reads(self, name: str, keys: str | None) -> bool:
        """Return whether its change of another tensor is computed from the tensor `name`."""
        return EFFECTS[self.do].needs(name, self.at, keys)

    def __call__(self, name: str, value: Tensor, scene: Scene) -> Tensor:
        """Return `value` (*dims of the tensor), changed if the intervention acts on this tensor.

        Returns `value` itself, not a copy, if there is nothing to change.
        """
        effect = EFFECTS[self.do]
        if not effect.means(name, self.at, scene.text):
            return value
        if self.head is None:
            changed = effect.change(value, self.value, scene)
        else:
            changed = value.clone()
            changed[self.head] = effect.change(value[self.head], self.value, scene.of(self.head))
        chosen = self.heads, self.rows, self.units
        if changed is value or chosen == (None, None, None):
            return changed
        return within(value, changed, scene.start, *chosen)


@lru_cache(maxsize=1 << 14)
def _concerns(do: str, at: str, name: str, keys: str | None) -> bool:
    effect = EFFECTS[do]
    return effect.means(name, at, keys) or effect.needs(name, at, keys)
