"""The table of a model's attentions and networks, and which tokens an attention connects.

A model declares them once, in `ModelInfo.attentions`. Code that needs to know which text an axis
follows, or which attentions belong together, reads it there and does not parse names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

Kind = Literal["self", "cross"]  # queries and keys are of one text, or of two
SELF: Final = "self"
CROSS: Final = "cross"
PADDING, CAUSAL = "padding", "causal"  # masks: padding is hidden; later tokens are hidden too
SCALED_DOT = "scaled-dot"  # scoring: q · k / √d_k
LINEAR, LATENT, UNKNOWN = "linear", "latent", "unknown"  # projections: how q, k and v are computed


@dataclass(frozen=True)
class AttentionInfo:
    """One attention of one layer; its tensors are ``f"{place}.weights"`` and the like."""

    place: str
    """Such as "encoder.0.self"."""
    stack: str
    """Such as "encoder": attentions of one stack and kind form a column of layers."""
    layer: int
    """Index within the stack, from 0."""
    kind: Kind
    query: str
    """The text of the queries: "source", "target", or the only "text"."""
    key: str
    """The text of the keys."""
    heads: int
    kv_heads: int
    """Heads of keys and values; fewer if several query heads share one."""
    mask: str
    """Rules combined with &: "padding", "causal", "causal & window-3"."""
    scoring: str
    """Such as "scaled-dot" or "dot"; with positions in the scores, "scaled-dot & relative"."""
    qk: bool = True
    """Whether q, k and v are recorded; if not, only the weights are."""
    projection: str = LINEAR
    """How q, k and v are computed: "linear" (x W + b), "latent" (DeepSeek: through a compressed
    vector), or "unknown"."""
    parameters: tuple[str, ...] = ()
    """Short names of its parameters, such as "W_q", in a model whose layers may differ in them."""

    @property
    def over(self) -> dict[str, str]:
        """The texts of its axes, as in a `NamedTensor`: {"query": …, "key": …}."""
        return {"query": self.query, "key": self.key}

    @property
    def causal(self) -> bool:
        """Whether no query sees later tokens."""
        return CAUSAL in self.mask.split(" & ")

    @property
    def block(self) -> str:
        """Name of its stack and kind in links: "encoder", "decoder" or "cross"."""
        return self.stack if self.kind == SELF else self.kind


Attentions = Sequence[AttentionInfo]


def by_place(attentions: Iterable[AttentionInfo]) -> dict[str, AttentionInfo]:
    """Return the attentions by place."""
    return {attention.place: attention for attention in attentions}


def texts(attentions: Iterable[AttentionInfo]) -> tuple[str, ...]:
    """Return the texts of the attentions, each once: ("source", "target") or ("text",)."""
    return tuple(
        dict.fromkeys(text for attention in attentions for text in (attention.query, attention.key))
    )


def read_whole(attentions: Iterable[AttentionInfo]) -> tuple[str, ...]:
    """Return the texts that are complete at the start; the others are written token by token."""
    table = tuple(attentions)
    grown = {attention.query for attention in table if attention.causal}
    return tuple(text for text in texts(table) if text not in grown)


def text_of_rows(name: str, dims: Sequence[str], attentions: Attentions) -> str:
    """Return the text whose tokens are the rows (the second last axis) of a tensor."""
    place, stack = name.rpartition(".")[0], name.partition(".")[0]
    attention = by_place(attentions).get(place)
    if attention is not None:
        return attention.over[dims[-2]]
    return next((attention.query for attention in attentions if attention.stack == stack), place)


def alike(attentions: Iterable[AttentionInfo]) -> dict[str, list[AttentionInfo]]:
    """Group attentions of one stack and kind, layer by layer, under "encoder.self" and so on."""
    kinds: dict[str, list[AttentionInfo]] = {}
    for attention in attentions:
        kinds.setdefault(f"{attention.stack}.{attention.kind}", []).append(attention)
    return kinds


def per_stack(attentions: Iterable[AttentionInfo]) -> Mapping[str, tuple[int, int]]:
    """Return the number of layers of each stack, and the heads of its attentions."""
    sizes: dict[str, tuple[int, int]] = {}
    for attention in attentions:
        layers, heads = sizes.get(attention.stack, (0, 0))
        sizes[attention.stack] = max(layers, attention.layer + 1), max(heads, attention.heads)
    return sizes


@dataclass(frozen=True)
class NetworkInfo:
    """One feed-forward network; its tensors are ``f"{place}.hidden"`` and the like.

    With the activation function f, and without the biases that it does not have:

        hidden = f(x W_1 + b_1)                      or, gated, f(x W_g + b_g) · (x W_1 + b_1)
        output = hidden W_2 + b_2
    """

    place: str
    """Such as "encoder.0.ffn"."""
    activation: str
    """Such as "relu", "gelu", "gelu-tanh" or "silu"."""
    hidden: int
    """The number of hidden units."""
    parallel: bool
    """Whether it reads the input of the layer, beside the attention, instead of the sum after
    it."""
    parameters: tuple[str, ...]
    """Short names of its parameters, such as "W_1"; "W_g" if it is gated."""
