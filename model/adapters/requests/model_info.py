"""The description of a model, available before any request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from model.bundle.measurements import Aligner, Certainty, Taught, ZooEntry
from model.errors import InputError
from model.trace.attentions import AttentionInfo, NetworkInfo, per_stack, texts

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
    "scores": ("does not support the terms of a score", UNSUPPORTED),
    "relevance": ("does not support gradient × attention", UNSUPPORTED),
    "attribution": ("does not support attributions to source tokens", UNSUPPORTED),
    "mean": ("has no means of its heads", "no-means"),
    "long": ("cannot be read without all its weights", UNSUPPORTED),
    "learning": ("has no snapshots of its training", "no-learning"),
    "chat": ("has no chat template", UNSUPPORTED),
    "padding": ("cannot be padded", UNSUPPORTED),
    "pair": ("reads no pair of texts", UNSUPPORTED),
}

# Why a model lacks a capability.
REASONS = {
    "weights-only": "only the weights of its attention are known, since it is not computed "
    "through the attention interface of transformers",
    "no-head": "it has no language-modelling head",
    "reads-only": "it is an encoder, which reads a text and writes none",
    "masks-only": "it predicts the words at its masks, not a text",
    "no-mask-token": "its tokenizer has no mask token",
    "one-text": "it reads a single text",
    "unknown-layers": "what its layers add up to is not known",
    "not-a-sum": "its logits are not a sum of contributions",
    "no-table": "no table of positions is added to its input",
    "other-positions": "positions are added in every layer",
    "other-scoring": "its scores are not a multiple of q · k",
    "unknown-scores": "its scores are not known to be a sum of products",
    "own-code": "its attention is not computed by the interface alone",
    "mixes-positions": "it mixes positions outside attention, so that padding would change the "
    "numbers of the text",
    "no-means": "the means of its heads are not in its bundle",
    "no-template": "its tokenizer has none",
    "bad-template": "that of its tokenizer cannot be used",
    "reads-on": "it is a decoder, which reads one text from left to right",
    "source-and-target": "its second text is the target, which it writes",
    "no-pair-template": "its tokenizer puts nothing between two texts",
    "too-few-types": "its tokenizer gives two texts a token type that the model lacks",
    "some-layers": "only some of its layers are here",
    "no-snapshots": "no snapshots were recorded during its training",
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
    networks: tuple[NetworkInfo, ...] = ()
    """The feed-forward networks of a model whose attentions list their parameters, as far as their
    calculation is known; those of any other model are the paper's."""
    capabilities: frozenset[str] = frozenset()
    """Supported capabilities: keys of `CAPABILITIES`."""
    missing: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Why each of the other capabilities is missing, such as "no-head": keys of `REASONS`."""
    directions: tuple[str, ...] = ()
    """Trained directions, such as "en-zh"; empty for a model of one text."""
    prompts: tuple[str, ...] = ()
    """Example texts; empty if the model has none of its own."""
    mask: str = ""
    """The mask token of a masked language model, such as "[MASK]"; empty if there is none."""
    zoo: ZooEntry | None = None
    """The task of a model of the zoo; null for any other."""
    certainty: Certainty | None = None
    """When the model is unsure; null if it was not measured."""

    def require(self, capability: str, field: str) -> None:
        """Raise `InputError` for a request's field if the model lacks a capability."""
        if capability not in self.capabilities:
            words, kind = CAPABILITIES[capability]
            reason = REASONS.get(self.missing.get(capability, ""))
            detail = f"{field}: this model {words}{f', because {reason}' if reason else ''}"
            raise InputError(kind, field, f"{detail} ({self.name})")

    @cached_property
    def places(self) -> tuple[str, ...]:
        """The names of the attentions, such as "encoder.0.self"."""
        return tuple(one.place for one in self.attentions)

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The texts it reads: ("source", "target"), or ("text",)."""
        return texts(self.attentions)

    @cached_property
    def layers(self) -> Mapping[str, int]:
        """Number of layers of each stack: {"encoder": 6, "decoder": 6}."""
        return {stack: layers for stack, (layers, _) in per_stack(self.attentions).items()}

    @cached_property
    def heads(self) -> Mapping[str, int]:
        """Number of heads per attention, by stack."""
        return {stack: heads for stack, (_, heads) in per_stack(self.attentions).items()}
