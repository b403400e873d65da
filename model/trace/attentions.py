"""Which attentions a model has, and which tokens each of them is between.

A model declares them once, in `ModelInfo.attentions`. Whoever must know which text an axis
follows, or which attentions are alike, reads it there and not out of a name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

Kind = Literal["self", "cross"]  # within one text, or from one text to another
SELF: Final = "self"
CROSS: Final = "cross"
PADDING, CAUSAL = "padding", "causal"  # masks: nobody looks at padding; nor at what comes later
SCALED_DOT = "scaled-dot"  # scoring: q · k / √d_k


@dataclass(frozen=True)
class AttentionInfo:
    """One attention of one layer; its tensors are ``f"{place}.weights"`` and the like."""

    place: str
    """Such as "encoder.0.self"."""
    stack: str
    """Such as "encoder": attentions of one stack and kind stand above each other."""
    layer: int
    """Within the stack, from 0."""
    kind: Kind
    query: str
    """The text whose tokens look: "source", "target", or the one "text"."""
    key: str
    """The text whose tokens are looked at."""
    heads: int
    kv_heads: int
    """Heads of keys and values; fewer where several queries share one."""
    mask: str
    """Rules combined with &: "padding", "causal", "causal & window-3"."""
    scoring: str
    """Such as "scaled-dot" or "dot"; with what positions do to scores, "scaled-dot & relative"."""

    @property
    def over(self) -> dict[str, str]:
        """What its axes follow, as a `NamedTensor` says it: {"query": …, "key": …}."""
        return {"query": self.query, "key": self.key}

    @property
    def causal(self) -> bool:
        """Whether no query looks at what comes later."""
        return CAUSAL in self.mask.split(" & ")

    @property
    def block(self) -> str:
        """What its stack and kind are called in an address: "encoder", "decoder" or "cross"."""
        return self.stack if self.kind == SELF else self.kind


Attentions = Sequence[AttentionInfo]


def texts(attentions: Iterable[AttentionInfo]) -> tuple[str, ...]:
    """The texts that attentions are between, each once: ("source", "target") or ("text",)."""
    return tuple(dict.fromkeys(text for one in attentions for text in (one.query, one.key)))


def read_whole(attentions: Iterable[AttentionInfo]) -> tuple[str, ...]:
    """The texts that are there from the start; the others are written token by token."""
    known = tuple(attentions)
    grown = {one.query for one in known if one.causal}
    return tuple(text for text in texts(known) if text not in grown)


def alike(attentions: Iterable[AttentionInfo]) -> dict[str, list[AttentionInfo]]:
    """Attentions of one stack and kind, layer by layer, under "encoder.self" and the like."""
    kinds: dict[str, list[AttentionInfo]] = {}
    for one in attentions:
        kinds.setdefault(f"{one.stack}.{one.kind}", []).append(one)
    return kinds


def per_stack(attentions: Iterable[AttentionInfo]) -> Mapping[str, tuple[int, int]]:
    """How many layers each stack has, and how many heads an attention of it."""
    found: dict[str, tuple[int, int]] = {}
    for one in attentions:
        layers, heads = found.get(one.stack, (0, 0))
        found[one.stack] = max(layers, one.layer + 1), max(heads, one.heads)
    return found
