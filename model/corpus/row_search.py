"""Searches an index for rows of a head, and for sentences in which it does more or less of a thing.

All rows of the head are compared at once, as arrays: 1.2 million take some 20 ms.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from model.corpus.row_index import SCALE, Index
from model.corpus.row_patterns import COUNTS, PATTERNS

KEPT = 64  # words and columns kept in memory, of all indexes
TENTHS = 10
FEWEST = 4  # rows of a sentence that can be an example


@dataclass(frozen=True)
class RowQuery:
    """What a row must have; what is not given does not matter."""

    place: str
    head: int
    query: str = ""
    """The word of the row, ignoring case: a token, or several in succession."""
    key: str = ""
    """The word with the row's largest weight."""
    distance: int = 0
    """Least number of tokens from the query to that key; 0 for cross-attention."""
    weight: float = 0.0
    """Least weight on that key."""
    pattern: str = ""
    """A pattern that holds in the row: one of `PATTERNS`."""


@dataclass(frozen=True)
class Row:
    """A row that was found."""

    sentence: int
    query: int
    """Index within the sentence."""
    key: int
    weight: float


@dataclass(frozen=True)
class Found:
    """How many rows and sentences match, and the best row of the first sentences."""

    rows: int
    sentences: int
    best: Sequence[Row]


def search(index: Index, query: RowQuery, limit: int = 20) -> Found:
    """Find rows, one per sentence, largest weight first, then in the order of the sentences.

    Raises `KeyError` for a head that the index does not have, and `ValueError` for a pattern that
    does not exist, or a distance between two texts.
    """
    head = index.head(query.place, query.head)
    queries, keys = index.axes[query.place]
    if query.distance and queries != keys:
        raise ValueError("the distance between two texts is not defined")
    if query.pattern and query.pattern not in PATTERNS:
        raise ValueError(f"no such pattern: {query.pattern}")
    bits = COUNTS | (1 << PATTERNS.index(query.pattern) if query.pattern else 0)
    matches = (head.flags & bits) == bits
    if query.weight > 0:
        matches &= head.weight >= np.uint8(np.ceil(query.weight * SCALE - 1e-9))
    if query.query.strip():
        matches &= _occurs(index, queries, query.query)
    rows = np.flatnonzero(matches)
    if query.distance:
        inside = rows - _firsts(index, queries, queries)[rows]
        rows = rows[np.abs(inside - head.key[rows]) >= query.distance]
    if query.key.strip():
        rows = rows[_occurs(index, keys, query.key)[_looked(index, query.place, rows, head.key)]]
    of = _sentences(index, queries)[rows]
    best = rows[_best(head.weight[rows], of, limit)]
    best_rows = _rows(index.starts(queries), best, head.weight, head.key)
    return Found(len(rows), int(np.count_nonzero(np.bincount(of))), [*best_rows])


def _best(weights: NDArray[np.uint8], of: NDArray[np.int32], limit: int) -> list[int]:
    """Return the indexes of the rows with the largest weights, at most one of each sentence."""
    chosen: dict[int, int] = {}
    order = np.argsort(SCALE - weights, kind="stable")  # a radix sort, for bytes
    for row in order:
        if len(chosen) == limit:
            break
        chosen.setdefault(int(of[row]), int(row))
    return [*chosen.values()]


def tenths(index: Index, place: str, head: int, pattern: str = "") -> list[tuple[int, float]]:
    """Return examples from the most to the least: the sentences at each tenth of a ranking.

    Sentences are ranked by the share of their rows in which the pattern holds or, without one, by
    the mean of their rows' largest weights. Returns (sentence, value) at 100 %, 90 %, … 0 %.
    Raises the same as `search`.
    """
    if pattern and pattern not in PATTERNS:
        raise ValueError(f"no such pattern: {pattern}")
    rows, starts = index.head(place, head), index.starts(index.axes[place][0])
    counts = rows.flags >= COUNTS
    if pattern:
        values = ((rows.flags >> PATTERNS.index(pattern)) & 1).astype(np.float64)
    else:
        values = rows.weight / SCALE
    totals = np.add.reduceat(counts, starts[:-1], dtype=np.int64)
    sums = np.add.reduceat(values * counts, starts[:-1])
    ranked = np.flatnonzero(totals >= FEWEST)
    means = sums[ranked] / totals[ranked]
    ranking = np.argsort(-means, kind="stable")
    places = np.unique(np.linspace(0, len(ranking) - 1, TENTHS + 1).round().astype(int))
    return [
        (int(ranked[place]), float(means[place]))
        for place in ranking[places[places >= 0]]
        if len(ranking)
    ]


