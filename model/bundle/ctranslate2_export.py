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
        for there, here in zip(stack.layer, layers, strict=True):
            assert isinstance(here, EncoderLayer | DecoderLayer)
            _layer(there, here)
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
    for name, known in plain.items():
        if getattr(config, name) not in known:
            raise UnknownToEngineError(f"CTranslate2 has no {name} {getattr(config, name)}")


def _layer(there: Any, here: EncoderLayer | DecoderLayer) -> None:
    """Fill the specification of a layer with the layer's weights."""
    _self_attention(there.self_attention, here.self_attention, here.self_norm)
    if isinstance(here, DecoderLayer):
        _cross_attention(there.attention, here.cross_attention, here.cross_norm)
    _ffn(there.ffn, here.ffn, here.ffn_norm)


def _self_attention(there: Any, here: MultiHeadAttention, norm: AddNorm) -> None:
    _linear(there.linear[0], here.W_q, here.W_k, here.W_v)
    _linear(there.linear[1], here.W_o)
    _norm(there.layer_norm, norm.norm)


def _cross_attention(there: Any, here: MultiHeadAttention, norm: AddNorm) -> None:
    _linear(there.linear[0], here.W_q)
    _linear(there.linear[1], here.W_k, here.W_v)
    _linear(there.linear[2], here.W_o)
    _norm(there.layer_norm, norm.norm)


def _ffn(there: Any, here: FeedForward, norm: AddNorm) -> None:
    _linear(there.linear_0, here.W_1)
    _linear(there.linear_1, here.W_2)
    _norm(there.layer_norm, norm.norm)


def _linear(there: Any, *here: torch.nn.Linear) -> None:
    """Combine several projections of the same input into one."""
    there.weight = _array(torch.cat([one.weight for one in here]))
    there.bias = _array(torch.cat([one.bias for one in here]))


def _norm(there: Any, here: torch.nn.LayerNorm) -> None:
    there.gamma, there.beta = _array(here.weight), _array(here.bias)


def _array(value: Tensor) -> Any:
    # A copy: CTranslate2 quantizes in place, and a tensor on the CPU shares its memory with NumPy.
    return value.detach().float().cpu().numpy().copy()
