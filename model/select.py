"""Choosing tensors by name patterns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from model.errors import InputError

ON_REQUEST = ("decoder.logits", "embedding")  # large: only when named in full
MAX_PATTERNS = 256


def select(patterns: Sequence[str], names: Iterable[str]) -> tuple[str, ...]:
    """The names, in the model's order, that any pattern (`*`, `?`, `[…]`) matches.

    Raises `InputError` for a pattern that matches nothing.
    """
    if len(patterns) > MAX_PATTERNS:
        raise InputError(
            "too-many-patterns", "select", f"select has more than {MAX_PATTERNS} patterns"
        )
    known = list(names)
    chosen: set[str] = set()
    for index, pattern in enumerate(dict.fromkeys(patterns)):
        matched = [name for name in known if _matches(pattern, name)]
        field = f"select[{index}]"
        if not matched:
            raise InputError("unknown-tensor", field, f"{field} names no tensor of the model")
        chosen.update(matched)
    return tuple(name for name in known if name in chosen)


def _matches(pattern: str, name: str) -> bool:
    return name == pattern or (name not in ON_REQUEST and fnmatchcase(name, pattern))
