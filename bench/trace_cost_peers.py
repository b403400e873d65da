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


def peers(folder: Path, load: Callable[[], Any], tokenizer: Any, inputs: Any) -> dict[str, Run]:
    """Return what is timed, by name; a library that does not open the model is named and left out.

    `load` returns the model with eager attention, which both libraries need to see weights.
    """
    runs: dict[str, Run] = {}
    for name, make in (("TransformerLens", _lens), ("nnsight", _nnsight)):
        try:
            runs[name] = make(folder, load(), tokenizer, inputs)
            runs[name]()
        except Exception as error:
            runs.pop(name, None)
            print(f"{name} does not run {folder.name}: {type(error).__name__}: {error}")
    return runs


def _lens(folder: Path, model: Any, tokenizer: Any, inputs: Any) -> Run:
    bridge: Any = import_module("transformer_lens").TransformerBridge
    bridged = bridge.boot_transformers(
        str(folder), hf_model=model, tokenizer=tokenizer, device="cpu", dtype=torch.float32
    )

    def run() -> object:
        with torch.inference_mode():
            return bridged.run_with_cache(
                inputs.input_ids, names_filter=lambda name: name.endswith(HOOKS)
            )

    return run


def _nnsight(_: Path, model: Any, __: Any, inputs: Any) -> Run:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # names of modules that it uses itself
        traced: Any = import_module("nnsight").NNsight(model)
    decoder = hasattr(model, "model")
    layers = traced.model.layers if decoder else traced.encoder.layer
    attentions = [layer.self_attn if decoder else layer.attention.self for layer in layers]
    names = ("q_proj", "k_proj", "v_proj") if decoder else ("query", "key", "value")

    def run() -> object:
        saved = []
        with torch.inference_mode(), traced.trace(**inputs, use_cache=False):
            for attention in attentions:
                for name in names:
                    saved.append(getattr(attention, name).output.save())
                saved.append(attention.output[1].save())
        return saved

    return run
