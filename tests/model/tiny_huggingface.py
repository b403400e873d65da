"""Tiny random models of the `transformers` library, written to folders as it writes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
import transformers as hf

from tests.model.tiny_tokenizers import tokenizer

SMALL = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
FED = {**SMALL, "intermediate_size": 48, "max_position_embeddings": 64}
GROUPED = {**FED, "num_key_value_heads": 2}
BART = {
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 3,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "max_position_embeddings": 64,
    "decoder_start_token_id": 2,
    "forced_eos_token_id": None,
}
T5 = {
    "d_model": 32,
    "d_kv": 8,
    "d_ff": 48,
    "num_layers": 2,
    "num_decoder_layers": 3,
    "num_heads": 4,
    "decoder_start_token_id": 0,
}
GEMMA = {**GROUPED, "head_dim": 8, "query_pre_attn_scalar": 8, "sliding_window": 4}

# By name: the class, its config, and the tokenizer.
TINY: dict[str, tuple[str, str, dict[str, Any], str]] = {
    "bert": ("BertForMaskedLM", "BertConfig", FED, "wordpiece"),
    "bert-model": ("BertModel", "BertConfig", FED, "wordpiece"),
    "roberta": ("RobertaForMaskedLM", "RobertaConfig", {**FED, "pad_token_id": 0}, "bytes"),
    "albert": (
        "AlbertForMaskedLM",
        "AlbertConfig",
        {**FED, "embedding_size": 16, "num_hidden_layers": 3},
        "wordpiece",
    ),
    "distilbert": (
        "DistilBertForMaskedLM",
        "DistilBertConfig",
        {"dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 48, "max_position_embeddings": 64},
        "wordpiece",
    ),
    "modernbert": (
        "ModernBertForMaskedLM",
        "ModernBertConfig",
        {**FED, "local_attention": 6, "num_hidden_layers": 3, "global_attn_every_n_layers": 3},
        "wordpiece",
    ),
    "gpt2": (
        "GPT2LMHeadModel",
        "GPT2Config",
        {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64},
        "bytes",
    ),
    "neox": ("GPTNeoXForCausalLM", "GPTNeoXConfig", FED, "bytes"),
    "opt": (
        "OPTForCausalLM",
        "OPTConfig",
        {**SMALL, "ffn_dim": 48, "max_position_embeddings": 64, "word_embed_proj_dim": 32},
        "bytes",
    ),
    "llama": ("LlamaForCausalLM", "LlamaConfig", GROUPED, "bytes"),
    "mistral": ("MistralForCausalLM", "MistralConfig", {**GROUPED, "sliding_window": 4}, "bytes"),
    "qwen3": ("Qwen3ForCausalLM", "Qwen3Config", {**GROUPED, "head_dim": 8}, "bytes"),
    "gemma3": (
        "Gemma3ForCausalLM",
        "Gemma3TextConfig",
        {**GEMMA, "layer_types": ["sliding_attention", "full_attention"]},
        "bytes",
    ),
    "gemma2": (
        "Gemma2ForCausalLM",
        "Gemma2Config",
        {**GEMMA, "attn_logit_softcapping": 1.5},
        "bytes",
    ),
    "gpt-oss": (
        "GptOssForCausalLM",
        "GptOssConfig",
        {
            **GROUPED,
            "head_dim": 8,
            "num_local_experts": 2,
            "num_experts_per_tok": 1,
            "sliding_window": 4,
        },
        "bytes",
    ),
    "deepseek-v3": (
        "DeepseekV3ForCausalLM",
        "DeepseekV3Config",
        {
            **FED,
            "num_key_value_heads": 4,
            "moe_intermediate_size": 16,
            "n_routed_experts": 2,
            "num_experts_per_tok": 1,
            "n_group": 1,
            "topk_group": 1,
            "first_k_dense_replace": 1,
            "q_lora_rank": 16,
            "kv_lora_rank": 16,
            "qk_nope_head_dim": 8,
            "qk_rope_head_dim": 4,
            "v_head_dim": 6,
        },
        "bytes",
    ),
    "t5": ("T5ForConditionalGeneration", "T5Config", T5, "unigram"),
    "bart": ("BartForConditionalGeneration", "BartConfig", BART, "bytes"),
    "marian": ("MarianMTModel", "MarianConfig", BART, "bytes"),
    "m2m100": ("M2M100ForConditionalGeneration", "M2M100Config", BART, "bytes"),
    "t5gemma": ("T5GemmaForConditionalGeneration", "T5GemmaConfig", {}, "bytes"),
    # These do not use the attention interface.
    "bloom": (
        "BloomForCausalLM",
        "BloomConfig",
        {"hidden_size": 32, "n_layer": 2, "n_head": 4},
        "bytes",
    ),
    "falcon": ("FalconForCausalLM", "FalconConfig", SMALL, "bytes"),
    "mpt": (
        "MptForCausalLM",
        "MptConfig",
        {"d_model": 32, "n_layers": 2, "n_heads": 4, "max_seq_len": 64},
        "bytes",
    ),
    "gptj": (
        "GPTJForCausalLM",
        "GPTJConfig",
        {"n_embd": 32, "n_layer": 2, "n_head": 4, "rotary_dim": 4, "n_positions": 64},
        "bytes",
    ),
    "gpt-neo": (
        "GPTNeoForCausalLM",
        "GPTNeoConfig",
        {
            "hidden_size": 32,
            "num_layers": 2,
            "num_heads": 4,
            "attention_types": [[["global", "local"], 1]],
            "window_size": 4,
            "max_position_embeddings": 64,
        },
        "bytes",
    ),
    "deberta-v2": (
        "DebertaV2ForMaskedLM",
        "DebertaV2Config",
        {**FED, "relative_attention": True, "position_buckets": 8, "pos_att_type": ["p2c", "c2p"]},
        "wordpiece",
    ),
    "convbert": (
        "ConvBertForMaskedLM",
        "ConvBertConfig",
        {**FED, "embedding_size": 32, "head_ratio": 2},
        "wordpiece",
    ),
    "mpnet": ("MPNetForMaskedLM", "MPNetConfig", {**FED, "pad_token_id": 0}, "wordpiece"),
    "fsmt": (
        "FSMTForConditionalGeneration",
        "FSMTConfig",
        {**BART, "langs": ["en", "de"]},
        "bytes",
    ),
    "led": (
        "LEDForConditionalGeneration",
        "LEDConfig",
        {
            **{name: value for name, value in BART.items() if name != "max_position_embeddings"},
            "max_encoder_position_embeddings": 64,
            "max_decoder_position_embeddings": 64,
            "attention_window": 4,
        },
        "bytes",
    ),
    "prophetnet": (
        "ProphetNetForConditionalGeneration",
        "ProphetNetConfig",
        {
            "hidden_size": 32,
            "encoder_ffn_dim": 48,
            "decoder_ffn_dim": 48,
            "num_encoder_layers": 2,
            "num_decoder_layers": 2,
            "num_encoder_attention_heads": 4,
            "num_decoder_attention_heads": 4,
            "max_position_embeddings": 64,
            "ngram": 2,
            "decoder_start_token_id": 2,
        },
        "bytes",
    ),
}


def build(name: str) -> tuple[Any, Any]:
    """Return a tiny random model, with weights large enough to attend somewhere; its tokenizer."""
    class_, config_, options, kind = TINY[name]
    words = tokenizer(kind)
    ids = {"pad_token_id": words.pad_token_id, "eos_token_id": words.eos_token_id}
    vocabulary = {"vocab_size": len(words), **ids}
    if name == "t5gemma":
        half = {**GEMMA, **vocabulary, "attn_logit_softcapping": 1.5}
        config = hf.T5GemmaConfig(encoder=half, decoder=half, **vocabulary)
        config.decoder_start_token_id = 1
    elif name == "fsmt":
        sizes = {"src_vocab_size": len(words), "tgt_vocab_size": len(words)}
        config = hf.FSMTConfig(**{**options, **sizes, **ids})
    else:
        config = getattr(hf, config_)(**{**vocabulary, **options})
    torch.manual_seed(0)
    model = getattr(hf, class_)(config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.3)
    return model.eval(), words


def make(name: str, folder: Path) -> Path:
    """Write such a model to a folder."""
    model, words = build(name)
    model.save_pretrained(folder)
    words.save_pretrained(folder)
    return folder
