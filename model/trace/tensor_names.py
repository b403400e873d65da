"""Tensors by name patterns, or by place: `trace.weights("decoder.0.cross", head=3)`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache

from model.errors import Excess, InputError
from model.trace.tensor_tap import NamedTensor

LOGITS = ".logits"

EMBEDDING = "embedding"  # the parameter; the embeddings of a text are "source.embedding"

INSIDE = "inside."  # tensors computed from others; matched only by patterns with this prefix

# How much each source token changes a written one. Expensive: only when named in full.
OCCLUSION = f"{INSIDE}occlusion"

GRADIENT_INPUT = f"{INSIDE}gradient-input"

INTEGRATED = f"{INSIDE}integrated-gradients"

CHANGE = f"{INTEGRATED}.change"

GAP = f"{INTEGRATED}.gap"  # the sum of a row minus the change

INTEGRATIONS = frozenset((INTEGRATED, GAP))  # those that need the integral

ATTRIBUTIONS = frozenset((OCCLUSION, GRADIENT_INPUT, INTEGRATED, CHANGE, GAP))

MAX_PATTERNS = 256

NOUNS = {
    "select": ("unknown-tensor", "tensor"),
    "summarise": ("unknown-place", "attention"),
    "among": ("unknown-place", "attention"),
}


def select(patterns: Sequence[str], names: Iterable[str], field: str = "select") -> tuple[str, ...]:
    """Return the names, in the model's order, that match any pattern (`*`, `?`, `[…]`).

    Raises `InputError` for a pattern that matches nothing; `field` is the path of the patterns in
    the request.
    """
    if len(patterns) > MAX_PATTERNS:
        detail = f"{field} has more than {MAX_PATTERNS} patterns"
        excess = Excess(MAX_PATTERNS, "entries", len(patterns))
        raise InputError("too-many-patterns", field, detail, excess)
    return _select(tuple(patterns), tuple(names), field)


@lru_cache(maxsize=64)  # called several times per trace, mostly with the same patterns
def _select(patterns: tuple[str, ...], names: tuple[str, ...], field: str) -> tuple[str, ...]:
    chosen: set[str] = set()
    for index, pattern in enumerate(patterns):
        # A full name is the most common pattern, and matches only itself.
        matched = [pattern] if pattern in names else [n for n in names if matches(pattern, n)]
        if not matched:
            pattern_field = f"{field}[{index}]"
            kind, noun = NOUNS[field]
            raise InputError(kind, pattern_field, f"{pattern_field} names no {noun} of the model")
        chosen.update(matched)
    return tuple(name for name in names if name in chosen)


def present(patterns: Iterable[str], names: Iterable[str]) -> list[str]:
    """Return the patterns that match at least one name."""
    recorded = list(names)
    return [pattern for pattern in patterns if any(matches(pattern, name) for name in recorded)]


def matches(pattern: str, name: str) -> bool:
    """Return whether a pattern matches; large or computed tensors must be named explicitly."""
    # Only when named in full.
    large = name == EMBEDDING or name.endswith(LOGITS) or name in ATTRIBUTIONS
    if large or (name.startswith(INSIDE) and not pattern.startswith(INSIDE)):
        return name == pattern
    return fnmatchcase(name, pattern)


class TensorsByPlace:
    """The tensors of an attention by its place, for what has tensors by name.

    `place` is "decoder.0.cross" for example. Indices choose from axes, as `NamedTensor.take` does.
    """

    def __getitem__(self, name: str) -> NamedTensor:
        raise NotImplementedError

    def weights(self, place: str, **indices: int) -> NamedTensor:
        """Return the attention weights of a place: (head, query, key)."""
        return self[f"{place}.weights"].take(**indices)

    def mask(self, place: str, **indices: int) -> NamedTensor:
        """Return which keys each query of a place may attend to: (query, key)."""
        return self[f"{place}.mask"].take(**indices)

    def q(self, place: str, **indices: int) -> NamedTensor:
        """Return the queries of a place: (head, query, channel)."""
        return self[f"{place}.q"].take(**indices)

    def k(self, place: str, **indices: int) -> NamedTensor:
        """Return the keys of a place: (head, key, channel)."""
        return self[f"{place}.k"].take(**indices)

    def v(self, place: str, **indices: int) -> NamedTensor:
        """Return the values of a place: (head, key, channel)."""
        return self[f"{place}.v"].take(**indices)
