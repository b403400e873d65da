"""Which patterns hold in each row of an attention, and how often they hold over many rows.

A pattern is a set of keys for every row, such as the token before, or all punctuation. It holds in
a row if at least half of the row's weight is on those keys (the threshold of Clark et al. 2019),
and more than one and a half times as much as with uniform attention: of eight keys, five are near
in any case. Several can hold in one row: the token before is also near. docs/patterns.md has the
definitions.

Shapes: H heads, N queries, M keys.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model.explain.patterns import BROAD, HALF, LEAST, Axes
from model.text.tokens import Token

OVER_UNIFORM = 1.5  # times the weight that uniform attention has on the same keys
NEAR = 2  # tokens to either side
SINK = 0.3  # of the mean weight of a sentence's rows on one key (Gu et al. 2024)
# Of two patterns that hold in about as many rows, the narrower one describes the head.
ALMOST = 0.8

# From narrow to broad; the position is that of the pattern's bit.
PATTERNS = (
    "previous-token",
    "itself",
    "next-token",
    "same-word",
    "induction",
    "first-token",
    "last-token",
    "punctuation",
    "special",
    "sink",
    "nearby",
    "one-word",
    "broad",
)
SELF_ONLY = {"previous-token", "itself", "next-token", "induction", "nearby"}
CROSS_ONLY = {"one-word"}
COUNTS = 1 << 15  # the bit of a row that counts


def patterns_of(cross: bool) -> tuple[str, ...]:
    """Return the patterns that a self- or a cross-attention can have."""
    missing = SELF_ONLY if cross else CROSS_ONLY
    return tuple(name for name in PATTERNS if name not in missing)


def row_flags(weights: Tensor, axes: Axes, mask: Tensor) -> Tensor:
    """Return for every row the bits of the patterns that hold, and `COUNTS` (H, N), int32.

    `weights` (H, N, M) sum to at most 1 over M; `mask` (N, M) is true where a query may attend. A
    row counts as in `model.explain.patterns.tally`; in other rows no bit is set.
    """
    counts = (mask.sum(-1) >= LEAST) & (weights.sum(-1) > 0)  # (H, N)
    flags = torch.where(counts, COUNTS, 0)
    for name, holds in _holding(weights, axes, mask, counts):
        flags |= torch.where(holds & counts, 1 << PATTERNS.index(name), 0)
    return flags.int()


def _holding(
    weights: Tensor, axes: Axes, mask: Tensor, counts: Tensor
) -> Iterator[tuple[str, Tensor]]:
    """Yield every pattern with the rows in which it holds (H, N)."""
    visible = mask.sum(-1).clamp(min=1)  # (N)

    def on(keys: Tensor) -> Tensor:
        """Return where a row's weight is on its `keys` (…, N, M)."""
        weight = (weights * keys).sum(-1)
        uniform = (mask & keys).sum(-1) / visible
        return (weight >= HALF) & (weight > OVER_UNIFORM * uniform)

    for name, keys in key_sets(axes).items():
        yield name, on(keys)
    rows = counts[..., None]
    mean = weights.where(rows, 0).sum(-2) / rows.sum(-2).clamp(min=1)  # (H, M)
    yield "sink", on((mean >= SINK)[:, None, :])
    if axes.cross:
        yield "one-word", (weights * ~axes.special[1]).amax(-1) >= HALF
    even = mask.sum(-1).clamp(min=LEAST).log()  # entropy of uniform attention (N)
    yield "broad", torch.special.entr(weights).sum(-1) >= BROAD * even


def key_sets(axes: Axes) -> dict[str, Tensor]:
    """Return the keys (N, M) of the patterns that depend on the tokens alone."""
    queries, keys = len(axes.queries), len(axes.keys)
    offset = torch.arange(keys) - torch.arange(queries)[:, None]
    marks = torch.tensor([is_punctuation(token) for token in axes.keys])

    def column(index: int) -> Tensor:
        return (torch.arange(keys) == index % keys).expand(queries, keys)

    sets = {
        "same-word": axes.same,
        "first-token": column(0),
        "last-token": column(-1),
        "punctuation": marks.expand(queries, keys),
        "special": axes.special[1].expand(queries, keys),
    }
    if not axes.cross:
        steps = {"previous-token": -1, "itself": 0, "next-token": 1}
        sets |= {name: offset == step for name, step in steps.items()}
        sets |= {"nearby": offset.abs() <= NEAR, "induction": _after_earlier(axes.same)}
    return sets


def _after_earlier(same_word: Tensor) -> Tensor:
    """Return the keys (N, N) that follow an earlier occurrence of the query's word.

    Source: Olsson et al. 2022, In-context Learning and Induction Heads.
    """
    followed = torch.zeros_like(same_word)
    followed[:, 1:] = same_word.tril(-2)[:, :-1]  # key j: the query's word is at j - 1 < i - 1
    return followed


def is_punctuation(token: Token) -> bool:
    """Return whether a token has only punctuation marks."""
    text = "" if token.special else token.text.strip()
    return bool(text) and all(unicodedata.category(mark).startswith("P") for mark in text)


def shares(flags: NDArray[np.uint16], patterns: Sequence[str]) -> dict[str, float]:
    """Return the share of the rows that count in which each pattern holds; NaN without rows."""
    kinds, rows = _distinct(flags)
    whole = rows.sum() or np.nan
    return {name: float(rows[_has(kinds, name)].sum() / whole) for name in patterns}


def described(
    flags: NDArray[np.uint16], patterns: Sequence[str], least: float = 0.1
) -> Mapping[str, float]:
    """Describe a head by few patterns: each with the share of rows that none before it has.

    Each step takes the pattern that holds in most of the remaining rows, or the narrowest that
    holds in almost as many, as long as it adds `least` of all rows that count.
    """
    kinds, rows = _distinct(flags)
    whole, shares_ = rows.sum(), dict[str, float]()
    while len(shares_) < len(patterns):
        adds = {
            name: int(rows[_has(kinds, name)].sum()) for name in patterns if name not in shares_
        }
        largest = max(adds.values())
        if largest == 0 or largest < least * whole:
            break
        name = next(name for name, count in adds.items() if count >= ALMOST * largest)
        shares_[name] = adds[name] / int(whole)
        remaining = ~_has(kinds, name)
        kinds, rows = kinds[remaining], rows[remaining]
    return shares_


def _distinct(flags: NDArray[np.uint16]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the distinct flags of rows that count, and how many rows have each."""
    numbers = np.bincount(flags.ravel(), minlength=2 * COUNTS)[COUNTS:]
    kinds = np.flatnonzero(numbers)
    return kinds, numbers[kinds]


def _has(kinds: NDArray[np.intp], name: str) -> NDArray[np.bool_]:
    bits: NDArray[np.bool_] = (kinds >> PATTERNS.index(name)) & 1 == 1
    return bits
