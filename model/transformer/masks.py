"""Masks (section 3.2.3): which keys a query may attend to. Booleans, true = may attend.

A mask is a rule `Mask(queries, keys) -> bool` on positions and one line in `MASKS`; rules combine
with `&`. A config names them: "padding", "causal", "window-3", "causal & window-3". Padding is
always masked, whatever the rule, so "padding" alone masks nothing else.

Shapes: B batch, N queries, M keys.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import and_

import torch
from torch import Tensor


class Mask:
    """The signature of a rule: positions `queries` (N,) and `keys` (M,) -> (N, M) or (B, N, M).

    An axis may have size 1 if the result is the same along it.
    """

    def __call__(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Return true where the query may attend to the key."""
        raise NotImplementedError

    def __and__(self, other: Mask) -> Mask:
        return Both(self, other)


@dataclass(frozen=True)
class Both(Mask):
    """Allows the keys that both rules allow."""

    first: Mask
    second: Mask

    def __call__(self, queries: Tensor, keys: Tensor) -> Tensor:
        return self.first(queries, keys) & self.second(queries, keys)


@dataclass(frozen=True, eq=False)
class Padding(Mask):
    """Allows keys that are not padding: `real` (B, all positions) is true for these tokens."""

    real: Tensor

    def __call__(self, queries: Tensor, keys: Tensor) -> Tensor:
        return self.real.index_select(1, keys)[:, None]


@dataclass(frozen=True)
class Open(Mask):
    """Allows every key."""

    def __call__(self, queries: Tensor, keys: Tensor) -> Tensor:
        return torch.ones((1, 1), dtype=torch.bool, device=keys.device)


@dataclass(frozen=True)
class Causal(Mask):
    """Allows no key after the query."""

    def __call__(self, queries: Tensor, keys: Tensor) -> Tensor:
        return keys <= queries[:, None]


@dataclass(frozen=True)
class Window(Mask):
    """Allows keys fewer than `size` positions away, on both sides, including the query itself.

    Together with `Causal` it is a sliding window over the last `size` tokens.

    Source: Beltagy et al. 2020 (both sides); Jiang et al. 2023, "Mistral 7B" (causal).
    """

    size: int

    def __call__(self, queries: Tensor, keys: Tensor) -> Tensor:
        return (queries[:, None] - keys).abs() < self.size


# Names in configs; "-n" after a name is the argument of the rule.
MASKS: dict[str, Callable[..., Mask]] = {
    "padding": Open,
    "causal": Causal,
    "window": Window,
}
SIZED = ("window",)


def named(name: str) -> Mask:
    """Return the rule for a name such as "causal & window-3".

    Raises `ValueError`, which names the known rules, for an unknown one.
    """
    return reduce(and_, [_one(part, name) for part in _parts(name)])


def spelled(name: str) -> str:
    """Return the canonical name: "window-4&causal" becomes "causal & window-4", "padding" is kept.

    Rules are in the order of `MASKS`, each once; "padding" is left out next to another rule.
    """
    order = [*MASKS]
    parts = sorted(set(_parts(name)), key=lambda part: (order.index(part.partition("-")[0]), part))
    return " & ".join([part for part in parts if part != "padding"] or ["padding"])


def _parts(name: str) -> list[str]:
    return [part.strip() for part in name.split("&")]


def _one(part: str, name: str) -> Mask:
    rule, _, size = part.partition("-")
    sized = rule in SIZED
    if rule not in MASKS or sized != (size.isdecimal() and int(size) > 0) or (size and not sized):
        names = [f"{mask}-n" if mask in SIZED else mask for mask in MASKS]
        raise ValueError(f"unknown mask: {name}; known: {names}, n at least 1, combined with &")
    return MASKS[rule](int(size)) if sized else MASKS[rule]()


def allowed(rule: Mask, real: Tensor, queries: Tensor, keys: Tensor) -> Tensor:
    """Return the mask of `rule` and padding: `real` (B, all positions) -> (B, N, M)."""
    mask = (rule & Padding(real))(queries, keys)
    return mask.expand(real.shape[0], queries.shape[0], keys.shape[0])
