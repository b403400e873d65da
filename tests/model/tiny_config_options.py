"""What the default configs of some architectures leave open, or need to be small, by the class."""

from typing import Any

THREE_SECTIONS = {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [1, 1, 2]}
ROTARY = {"rope_type": "default", "rope_theta": 10000.0}
INDEXER = {
    "indexer_n_heads": 2,
    "indexer_kv_heads": 1,
    "indexer_head_dim": 8,
    "indexer_budget": 8,
    "indexer_compress_ratio": 2,
}
FEW_FILTERS = {"num_filters": 2, "depths": [1] * 7}
LINEAR_AND_FULL = ["linear_attention", "full_attention"]
OPTIONS: dict[str, dict[str, Any]] = {
    "BailingHybridModel": {"n_group": 1, "topk_group": 1, "num_experts_per_tok": 2},
    "BltModel": {"encoder_hash_byte_group_vocab": 50},
    "BridgeTowerModel": {
        "hidden_size": 64,
        "text_config": {"hidden_size": 64},
        "vision_config": {"hidden_size": 64},
    },
    "ChameleonModel": {"vocabulary_map": {"<image>": 5}},
    "CohereCompassModel": {"text_config": {"rope_parameters": {"full_attention": ROTARY}}},
    "CohereCompassTextModel": {"rope_parameters": {"full_attention": ROTARY}},
    "CsmForConditionalGeneration": {"codec_config": {"upsample_groups": 32}},
    "DbrxModel": {"attn_config": {"kv_n_heads": 2, "rope_theta": 10000.0, "clip_qkv": 8.0}},
    "DeepseekOcr2Model": {
        "text_config": {
            "mlp_layer_types": ["dense", "sparse"],
            "num_experts_per_tok": 2,
            "n_group": 1,
            "topk_group": 1,
        }
    },
    "DeepseekV2Model": {"num_experts_per_tok": 2, "n_group": 1, "topk_group": 1},
    "DiffusionGemmaModel": {
        "text_config": {"num_experts": 4, "top_k_experts": 2, "moe_intermediate_size": 48}
    },
    "Dots1Model": {"n_shared_experts": 1, "n_routed_experts": 4, "num_experts_per_tok": 2},
    "Dots3NoteModel": {"audio_config": {"adapter_input_size": 32}},
    "Emu3Model": {
        "vocabulary_map": {"<image>": 5, "<|extra_200|>": 6},
        "vq_config": {"base_channels": 32},
    },
    "Ernie4_5_VLMoeModel": {"text_config": {"rope_parameters": THREE_SECTIONS}},
    "EsmModel": {"mask_token_id": 3, "pad_token_id": 0},
    "FunAsrNanoModel": {"adaptor_config": {"intermediate_size": 8}},
    "Gemma3nTextModel": {"num_kv_shared_layers": 0},
    "Glm5NextModel": {"text_config": {"index_kpool": 1, "layer_types": LINEAR_AND_FULL}},
    "Glm5NextTextModel": {"index_kpool": 1, "layer_types": LINEAR_AND_FULL},
    "Granite4VisionModel": {
        "deepstack_layer_map": [[0, 0]],
        "spatial_target_layers": [1],
        "vision_config": {"hidden_size": 64},
        "downsample_rate": "4/8",
    },
    "KimiLinearModel": {"layer_types": LINEAR_AND_FULL, "num_experts_per_tok": 2},
    "LayoutLMv3Model": {"coordinate_size": 6, "shape_size": 4},
    "Lfm2MoeModel": {"layer_types": ["conv", "full_attention"]},
    "LongcatFlashModel": {"head_dim": 4},
    "Mamba2Model": {"num_heads": 8},
    "MistralLarge4Model": {"text_config": {"kv_source_layers": [0, 1]}},
    "Molmo2Model": {"adapter_config": {"vision_feature_layer": [1, 0]}},
    "NemotronModel": {"num_key_value_heads": 2},
    "NeoMMEModel": {"head_dim": 16},
    "Qwen2_5OmniThinkerModel": {
        "vision_start_token_id": 6,
        "text_config": {"rope_parameters": THREE_SECTIONS},
    },
    "Qwen3OmniMoeThinkerModel": {"vision_start_token_id": 6},
    "Qwen4ExpModel": {"text_config": INDEXER},
    "Qwen4ExpTextModel": INDEXER,
    "ReformerModel": {"axial_pos_embds": False},
    "Step3p7Model": {"text_config": {"sliding_window": 16}},
    "T5Gemma2Encoder": {"text_config": {"dropout_rate": 0.0}},
    "VibeVoiceAsrModel": {
        "acoustic_tokenizer_encoder_config": FEW_FILTERS,
        "semantic_tokenizer_encoder_config": FEW_FILTERS,
    },
    "VibeVoiceForConditionalGeneration": {
        "audio_config": FEW_FILTERS,
        "semantic_model_config": FEW_FILTERS,
    },
    "VitsModel": {"speaking_rate": 100.0},
}
