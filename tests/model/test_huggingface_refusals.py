"""Models of `transformers` that cannot be served say so when they are opened, with the reason."""

from pathlib import Path
from typing import Any

import pytest
import torch

from model.adapters.huggingface.huggingface_adapter import load_huggingface
from model.adapters.huggingface.models_in_memory import wrap
from model.adapters.requests.request import Request
from model.errors import InputError
from tests.model.opened_huggingface import opened
from tests.model.tiny_huggingface import BART, FED, GROUPED, T5, build
from tests.model.tiny_tokenizers import tokenizer

hf: Any = pytest.importorskip("transformers")

LAYERS = {"hidden_size": 32, "num_hidden_layers": 2}
NO_TEXT = "it reads no text: its forward pass takes {}, not token ids"
NOT_ALONE = r"it does not run on the token ids of a text alone \({}"
OWN_CODE = (
    "its own code mixes the tokens, and the weight of each query on each key is not known "
    r"\(it reports {}"
)
ARRAY = OWN_CODE.format("an array of the shape")
IMAGES = {**FED, "image_size": 16, "patch_size": 8}
REFUSED: dict[str, tuple[str, dict[str, Any], str]] = {
    "ViTModel": ("ViTConfig", IMAGES, NO_TEXT.format("pixel_values")),
    "WhisperForConditionalGeneration": (
        "WhisperConfig",
        {**BART, "max_source_positions": 16, "max_target_positions": 16, "pad_token_id": 0},
        NO_TEXT.format("input_features"),
    ),
    "BlipForConditionalGeneration": (
        "BlipConfig",
        {"text_config": FED, "vision_config": IMAGES},
        NO_TEXT.format("pixel_values"),
    ),
    "BrosModel": ("BrosConfig", FED, NOT_ALONE.format("ValueError: You have to specify bbox")),
    "MambaForCausalLM": ("MambaConfig", {**LAYERS, "state_size": 4}, OWN_CODE.format("none")),
    "FNetForMaskedLM": ("FNetConfig", {**LAYERS, "intermediate_size": 48}, OWN_CODE.format("none")),
    "RwkvForCausalLM": ("RwkvConfig", {**LAYERS, "attention_hidden_size": 32}, ARRAY),
    "PegasusXForConditionalGeneration": ("PegasusXConfig", BART, OWN_CODE.format("dict")),
    "LongT5ForConditionalGeneration": ("LongT5Config", {**T5, "local_radius": 3}, ARRAY),
    "FunnelForMaskedLM": (
        "FunnelConfig",
        {"d_model": 32, "n_head": 4, "d_head": 8, "d_inner": 48, "block_sizes": [1, 1]},
        ARRAY,
    ),
}


def tiny(name: str) -> Any:
    config, options, _ = REFUSED[name]
    made = getattr(hf, config)(**options)
    if hasattr(made, "vocab_size"):
        made.vocab_size = len(tokenizer("bytes"))
    torch.manual_seed(0)
    return getattr(hf, name)(made).eval()


@pytest.mark.parametrize("name", REFUSED)
def test_a_model_that_cannot_be_served_says_why(name: str) -> None:
    with pytest.raises(ValueError, match=f"^{name} cannot be served: {REFUSED[name][2]}"):
        wrap(tiny(name), tokenizer("bytes"))


def test_a_folder_without_a_tokenizer_is_refused_for_what_its_model_reads(tmp_path: Path) -> None:
    tiny("ViTModel").save_pretrained(tmp_path)
    with pytest.raises(ValueError, match=NO_TEXT.format("pixel_values")):
        load_huggingface(tmp_path, "cpu")


def test_attention_that_cannot_be_reported_as_it_is_computed_is_refused() -> None:
    """Falcon's code adds the mask of sdpa, true where a token may be seen, to its scores."""
    model, words = build("falcon")
    model.config._attn_implementation = "sdpa"
    with pytest.raises(ValueError, match="open it with from_pretrained"):
        wrap(model, words)


def test_a_model_that_mixes_positions_elsewhere_is_not_padded(folders: Path) -> None:
    """ConvBERT's convolution reads the padding behind a short text."""
    adapter = opened(folders / "convbert")
    with pytest.raises(InputError, match="cannot be padded, because it mixes positions") as caught:
        adapter.trace("The cat", pad_to=50)
    assert (caught.value.kind, caught.value.field) == ("unsupported", "pad_to")
    assert adapter.info.missing["padding"] == "mixes-positions"
    texts = ["The cat", "A dog ran after the cat, and it didn't stop.", "The"]
    for text, beside in zip(texts, adapter.run([Request(text) for text in texts]), strict=True):
        alone = adapter.trace(text)
        for name, tensor in alone.tensors.items():
            torch.testing.assert_close(beside[name].value, tensor.value, atol=1e-6, rtol=0)


def test_all_others_are(folders: Path) -> None:
    for name in ("bert", "gpt2", "bloom", "led", "t5", "mistral", "deberta-v2", "gpt-oss"):
        assert "padding" in opened(folders / name).info.capabilities, name


def test_a_model_of_sound_and_text_is_served_for_what_it_does_with_text() -> None:
    """Of HiggsAudioV2, the norms of audio tokens read none, and it predicts sound."""
    words = tokenizer("bytes")
    ends = {"pad_token_id": 0, "eos_token_id": 1, "max_position_embeddings": 2048}
    names = ("audio_token_id", "audio_bos_token_id", "audio_delay_token_id")
    ends |= {name: n for n, name in enumerate(names, 2)}
    sizes = {"vocab_size": len(words), "head_dim": 8, "num_codebooks": 2, "codebook_size": 16}
    config = hf.HiggsAudioV2Config(**{**GROUPED, **ends, **sizes})
    torch.manual_seed(0)
    model = hf.HiggsAudioV2ForConditionalGeneration(config).eval()
    adapter = wrap(model, words)
    assert adapter.info.missing["candidates"] == "no-head"
    trace = adapter.trace("The cat sat.")
    model.set_attn_implementation("eager")
    ids = torch.tensor([[token.id for token in trace.texts["text"]]])
    with torch.no_grad():
        own = model(input_ids=ids, output_attentions=True).attentions
    for layer, weights in enumerate(own):
        found = trace.tensors[f"decoder.{layer}.self.weights"].value
        torch.testing.assert_close(found, weights[0], atol=1e-6, rtol=0)
