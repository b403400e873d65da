"""What a model says of itself before anything is asked of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from model.bundle.measured import Aligner, Taught
from model.trace.attentions import AttentionInfo, per_stack, texts


@dataclass(frozen=True)
class ModelInfo:
    """A model's identity, its attentions and its sizes; plain data, equal wherever it is."""

    id: str
    name: str
    kind: str  # "encoder-decoder", "encoder" or "decoder"
    attentions: tuple[AttentionInfo, ...]  # in the order in which they run
    d_model: int
    parameters: int
    vocabulary: int
    languages: tuple[str, ...]
    max_tokens: int
    digest: str
    card: str
    aligners: tuple[Aligner, ...] = ()  # the best first
    taught: tuple[Taught, ...] = ()
    examples: int = 0  # sentences that were watched while it was learned

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
