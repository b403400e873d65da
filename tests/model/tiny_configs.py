"""Any architecture of `transformers` with tiny random weights: its default config, made small.

Configs have no common names, so numbers are made small by what their names say. An architecture for
which that does not give a model of at most `NUMBERS` numbers raises `NotSmallError`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import torch

from tests.model.tiny_config_options import OPTIONS

NUMBERS = 100_000_000  # towers of images whose sizes have no common names
LAYERS, HEADS, KV_HEADS, HEAD_SIZE, WIDTH, FED, LENGTH = 2, 4, 2, 8, 32, 48, 64
Rule = tuple[str, int]
KV = r"(key_value|kv)_heads|n_kv_head|num_head_kv|num_key_value"
# The first rule whose pattern is in a name gives the most that its number may be.
RULES: tuple[Rule, ...] = (
    (r"vocab_size_per_layer|layer_idx|layer_id|interval|_freq|every_n|_ratio|_factor|_step$", 4),
    (r"_period$", 2),
    (r"_offset$", 1),
    (r"first_k_dense|num_nextn|num_dense_layers", 1),
    (
        r"(^|_)(num_)?(hidden_|encoder_|decoder_|n_)?layers?($|_num$|s$)|^n_layer|_layers$|^depth$",
        2,
    ),
    (r"num_hidden_groups|n_group|topk_group|num_group|ngroups|n_groups", 1),
    (KV, KV_HEADS),
    (r"rope_head_dim|rotary_dim", 4),
    (r"head_dim|d_kv|d_head|kv_channels|head_size|dim_head|attention_channels", HEAD_SIZE),
    (r"mamba_(n|num)_heads|mamba_heads", 8),
    (r"heads|n_head|num_head", HEADS),
    (r"per_tok|moe_k$|top_k|topk|experts_k", 2),
    (r"experts", 4),
    (r"state_size|d_state|_rank$", 4),
    (r"intermediate|ffn|d_ff|d_inner|n_inner|feed_forward|mlp_hidden", FED),
    (
        r"hidden_size|d_model|n_embd|_dim$|^dim$|embedding_size|embed_size|proj|width|inner_size",
        WIDTH,
    ),
    (r"max_position|n_positions|max_seq|n_ctx|seq_len|max_target|max_source|block_size", LENGTH),
    (r"image_size", 32),
    (r"patch_size", 16),
)


@dataclass(frozen=True)
class Variant:
    """How a config is made small; what suits one architecture does not suit another."""

    lists: bool = True  # of an entry for each layer are cut too
    all_layers: bool = False
    head_size: bool = False  # stated, where the default config leaves it open
    section: tuple[int, ...] = ()  # pairs of a head that are rotated by time, height and width


VARIANTS = (
    Variant(),
    Variant(lists=False),
    Variant(section=(2, 1, 1)),
    Variant(section=(1, 1, 0)),
    Variant(head_size=True),
    Variant(head_size=True, lists=False),
    Variant(head_size=True, section=(2, 1, 1)),
    Variant(all_layers=True),
    Variant(all_layers=True, head_size=True),
)


class NotSmallError(Exception):
    """No small model could be made; the message says why."""


def tiny_models(class_: Any, vocabulary: int) -> Iterator[Any]:
    """Yield random models of a class, in evaluation mode, each of another small config.

    Raises `NotSmallError` if there is none.
    """
    name = class_.__name__
    reason: Exception | None = None
    count = 0
    for variant in VARIANTS:
        try:
            config = tiny_config(class_.config_class, vocabulary, variant, OPTIONS.get(name, {}))
            with torch.device("meta"):
                size = sum(value.numel() for value in class_(config).parameters())
            if size > NUMBERS:
                raise NotSmallError(f"its default config, made small, has {size:,} numbers")
            torch.manual_seed(0)
            model = class_(config).eval()
        except Exception as error:  # whatever a class does with such numbers
            reason = reason or error
            continue
        count += 1
        yield model
    if isinstance(reason, NotSmallError) and not count:
        raise reason
    if not count:
        first = (str(reason).strip().splitlines() or [""])[0][:120]
        raise NotSmallError(f"{type(reason).__name__}: {first}") from reason


def tiny_config(
    class_: Any, vocabulary: int, variant: Variant, more: Mapping[str, Any] = MappingProxyType({})
) -> Any:
    """Return the default config of a class with small numbers, and with `more` options."""
    whole = class_().to_dict()
    options = {
        key: value
        for key, value in _small(whole, vocabulary, variant).items()
        if key not in whole or value != whole[key] or key.endswith("config")
    }
    config = class_(**_merged(options, more))
    config._attn_implementation = "eager"  # as a folder is opened
    if config.is_encoder_decoder and getattr(config, "decoder_start_token_id", None) is None:
        config.decoder_start_token_id = 0
    return config


def _merged(options: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options with others in their place, those of a config in a config too."""
    merged = dict(options)
    for key, value in more.items():
        before = merged.get(key)
        is_config = key.endswith("config") and isinstance(value, dict)
        merged[key] = _merged(before, value) if is_config and isinstance(before, dict) else value
    return merged


def _small(config: dict[str, Any], vocabulary: int, variant: Variant) -> dict[str, Any]:
    """Return a config with small numbers."""
    small = {
        key: _value(key, value, vocabulary, variant, _layers(config))
        for key, value in config.items()
        if key not in {"model_type", "transformers_version", "architectures"}
    }
    if "qk_rope_head_dim" in small:  # the sizes that follow from the others
        small = {key: small[key] for key in small.keys() - {"head_dim", "qk_head_dim"}}
    heads = {value for key, value in config.items() if _most(key) == HEADS and _whole(value)}
    for key, value in config.items():
        if re.search(KV, key) and value in heads:  # not grouped
            small[key] = HEADS
    if variant.head_size and heads:
        small["head_dim"] = HEAD_SIZE
    rotary = small.get("rope_parameters")
    if variant.section and isinstance(rotary, dict):
        small["rope_parameters"] = {**rotary, "mrope_section": list(variant.section)}
    return small


def _layers(config: dict[str, Any]) -> set[int]:
    return {value for key, value in config.items() if _most(key) == LAYERS and _whole(value)}


def _value(key: str, value: Any, vocabulary: int, variant: Variant, layers: set[int]) -> Any:
    if isinstance(value, dict):
        if key == "per_layer_config":
            value = {name: entry for name, entry in value.items() if int(name) < LAYERS}
        if key.endswith(("config", "encoder", "decoder")) and value:
            kind = {"model_type": value["model_type"]} if "model_type" in value else {}
            return {**_small(value, vocabulary, variant), **kind}
        return {
            name: _value(str(name), entry, vocabulary, variant, layers)
            for name, entry in value.items()
        }
    if isinstance(value, list) and len(value) in layers and len(value) > LAYERS and variant.lists:
        return [value[0], value[-1]]
    if key == "vocab_size":  # open in some, and in others without room for the tokenizer's
        return vocabulary
    if not _whole(value):
        return value
    if re.search(r"vocab_size|vocabulary_size", key):
        return min(value, vocabulary)
    if re.search(r"_id$|_index$|_token$", key):
        return value if value < vocabulary else vocabulary - 1
    most = _most(key)
    if variant.all_layers and most == LAYERS:
        return value
    return value if most is None or value <= most else most


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _most(key: str) -> int | None:
    return next((most for pattern, most in RULES if re.search(pattern, key)), None)
