"""The description of a model, available before any request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from model.bundle.measurements import Aligner, Taught, ZooEntry
from model.errors import InputError
from model.trace.attentions import AttentionInfo, per_stack, texts

# The capabilities: how an error says that the model lacks one, and the kind of problem.
UNSUPPORTED = "unsupported"
CAPABILITIES = {
    "decode": ("cannot write a text", UNSUPPORTED),
    "score": ("cannot score a given target", UNSUPPORTED),
    "candidates": ("predicts no tokens", UNSUPPORTED),
    "sweep": ("does not support sweeps over its heads", UNSUPPORTED),
    "parameters": ("does not show its parameters", UNSUPPORTED),
    "positions": ("does not add a table of positions to its input", UNSUPPORTED),
    "worksheet": ("does not support calculations by hand", UNSUPPORTED),
    "alignment": ("does not align two texts", UNSUPPORTED),
    "lens": ("does not support the logit lens", UNSUPPORTED),
    "contributions": ("does not support contributions to a logit", UNSUPPORTED),
    "relevance": ("does not support gradient × attention", UNSUPPORTED),
    "mean": ("has no means of its heads", "no-means"),
    "long": ("cannot be read without all its weights", UNSUPPORTED),
    "learning": ("has no snapshots of its training", "no-learning"),
}


@dataclass(frozen=True)
class ModelInfo:
    """A model's identity, its attentions and its sizes; plain data that compares equal."""

    id: str
    name: str
    kind: Literal["encoder-decoder", "encoder", "decoder"]
    attentions: tuple[AttentionInfo, ...]
    """Every attention, in the order in which they run."""
    d_model: int
    parameters: int
    vocabulary: int
    languages: tuple[str, ...]
    max_tokens: int
    digest: str
    """Digest of config, tokenizer and weights."""
    card: str
    """The model card, in Markdown."""
    aligners: tuple[Aligner, ...] = ()
    """The heads closest to human word alignment, for rows that write a word and rows that
    read it; the better one, on the pairs used to choose them, comes first."""
    taught: tuple[Taught, ...] = ()
    """Heads that training supervised to align; none if empty."""
    examples: int = 0
    """Number of sentences whose attention was recorded during training: `…/learning`."""
    positions: str = "sinusoidal"
    """Positional encoding, such as "rotary"; a key of `POSITIONS`."""
    norm: str = "post"
    """Position of the layer norm in a sublayer: "post" or "pre"."""
    bias: bool = True
    """Whether the projections of its attentions have biases."""
    capabilities: frozenset[str] = frozenset()
    """Supported capabilities: keys of `CAPABILITIES`."""
    directions: tuple[str, ...] = ()
    """Trained directions, such as "en-zh"; empty for a model of one text."""
    prompts: tuple[str, ...] = ()
    """Example texts; empty if the model has none of its own."""
    mask: str = ""
    """The mask token of a masked language model, such as "[MASK]"; empty if there is none."""
    zoo: ZooEntry | None = None
    """The task of a model of the zoo; null for any other."""

    def require(self, capability: str, field: str) -> None:
        """Raise `InputError` for a request's field if the model lacks a capability."""
        if capability not in self.capabilities:
            words, kind = CAPABILITIES[capability]
            raise InputError(kind, field, f"{field}: this model {words}")

    @property
    def places(self) -> tuple[str, ...]:
        """The names of the attentions, such as "encoder.0.self"."""
        return tuple(one.place for one in self.attentions)

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts it reads: ("source", "target"), or ("text",)."""
        return texts(self.attentions)

    @property
    def layers(self) -> Mapping[str, int]:
        """Number of layers of each stack: {"encoder": 6, "decoder": 6}."""
        return {stack: layers for stack, (layers, _) in per_stack(self.attentions).items()}

    @property
    def heads(self) -> Mapping[str, int]:
        """Number of heads per attention, by stack."""
        return {stack: heads for stack, (_, heads) in per_stack(self.attentions).items()}
