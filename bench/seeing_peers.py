"""What other libraries take to see weights, q, k and v of a model of `transformers`, as tensors.

Each is measured if it can be imported: `pip install transformer-lens nnsight`, in an environment of
its own, since they bring some thirty packages.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import torch

Run = Callable[[], object]
HOOKS = ("hook_pattern", "hook_rot_q", "hook_rot_k", "hook_v")


def peers(folder: Path, load: Callable[[], Any], tokenizer: Any, given: Any) -> dict[str, Run]:
    """Return what is timed, by name; a library that does not open the model is named and left out.

    `load` returns the model with eager attention, which both libraries need to see weights.
    """
    found: dict[str, Run] = {}
    for name, made in (("TransformerLens", _lens), ("nnsight", _nnsight)):
        try:
            found[name] = made(folder, load(), tokenizer, given)
            found[name]()
        except Exception as error:
            found.pop(name, None)
            print(f"{name} does not run {folder.name}: {type(error).__name__}: {error}")
    return found


def _lens(folder: Path, model: Any, tokenizer: Any, given: Any) -> Run:
    bridge: Any = import_module("transformer_lens").TransformerBridge
    seen = bridge.boot_transformers(
        str(folder), hf_model=model, tokenizer=tokenizer, device="cpu", dtype=torch.float32
    )

    def run() -> object:
        with torch.inference_mode():
            return seen.run_with_cache(
                given.input_ids, names_filter=lambda name: name.endswith(HOOKS)
            )

    return run


def _nnsight(_: Path, model: Any, __: Any, given: Any) -> Run:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # names of modules that it uses itself
        seen: Any = import_module("nnsight").NNsight(model)
    decoder = hasattr(model, "model")
    layers = seen.model.layers if decoder else seen.encoder.layer
    attentions = [one.self_attn if decoder else one.attention.self for one in layers]
    names = ("q_proj", "k_proj", "v_proj") if decoder else ("query", "key", "value")

    def run() -> object:
        kept = []
        with torch.inference_mode(), seen.trace(**given, use_cache=False):
            for attention in attentions:
                for name in names:
                    kept.append(getattr(attention, name).output.save())
                kept.append(attention.output[1].save())
        return kept

    return run
