"""What a model says of itself before anything is asked of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from model.bundle.measurements import Aligner, Taught, ZooEntry
from model.errors import InputError
from model.trace.attentions import AttentionInfo, per_stack, texts

# What a model may be able to do; what one that is not says of itself, and the kind of problem.
UNSUPPORTED = "unsupported"
CAPABILITIES = {
    "decode": ("cannot write a text", UNSUPPORTED),
    "score": ("cannot score a target that is given", UNSUPPORTED),
    "sweep": ("cannot be run without each of its heads", UNSUPPORTED),
    "parameters": ("does not show its parameters", UNSUPPORTED),
    "positions": ("does not say what its positions are", UNSUPPORTED),
    "worksheet": ("cannot be worked out by hand, step by step", UNSUPPORTED),
    "alignment": ("does not align two texts", UNSUPPORTED),
    "lens": ("cannot be read layer by layer", UNSUPPORTED),
    "contributions": ("cannot say what adds to a logit", UNSUPPORTED),
    "relevance": ("cannot say what its output hangs on", UNSUPPORTED),
    "mean": ("came without the means of its heads", "no-means"),
    "learning": ("came without snapshots of its training", "no-learning"),
}


@dataclass(frozen=True)
class ModelInfo:
    """A model's identity, its attentions and its sizes; plain data, equal wherever it is."""

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
    """Of config, tokenizer and weights."""
    card: str
    """The model card, in Markdown."""
    aligners: tuple[Aligner, ...] = ()
    """The head nearest to alignments made by people, by the rows that write a word and by those
    that read it; first the better one on the pairs that they were chosen by."""
    taught: tuple[Taught, ...] = ()
    """Heads that training asked to align; all others were left alone."""
    examples: int = 0
    """Sentences that were watched while it was learned: `…/learning`."""
    positions: str = "sinusoidal"
    """What tells it the order of tokens, such as "rotary"; a key of `POSITIONS`."""
    norm: str = "post"
    """Where the layer norm of a sublayer stands: "post" or "pre"."""
    bias: bool = True
    """Whether the projections of its attentions have biases."""
    capabilities: frozenset[str] = frozenset()
    """What can be asked of it: keys of `CAPABILITIES`."""
    directions: tuple[str, ...] = ()
    """What it was trained to translate, such as "en-zh"; empty for a model of one text."""
    zoo: ZooEntry | None = None
    """What a model of the zoo learned; null for any other."""

    def require(self, capability: str, field: str) -> None:
        """Raises `InputError` naming the field of a request that takes what the model cannot do."""
        if capability not in self.capabilities:
            words, kind = CAPABILITIES[capability]
            raise InputError(kind, field, f"{field}: this model {words}")

    @property
    def places(self) -> tuple[str, ...]:
        """The attentions by their names, such as "encoder.0.self"."""
        return tuple(one.place for one in self.attentions)

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts that it reads: ("source", "target"), or ("text",)."""
        return texts(self.attentions)

    @property
    def layers(self) -> Mapping[str, int]:
        """How many layers each stack has: {"encoder": 6, "decoder": 6}."""
        return {stack: layers for stack, (layers, _) in per_stack(self.attentions).items()}

    @property
    def heads(self) -> Mapping[str, int]:
        """How many heads an attention of each stack has."""
        return {stack: heads for stack, (_, heads) in per_stack(self.attentions).items()}
