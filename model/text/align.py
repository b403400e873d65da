"""Aligns the tokens of two similar sentences."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from difflib import SequenceMatcher

Rows = tuple[tuple[int, int], ...]


def aligned(theirs: Sequence[Hashable], ours: Sequence[Hashable]) -> Rows:
    """Return pairs of indices of tokens that correspond, in order.

    Tokens that both sentences have in the same order are paired (Ratcliff and Obershelp's longest
    matches). Between them, tokens that were exchanged for others are paired from the last one
    backwards, since the last piece of a word has read all of it; the rest of the longer side has no
    partner.
    """
    pairs = list[tuple[int, int]]()
    matcher = SequenceMatcher(None, theirs, ours, autojunk=False)
    for kind, start, end, ours_start, ours_end in matcher.get_opcodes():
        if kind in ("equal", "replace"):
            size = min(end - start, ours_end - ours_start)
            pairs += zip(range(end - size, end), range(ours_end - size, ours_end), strict=True)
    return tuple(pairs)
