"""What an encoder–decoder says of itself: its table of attentions, and what it can."""

from __future__ import annotations

from collections.abc import Iterator

from model.adapters.info import CAPABILITIES
from model.bundle.measured import Measured
from model.trace.attentions import CAUSAL, CROSS, PADDING, SCALED_DOT, SELF, AttentionInfo, Kind
from model.trace.tap import SOURCE, TARGET
from model.transformer.config import ModelConfig


def attentions(encoder: int, decoder: int, heads: int) -> Iterator[AttentionInfo]:
    """The table of attentions of an encoder–decoder with so many layers, as they run."""
    blocks: tuple[tuple[str, int, tuple[tuple[Kind, str, str, str], ...]], ...] = (
        ("encoder", encoder, ((SELF, SOURCE, SOURCE, PADDING),)),
        ("decoder", decoder, ((SELF, TARGET, TARGET, CAUSAL), (CROSS, TARGET, SOURCE, PADDING))),
    )
    for stack, layers, kinds in blocks:
        for layer in range(layers):
            for kind, query, key, mask in kinds:
                place = f"{stack}.{layer}.{kind}"
                yield AttentionInfo(
                    place, stack, layer, kind, query, key, heads, heads, mask, SCALED_DOT
                )


def capabilities(config: ModelConfig, measured: Measured) -> frozenset[str]:
    """What an encoder–decoder can, given its variant and what was measured of it."""
    lacks = {
        "worksheet": config.norm != "post",  # its steps are those of a post-norm layer
        "mean": not measured.means,
        "learning": measured.learning is None,
    }
    return frozenset(word for word in CAPABILITIES if not lacks.get(word))
