"""Converts a bundle for CTranslate2, with 8-bit weights, into a cache by the bundle's digest.

CTranslate2 (https://github.com/OpenNMT/CTranslate2) decodes a Transformer several times faster than
torch, but gives no access to the values inside. It is optional.
"""

from __future__ import annotations

from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any

import torch
from filelock import FileLock
from torch import Tensor

from model.bundle.weights import Bundle
from model.transformer.attention import MultiHeadAttention
from model.transformer.config import ModelConfig
from model.transformer.layers import DecoderLayer, EncoderLayer, FeedForward
from model.transformer.norms import AddNorm
from model.transformer.positions import Table

if TYPE_CHECKING:
    from ctranslate2.specs import TransformerSpec

STORED = "int8"  # 8-bit matrices with one scale per row, the rest in float32
EPSILON = 1e-5  # default of torch's layer norm


class UnknownToEngineError(ValueError):
    """CTranslate2 does not support this Transformer."""


def exported(bundle: Bundle, cache: Path, *, anew: bool = False) -> Path:
    """Return the folder in `cache` that CTranslate2 loads; write it if it is missing, or if `anew`.

    The folder is written under another name and then renamed, by one process at a time.
    Raises `UnknownToEngineError`, `ImportError` without CTranslate2, and `OSError` if `cache`
    cannot be written.
    """
    folder = cache / f"{bundle.digest}-{STORED}"
    partial = folder.with_suffix(".partial")
    cache.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.with_suffix(".lock")):
        if anew or not folder.is_dir():
            spec = specification(bundle)
            for old in (partial, folder):  # left by a killed process, or outdated
                rmtree(old, ignore_errors=True)
            try:
                partial.mkdir()
                spec.save(str(partial))
                partial.rename(folder)
            except OSError:
                rmtree(partial, ignore_errors=True)
                raise
    return folder


def specification(bundle: Bundle) -> TransformerSpec:
    """Return the bundle's model as a CTranslate2 specification.

    Tokens are named by their ids, since CTranslate2 works with words. Raises
    `UnknownToEngineError`, and `ImportError` without CTranslate2.
    """
    from ctranslate2.specs import TransformerSpec

    model, tokenizer, config = bundle.model, bundle.tokenizer, bundle.model.config
    _check(config)
    spec = TransformerSpec.from_config(
        (config.encoder_layers, config.decoder_layers),
        config.heads,
        pre_norm=config.norm == "pre",
    )
    spec.encoder.num_heads = spec.encoder.num_heads.dtype.type(config.heads_of["encoder"])
    stacks = (
        (spec.encoder, model.encoder, model.encoder_positions, model.encoder_norm),
        (spec.decoder, model.decoder, model.decoder_positions, model.decoder_norm),
    )
    for stack, layers, positions, last in stacks:
        assert isinstance(positions, Table)
        stack.position_encodings.encodings = _array(positions.table)
        for layer_spec, layer in zip(stack.layer, layers, strict=True):
            assert isinstance(layer, EncoderLayer | DecoderLayer)
            _layer(layer_spec, layer)
        if isinstance(last, torch.nn.LayerNorm):
            _norm(stack.layer_norm, last)
    embedding = _array(model.embedding.weight)
    spec.encoder.embeddings[0].weight = embedding
    spec.decoder.embeddings.weight = embedding
    spec.decoder.projection.weight = embedding  # the three matrices are shared (section 3.4)
    names = [str(id_) for id_ in range(config.vocabulary)]
    spec.register_source_vocabulary(names)
    spec.register_target_vocabulary(names)
    spec.config.unk_token = names[tokenizer.pad]  # there is none: any text can be encoded
    spec.config.bos_token = spec.config.decoder_start_token = names[tokenizer.bos]
    spec.config.eos_token = names[tokenizer.eos]
    spec.config.layer_norm_epsilon = EPSILON
    spec.validate()
    spec.optimize(STORED)
    return spec


def _check(config: ModelConfig) -> None:
    plain = {
        "positions": ("sinusoidal", "learned"),
        "scoring": ("scaled-dot",),
        "encoder_mask": ("padding",),
        "decoder_mask": ("causal",),
        "bias": (True,),
    }
    for name, supported in plain.items():
        if getattr(config, name) not in supported:
            raise UnknownToEngineError(f"CTranslate2 has no {name} {getattr(config, name)}")


def _layer(spec: Any, layer: EncoderLayer | DecoderLayer) -> None:
    """Fill the specification of a layer with the layer's weights."""
    _self_attention(spec.self_attention, layer.self_attention, layer.self_norm)
    if isinstance(layer, DecoderLayer):
        _cross_attention(spec.attention, layer.cross_attention, layer.cross_norm)
    _ffn(spec.ffn, layer.ffn, layer.ffn_norm)


def _self_attention(spec: Any, attention: MultiHeadAttention, norm: AddNorm) -> None:
    _linear(spec.linear[0], attention.W_q, attention.W_k, attention.W_v)
    _linear(spec.linear[1], attention.W_o)
    _norm(spec.layer_norm, norm.norm)


def _cross_attention(spec: Any, attention: MultiHeadAttention, norm: AddNorm) -> None:
    _linear(spec.linear[0], attention.W_q)
    _linear(spec.linear[1], attention.W_k, attention.W_v)
    _linear(spec.linear[2], attention.W_o)
    _norm(spec.layer_norm, norm.norm)


def _ffn(spec: Any, network: FeedForward, norm: AddNorm) -> None:
    _linear(spec.linear_0, network.W_1)
    _linear(spec.linear_1, network.W_2)
    _norm(spec.layer_norm, norm.norm)


def _linear(spec: Any, *linears: torch.nn.Linear) -> None:
    """Combine several projections of the same input into one."""
    spec.weight = _array(torch.cat([linear.weight for linear in linears]))
    spec.bias = _array(torch.cat([linear.bias for linear in linears]))


def _norm(spec: Any, layer_norm: torch.nn.LayerNorm) -> None:
    spec.gamma, spec.beta = _array(layer_norm.weight), _array(layer_norm.bias)


def _array(value: Tensor) -> Any:
    # A copy: CTranslate2 quantizes in place, and a tensor on the CPU shares its memory with NumPy.
    return value.detach().float().cpu().numpy().copy()
