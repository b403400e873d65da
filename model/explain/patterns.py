"""Summarises a head in a few measures and one pattern.

`tally` sums over a head's rows, `Tally.means` returns the measures, and `patterns` the pattern.
Tallies can be added, so a report over many sentences is ``patterns(tally(…) + tally(…))``.
docs/patterns.md defines which rows count, the measures, and the thresholds of the patterns.

Shapes: … any leading axes, the last of them usually heads; N queries, M keys.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from model.text.tokens import PAD, Token
from model.trace.tensor_tap import KEY, QUERY, NamedTensor, same

LEAST = 2  # rows (for an alignment, pairs) needed to name a pattern
HALF = 0.5  # of the weight on one position (Clark et al. 2019)
ALIGNED = 0.4  # of the weight of a perfect one-to-one alignment
BROAD = 0.9  # of the entropy of uniform attention

# The patterns with their measures and thresholds; the first one that holds is used.
RULES = (
    ("previous-token", "previous", HALF),
    ("itself", "itself", HALF),
    ("next-token", "next", HALF),
    ("same-word", "same", HALF),
    ("first-token", "first", HALF),
    ("last-token", "last", HALF),
    ("special", "special", HALF),
    ("alignment", "alignment", ALIGNED),
    ("broad", "spread", BROAD),
)
MIXED, NONE = "mixed", "none"
PATTERNS = (*(pattern for pattern, *_ in RULES), MIXED, NONE)


class Comparison(Protocol):
    """What the measures need of the tokens of the rows (N) and columns (M) of an attention."""

    @property
    def special(self) -> tuple[Tensor, Tensor]:
        """Masks of the queries (N) and keys (M), true for special tokens."""

    @property
    def same(self) -> Tensor:
        """A mask (N, M), true where a key is the query's word elsewhere."""

    @property
    def cross(self) -> bool:
        """Whether queries and keys are of two texts."""


@dataclass(frozen=True)
class Axes:
    """The tokens of the rows and columns of an attention, without padding.

    `queries` are the tokens that rows stand for: in cross-attention, those that they predict.
    """

    queries: Sequence[Token]  # N
    keys: Sequence[Token]  # M
    cross: bool = False

    @property
    def special(self) -> tuple[Tensor, Tensor]:
        """Masks of the queries (N) and keys (M), true for special tokens."""
        rows, columns = (
            torch.tensor([token.special for token in side]) for side in (self.queries, self.keys)
        )
        return rows, columns

    @property
    def same(self) -> Tensor:
        """A mask (N, M), true where a key is the query's word elsewhere, ignoring case."""
        numbers: dict[str, int] = {}
        rows, columns = (
            torch.tensor([numbers.setdefault(_word(token), len(numbers)) for token in side])
            for side in (self.queries, self.keys)
        )
        special_rows, special_keys = self.special
        equal = (rows[:, None] == columns) & ~special_rows[:, None] & ~special_keys
        return equal if self.cross else equal & ~torch.eye(len(rows), dtype=torch.bool)


@dataclass(frozen=True)
class Tally:
    """Sums over rows and the number of rows, by measure, each (…)."""

    sums: Mapping[str, Tensor]
    counts: Mapping[str, Tensor]

    def __add__(self, other: Tally) -> Tally:
        """Return the tally of the same heads over the rows of both."""
        return Tally(
            {name: total + other.sums[name] for name, total in self.sums.items()},
            {name: count + other.counts[name] for name, count in self.counts.items()},
        )

    @property
    def means(self) -> dict[str, Tensor]:
        """Return the mean of each measure (…); NaN where no row counts."""
        return {name: total / self.counts[name] for name, total in self.sums.items()}


