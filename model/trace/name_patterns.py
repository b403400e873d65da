"""Choosing tensors by name patterns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache

from model.errors import Excess, InputError

LOGITS = ".logits"
EMBEDDING = "embedding"  # the parameter; a text's own is "source.embedding"
INSIDE = "inside."  # computed from the others: only by patterns that begin so
MAX_PATTERNS = 256
NOUNS = {
    "select": ("unknown-tensor", "tensor"),
    "summarise": ("unknown-place", "attention"),
}


def select(patterns: Sequence[str], names: Iterable[str], field: str = "select") -> tuple[str, ...]:
    """The names, in the model's order, that any pattern (`*`, `?`, `[…]`) matches.

    Raises `InputError` for a pattern that matches nothing; `field` is where they stand in the
    request.
    """
    if len(patterns) > MAX_PATTERNS:
        detail = f"{field} has more than {MAX_PATTERNS} patterns"
        excess = Excess(MAX_PATTERNS, "entries", len(patterns))
        raise InputError("too-many-patterns", field, detail, excess)
    return _select(tuple(patterns), tuple(names), field)


@lru_cache(maxsize=64)  # a trace asks several times, and the next one mostly the same
def _select(patterns: tuple[str, ...], known: tuple[str, ...], field: str) -> tuple[str, ...]:
    chosen: set[str] = set()
    for index, pattern in enumerate(patterns):
        # A whole name is the commonest pattern, and matches itself alone.
        matched = [pattern] if pattern in known else [n for n in known if matches(pattern, n)]
        if not matched:
            at = f"{field}[{index}]"
            kind, noun = NOUNS[field]
            raise InputError(kind, at, f"{at} names no {noun} of the model")
        chosen.update(matched)
    return tuple(name for name in known if name in chosen)


def present(patterns: Iterable[str], names: Iterable[str]) -> list[str]:
    """The patterns that match a name, of those that a model need not have."""
    known = list(names)
    return [pattern for pattern in patterns if any(matches(pattern, name) for name in known)]


def matches(pattern: str, name: str) -> bool:
    """Whether a pattern names it; what is large, or computed, only where that is meant."""
    large = name == EMBEDDING or name.endswith(LOGITS)  # only when named in full
    if large or (name.startswith(INSIDE) and not pattern.startswith(INSIDE)):
        return name == pattern
    return fnmatchcase(name, pattern)
