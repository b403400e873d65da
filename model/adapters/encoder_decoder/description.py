"""The description of an encoder–decoder: its attentions, its streams and its scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import TypedDict

import torch
from torch import Tensor, nn

from model.adapters.requests.model_info import CAPABILITIES, ModelInfo
from model.bundle.measurements import Measured
from model.bundle.weights import Bundle
from model.explain.residual_stream import POSITION, Norm, Reader, Stack, Stream, Sublayer
from model.explain.score_terms import Scores, Side
from model.trace.attentions import CAUSAL, CROSS, PADDING, SCALED_DOT, SELF, AttentionInfo, Kind
from model.trace.record import recording
from model.trace.tensor_tap import NULL, SOURCE, TARGET, NameTap
from model.transformer.attention import MultiHeadAttention
from model.transformer.config import ModelConfig
from model.transformer.layers import DecoderLayer, EncoderLayer
from model.transformer.norms import AddNorm, End, Last, PreNorm
from model.transformer.positions import (
    POSITIONS,
    EachLayer,
    OnQueriesAndKeys,
    Positions,
    Relative,
    Rotary,
)
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
        certainty=measured.certainty,
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
        "pair": ("source-and-target", True),
    }
    return {capability: reason for capability, (reason, lacking) in lacks.items() if lacking}


def encoder_of(model: Transformer) -> Stack:
    """Return the encoder's stack, which follows changes of the parameters."""
    return Stack(stack="encoder", text=SOURCE, **_parts(model.encoder, model.encoder_norm))


def stream_of(model: Transformer) -> Stream:
    """Return the decoder's stream, which follows changes of the parameters."""
    end = model.decoder_norm
    last = end if isinstance(end, Last) else None

    def logits(x: Tensor) -> Tensor:
        read = x if last is None else last(x, NULL)
        scores: Tensor = read @ model.embedding.weight.T
        return scores

    return Stream(
        stack="decoder",
        text=TARGET,
        matrix=model.embedding.weight,
        logits=logits,
        **_parts(model.decoder, end),
    )


class Parts(TypedDict):
    """The layers of a stack, and the norm at its end."""

    layers: tuple[tuple[Sublayer, ...], ...]
    last: Norm | None


def _parts(layers: Iterable[nn.Module], end: End) -> Parts:
    last = norm(end) if isinstance(end, Last) else None
    return {
        "layers": tuple(tuple(_sublayers(layer, last is None)) for layer in layers),
        "last": last,
    }


def _sublayers(layer: nn.Module, post: bool) -> Iterator[Sublayer]:
    assert isinstance(layer, EncoderLayer | DecoderLayer)
    yield _attention("self", layer.self_attention, norm(layer.self_norm.norm) if post else None)
    if isinstance(layer, DecoderLayer):
        after = norm(layer.cross_norm.norm) if post else None
        yield _attention("cross", layer.cross_attention, after)
    yield Sublayer("ffn", layer.ffn.W_2.bias, post=norm(layer.ffn_norm.norm) if post else None)


def _attention(name: str, attention: MultiHeadAttention, post: Norm | None) -> Sublayer:
    return Sublayer(name, attention.W_o.bias, attention.W_o.weight.T, post=post)


def norm(module: nn.LayerNorm) -> Norm:
    """Return the description of a layer norm."""
    return Norm(module.weight, module.bias, module.eps)


def scores_of(model: Transformer) -> dict[str, Scores]:
    """Return the scores of each attention by place; they follow changes of the parameters."""
    return dict(_each(encoder_of(model), stream_of(model), model))


def _each(encoder: Stack, decoder: Stack, model: Transformer) -> Iterator[tuple[str, Scores]]:
    for index, layer in enumerate(model.encoder):
        assert isinstance(layer, EncoderLayer)
        place = f"encoder.{index}.self"
        ours = encoder, (index, 0), _before(layer.self_norm)
        yield place, _scores(place, layer.self_attention, ours, ours, model.encoder_positions)
    for index, layer in enumerate(model.decoder):
        assert isinstance(layer, DecoderLayer)
        place = f"decoder.{index}.self"
        ours = decoder, (index, 0), _before(layer.self_norm)
        yield place, _scores(place, layer.self_attention, ours, ours, model.decoder_positions)
        reads = decoder, (index, 1), _before(layer.cross_norm)
        place, memory = f"decoder.{index}.cross", (encoder, None, None)
        yield place, _scores(place, layer.cross_attention, reads, memory, Positions())


Read = tuple[Stack, Reader | None, Norm | None]


def _scores(
    place: str, attention: MultiHeadAttention, query: Read, key: Read, positions: Positions
) -> Scores:
    def side(letter: str, read: Read) -> Side:
        stack, reader, before = read
        linear = getattr(attention, f"W_{letter}")
        return Side(
            stack=stack,
            reader=reader,
            letter=letter,
            matrix=lambda head: columns(linear.weight.T, head, attention.heads),
            bias=lambda head: (
                None if linear.bias is None else columns(linear.bias, head, attention.heads)
            ),
            before=before,
            position=f"{place}.{POSITION}" if isinstance(positions, OnQueriesAndKeys) else None,
            turn=partial(_turned, positions) if isinstance(positions, Rotary) else None,
        )

    return Scores(
        query=side("q", query),
        key=side("k", key),
        scale=attention.scoring.scale,
        offset=partial(_offset, positions) if isinstance(positions, Relative) else None,
    )


def columns(matrix: Tensor, head: int, heads: int) -> Tensor:
    """Return a head's columns of a matrix (…, H · d)."""
    width = matrix.shape[-1] // heads
    return matrix[..., head * width : (head + 1) * width]


def _before(add: AddNorm) -> Norm | None:
    return norm(add.norm) if isinstance(add, PreNorm) else None


def _turned(positions: Positions, terms: Tensor, position: int) -> Tensor:
    """Rotate vectors (A, d) to a position."""
    at = torch.tensor([position], device=terms.device)
    return positions.on_qk(terms[:, None, None], at)[:, 0, 0]


def _offset(positions: Relative, head: int, query: int, key: int) -> float:
    at = torch.tensor([query]), torch.tensor([key])
    return float(positions.of(*(side.to(positions.pi.device) for side in at))[head])
