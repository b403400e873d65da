"""What the default configs of some architectures leave open, or need to be small, by the class."""

from typing import Any

OPTIONS: dict[str, dict[str, Any]] = {
    "DbrxModel": {"attn_config": {"kv_n_heads": 2, "rope_theta": 10000.0}},
    "Dots1Model": {"n_shared_experts": 1, "n_routed_experts": 4, "num_experts_per_tok": 2},
    "EsmModel": {"mask_token_id": 3, "pad_token_id": 0},
    "Lfm2MoeModel": {"layer_types": ["conv", "full_attention"]},
    "LongcatFlashModel": {"head_dim": 4},
    "Mamba2Model": {"num_heads": 8},
    "NemotronModel": {"num_key_value_heads": 2},
    "ReformerModel": {"axial_pos_embds": False},
}