def _rows(
    starts: NDArray[np.int64],
    rows: NDArray[np.intp],
    weight: NDArray[np.uint8],
    key: NDArray[np.uint16],
) -> Iterator[Row]:
    for row in rows:
        sentence = int(np.searchsorted(starts, row, side="right")) - 1
        yield Row(sentence, int(row - starts[sentence]), int(key[row]), float(weight[row] / SCALE))


def _looked(
    index: Index, place: str, rows: NDArray[np.intp], key: NDArray[np.uint16]
) -> NDArray[np.int64]:
    """Return where the keys of rows are among the tokens of their text."""
    looked: NDArray[np.int64] = _firsts(index, *index.axes[place])[rows] + key[rows]
    return looked


@lru_cache(KEPT)
def _sentences(index: Index, text: str) -> NDArray[np.int32]:
    """Return the sentence of each token of a text (R)."""
    lengths = np.diff(index.starts(text))
    return np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)


@lru_cache(KEPT)
def _firsts(index: Index, rows: str, text: str) -> NDArray[np.int64]:
    """Return for each row of a text where its sentence starts in another (R)."""
    firsts: NDArray[np.int64] = np.repeat(index.starts(text)[:-1], np.diff(index.starts(rows)))
    return firsts


@lru_cache(KEPT)
def _occurs(index: Index, text: str, word: str) -> NDArray[np.bool_]:
    """Mark the tokens of a text that are a word or part of it (R).

    A word may be any number of tokens; the first may follow a space. Special tokens are words, too:
    `<eos>`. The rows where the first i letters of the word can end are found for each i, since a
    word may have more spellings than could be tried one by one.
    """
    word = word.strip().casefold()
    tokens, sentences = index.tokens(text), _sentences(index, text)
    first, later = _numbers(index)
    ends = {0: np.array([], dtype=np.intp)}
    steps: list[tuple[int, int, NDArray[np.intp]]] = []  # a token with letters i to j, at rows
    for i in range(len(word)):
        rows = ends.get(i, ends[0])
        following = rows[rows + 1 < len(tokens)] + 1
        following = following[sentences[following] == sentences[following - 1]]
        for j in range(i + 1, len(word) + 1):
            if i == 0:
                reached = np.flatnonzero(np.isin(tokens, first.get(word[:j], [])))
            else:
                reached = following[np.isin(tokens[following], later.get(word[i:j], []))]
            if len(reached):
                ends[j] = np.union1d(ends.get(j, ends[0]), reached)
                steps.append((i, j, reached))
    marked = np.zeros(len(tokens), dtype=bool)
    whole = {len(word): ends.get(len(word), ends[0])} if word else {}  # ends that go on to the last
    for i, j, reached in sorted(steps, key=lambda step: -step[1]):
        reached = np.intersect1d(reached, whole.get(j, ends[0]))
        marked[reached] = True
        whole[i] = np.union1d(whole.get(i, ends[0]), reached - 1)
    return marked


@lru_cache(KEPT)
def _numbers(index: Index) -> tuple[dict[str, list[int]], dict[str, list[int]]]:
    """Return the numbers of tokens by their letters: of those that begin a word, and go on."""
    first: dict[str, list[int]] = {}
    later: dict[str, list[int]] = {}
    for number, text in enumerate(index.vocabulary):
        first.setdefault(text.strip().casefold(), []).append(number)
        if not text.startswith(" ") and number not in index.special:
            later.setdefault(text.casefold(), []).append(number)
    return first, later