def tally(weights: Tensor, axes: Comparison, mask: Tensor | None = None) -> Tally:
    """Sum the measures of every head over the rows that can choose between keys.

    `weights` (…, N, M) sum to 1 over M; `mask` (N, M) is true where a query may attend. A row
    counts if it may attend to at least two keys and its weights are not all zero.
    """
    queries, keys = weights.shape[-2:]
    may = torch.ones(queries, keys, dtype=torch.bool) if mask is None else mask
    free = (may.sum(-1) >= LEAST) & (weights.sum(-1) > 0)  # (…, N)
    sums: dict[str, tuple[Tensor, Tensor]] = {}

    def over(name: str, values: Tensor, rows: Tensor = free) -> None:
        sums[name] = values.where(rows, 0).sum(-1), rows.sum(-1)

    def near(name: str, weight: Tensor) -> None:
        """Add the weight on the keys `weight` (N, M), over the rows that may attend to one."""
        over(name, (weights * weight).sum(-1), free & (weight & may).any(-1))

    entropy = -torch.where(weights > 0, weights * weights.log(), 0).sum(-1)
    over("entropy", entropy)
    over("spread", entropy / may.sum(-1).clamp(min=LEAST).float().log())
    over("first", weights[..., 0])
    over("last", weights[..., -1])
    over("special", weights.where(axes.special[1], 0).sum(-1))
    near("same", axes.same)
    if axes.cross:
        sums["alignment"] = _alignment(weights, axes)
    else:
        offset = torch.arange(keys) - torch.arange(queries)[:, None]  # (N, M)
        over("distance", (weights * offset.abs()).sum(-1))
        for name, step in (("previous", -1), ("itself", 0), ("next", 1)):
            near(name, offset == step)
    return Tally({n: s for n, (s, _) in sums.items()}, {n: c for n, (_, c) in sums.items()})


def patterns(tally: Tally) -> list[str]:
    """Return the pattern of each head (H): the first of `RULES` that holds."""
    return [PATTERNS[number] for number in pattern_numbers(tally).tolist()]


def pattern_numbers(tally: Tally) -> Tensor:
    """Return the place in `PATTERNS` of each head's pattern (H)."""
    means, counts = tally.means, tally.counts
    heads = means["entropy"]
    holds = [
        (counts[name] >= LEAST) & (means[name] >= least)
        if name in means
        else torch.zeros_like(heads, dtype=torch.bool)
        for _, name, least in RULES
    ]
    none = torch.full_like(heads, PATTERNS.index(NONE), dtype=torch.int64)
    otherwise = torch.ones_like(heads, dtype=torch.bool)
    first = torch.stack([*holds, otherwise]).to(torch.int64).argmax(0)
    return torch.where(counts["entropy"] >= LEAST, first, none)


@dataclass(frozen=True, eq=False)
class Summary:
    """The heads of one attention in one trace, over the rows of its tokens."""

    measures: Mapping[str, Tensor]  # each (H); NaN where no row counts
    patterns: Sequence[str]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Summary):
            return NotImplemented
        mine, theirs = self.measures, other.measures
        alike = mine.keys() == theirs.keys() and all(same(mine[n], theirs[n]) for n in mine)
        return alike and list(self.patterns) == list(other.patterns)

    __hash__ = None  # type: ignore[assignment]


def needed(places: Sequence[str]) -> list[str]:
    """Return the tensors needed for summaries of these attentions."""
    return [f"{place}.{name}" for place in places for name in ("weights", "mask")]


def summary(
    place: str,
    tensors: Mapping[str, NamedTensor],
    texts: Mapping[str, Sequence[Token]],
    written: Sequence[Token] = (),
) -> Summary:
    """Return the summary of an attention of a trace, without the padding at the end.

    `texts` are the tokens read, by text; `written` those that rows of cross-attention predict.
    """
    weights, mask = (tensors[name] for name in needed([place]))
    sides = weights.over[QUERY], weights.over[KEY]
    cross = sides[0] != sides[1]
    queries, keys = ([token for token in texts[side] if not _pads(token)] for side in sides)
    axes = Axes(written if cross else queries, keys, cross)
    unpadded = (..., slice(len(queries)), slice(len(keys)))
    tallied = tally(weights.value[unpadded], axes, mask.value[unpadded])
    return Summary(tallied.means, patterns(tallied))


def _pads(token: Token) -> bool:
    return token.special and token.text == PAD


def _alignment(weights: Tensor, axes: Comparison) -> tuple[Tensor, Tensor]:
    """Measure how close the attention is to a one-to-one alignment: 1 for a permutation.

    Each written word is paired with its key of largest weight. Special keys are left out; of
    several words with one key, only the largest weight counts. Returns the sum of these weights,
    and the possible number of pairs.
    """
    rows, columns = (~special for special in axes.special)
    words = weights.where(rows[:, None], 0)
    hardest, key = words.max(dim=-1, keepdim=True)
    pointed = torch.zeros_like(words).scatter(-1, key, hardest)
    best = pointed.amax(dim=-2)  # (…, M)
    pairs = torch.minimum(rows.sum(), columns.sum())
    looks = (weights.sum((-1, -2)) > 0).long()
    return best.where(columns, 0).sum(-1), looks * pairs


def _word(token: Token) -> str:
    return token.text.strip().casefold()
