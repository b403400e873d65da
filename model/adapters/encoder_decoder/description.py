"""The description of an encoder–decoder: its table of attentions, and its capabilities."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import torch

from model.adapters.requests.model_info import CAPABILITIES, ModelInfo
from model.bundle.measurements import Measured
from model.bundle.weights import Bundle
from model.trace.attentions import CAUSAL, CROSS, PADDING, SCALED_DOT, SELF, AttentionInfo, Kind
from model.trace.record import recording
from model.trace.tensor_tap import SOURCE, TARGET, NameTap
from model.transformer.config import ModelConfig
from model.transformer.positions import POSITIONS, EachLayer
from model.transformer.scoring import SCORINGS
from model.transformer.stacks import Transformer

# The paper's masks (section 3.2.3).
MASKS = {"encoder.self": PADDING, "decoder.self": CAUSAL, "decoder.cross": PADDING}


def info_of(bundle: Bundle, id_: str, measured: Measured) -> ModelInfo:
    """Return the description of a bundle's model, without using its weights."""
    config = bundle.model.config
    return ModelInfo(
        id=id_,
        name=bundle.name,
        kind="encoder-decoder",
        attentions=tuple(
            attentions(
                config.encoder_layers,
                config.decoder_layers,
                config.heads,
                config.masks,
                config.scoring,
                config.positions,
                config.encoder_heads,
            )
        ),
        d_model=config.d_model,
        parameters=sum(parameter.numel() for parameter in bundle.model.parameters()),
        vocabulary=config.vocabulary,
        languages=bundle.languages,
        max_tokens=config.max_tokens,
        digest=bundle.digest,
        card=bundle.card,
        aligners=measured.aligners,
        taught=measured.taught,
        positions=config.positions,
        norm=config.norm,
        bias=config.bias,
        capabilities=frozenset(CAPABILITIES.keys() - missing(config, measured).keys()),
        missing=missing(config, measured),
        examples=len(measured.learning.examples) if measured.learning else 0,
        directions=bundle.directions,
        zoo=measured.zoo,
    )


def recorded_names(model: Transformer) -> dict[str, tuple[str, ...]]:
    """Return every name that fires, with its dims, found by a run; random numbers go on as before.

    The run is in no record that is open.
    """
    names: dict[str, tuple[str, ...]] = {}
    device = model.embedding.weight.device
    ids = torch.zeros(1, 1, dtype=torch.long, device=device)
    with torch.inference_mode(), torch.random.fork_rng(), recording():
        model(ids, ids, tap=NameTap(names))
    return names


def attentions(
    encoder: int,
    decoder: int,
    heads: int,
    masks: Mapping[str, str] = MASKS,
    scoring: str = SCALED_DOT,
    positions: str = "none",
    encoder_heads: int | None = None,
) -> Iterator[AttentionInfo]:
    """Return the table of attentions of an encoder–decoder with these layers, in order.

    `masks` are by stack and kind, as in `ModelConfig.masks`. Positions that change scores
    are part of the scoring of self-attention.
    """
    placed = scoring if POSITIONS[positions].fusible else f"{scoring} & {positions}"
    blocks: tuple[tuple[str, int, tuple[tuple[Kind, str, str], ...]], ...] = (
        ("encoder", encoder, ((SELF, SOURCE, SOURCE),)),
        ("decoder", decoder, ((SELF, TARGET, TARGET), (CROSS, TARGET, SOURCE))),
    )
    for stack, layers, kinds in blocks:
        for layer in range(layers):
            for kind, query, key in kinds:
                place, mask = f"{stack}.{layer}.{kind}", masks[f"{stack}.{kind}"]
                scored = placed if kind == SELF else scoring
                h = encoder_heads or heads if stack == "encoder" else heads
                yield AttentionInfo(place, stack, layer, kind, query, key, h, h, mask, scored)


def missing(config: ModelConfig, measured: Measured) -> dict[str, str]:
    """Return the capabilities that an encoder–decoder lacks, with the reason.

    They depend on its variant and on what was measured.
    """
    each_layer = issubclass(POSITIONS[config.positions], EachLayer)
    products = not SCORINGS[config.scoring].fusible or config.positions == "relative-product"
    lacks = {
        # Positions added after the embedding are not part of the sum.
        "contributions": ("other-positions", each_layer),
        "scores": ("other-scoring" if products else "other-positions", products or each_layer),
        "long": ("other-scoring", not config.fusible),
        "mean": ("no-means", not measured.means),
        "learning": ("no-snapshots", measured.learning is None),
        "chat": ("no-template", True),
    }
    return {capability: reason for capability, (reason, lacking) in lacks.items() if lacking}
