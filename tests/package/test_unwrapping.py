"""Models of `transformers` inside other objects are shown as they are, and named as they are used.

What has no such model inside, or none that can be run, is refused with one sentence.
"""

import sys
import types
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import headlight
from headlight.models import unwrap
from tests.model.tiny_huggingface import build

hf: Any = pytest.importorskip("transformers")
TEXT = "The cat sat on the mat."
NAME = "decoder.0.self.weights"


def weights(model: Any, tokenizer: Any) -> Any:
    return np.asarray(headlight.wrap(model, tokenizer).trace(TEXT)[NAME])


@pytest.fixture(scope="module")
def llama() -> Any:
    return build("llama")


@pytest.mark.parametrize(
    "around",
    [
        lambda model: torch.compile(model, backend="eager"),
        nn.DataParallel,
        lambda model: torch.compile(nn.DataParallel(model), backend="eager"),
    ],
)
def test_compiled_and_parallel_models_are_unwrapped(llama: Any, around: Any) -> None:
    model, tokenizer = llama
    wrapped = around(model)
    assert unwrap(wrapped).model is model
    np.testing.assert_array_equal(weights(wrapped, tokenizer), weights(model, tokenizer))
    assert headlight.show(wrapped, tokenizer, TEXT).html


@pytest.mark.filterwarnings("ignore")  # torch.compile makes errors of them
def test_a_compiled_model_is_recorded_while_it_runs(llama: Any) -> None:
    model, tokenizer = llama
    compiled: Any = torch.compile(model, backend="eager")
    given = tokenizer(TEXT, return_tensors="pt")
    with headlight.record(compiled) as record:
        compiled(**given)
    with headlight.record(model) as expected:
        model(**given)
    assert list(record) == list(expected)
    for name in record:
        torch.testing.assert_close(record[name].value, expected[name].value)


def test_a_pipeline_has_its_model_and_its_tokenizer(llama: Any) -> None:
    model, tokenizer = llama
    pipeline = hf.pipeline("text-generation", model=model, tokenizer=tokenizer)
    assert headlight.show(pipeline, TEXT).html
    expected = weights(model, tokenizer)
    np.testing.assert_array_equal(np.asarray(headlight.wrap(pipeline).trace(TEXT)[NAME]), expected)
    with headlight.record(pipeline) as record:
        pipeline(TEXT, max_new_tokens=1)
    np.testing.assert_allclose(record[NAME].value[0], expected, atol=1e-5)
    with pytest.raises(TypeError, match="needs its tokenizer and a sentence"):
        headlight.show(pipeline)


class Adapted(nn.Module):
    """What `PeftModel` has, as far as it is looked at."""

    def __init__(self, model: Any, **config: Any) -> None:
        super().__init__()
        self.base_model = model
        self.active_adapter = "sst2"
        self.peft_config = {"sst2": types.SimpleNamespace(peft_type="LORA", **config)}

    def get_base_model(self) -> Any:
        return self.base_model


def test_an_adapter_is_named_in_the_title(llama: Any) -> None:
    model, tokenizer = llama
    adapted = Adapted(model)
    assert headlight.wrap(adapted, tokenizer).info.name == "LlamaForCausalLM + sst2"
    assert headlight.wrap(torch.compile(adapted, backend="eager"), tokenizer).info.name.endswith(
        " + sst2"
    )
    prefix = Adapted(model, is_prompt_learning=True)
    with pytest.raises(ValueError, match=r"the adapter 'sst2' \(LORA\) puts tokens without text"):
        headlight.show(prefix, tokenizer, TEXT)


@pytest.mark.filterwarnings("ignore::FutureWarning")  # of transformers, from peft
def test_lora_of_peft_is_shown_with_its_changes(llama: Any) -> None:
    peft: Any = pytest.importorskip("peft")
    model, tokenizer = build("llama")
    plain = weights(model, tokenizer)
    torch.manual_seed(1)
    config = peft.LoraConfig(r=4, target_modules=["q_proj"], init_lora_weights=False)
    adapted = peft.get_peft_model(model, config, adapter_name="sst2")
    wrapped = headlight.wrap(adapted, tokenizer)
    assert wrapped.info.name == "LlamaForCausalLM + sst2"
    given = tokenizer(TEXT, return_tensors="pt")
    with torch.inference_mode(), headlight.record(adapted) as record:
        adapted.eval()(**given)
    shown = np.asarray(wrapped.trace(TEXT)[NAME])
    np.testing.assert_allclose(shown, record[NAME].value[0], atol=1e-6)
    assert np.abs(shown - plain).max() > 1e-3
    with adapted.disable_adapter():
        alone = headlight.wrap(adapted, tokenizer)
        assert alone.info.name == "LlamaForCausalLM"
        np.testing.assert_allclose(np.asarray(alone.trace(TEXT)[NAME]), plain, atol=1e-6)
    adapted.add_adapter("other", config)
    adapted.set_adapter("other")
    assert headlight.wrap(adapted, tokenizer).info.name.endswith(" + other")

    added, _ = build("llama")
    added.add_adapter(config, adapter_name="mine")
    assert headlight.wrap(added, tokenizer).info.name == "LlamaForCausalLM + mine"

    prefix = peft.PrefixTuningConfig(num_virtual_tokens=3, task_type="CAUSAL_LM")
    with pytest.raises(ValueError, match=r"the adapter 'default' \(PREFIX_TUNING\) puts tokens"):
        headlight.show(peft.get_peft_model(build("llama")[0], prefix), tokenizer, TEXT)


def test_a_model_without_numbers_is_refused(llama: Any) -> None:
    model, tokenizer = llama
    with torch.device("meta"):
        empty = type(model)(model.config)
    said = "LlamaForCausalLM has no numbers in all of its parameters, such as .*embed.*device meta"
    for call in (headlight.wrap, lambda *given: headlight.show(*given, TEXT)):
        with pytest.raises(ValueError, match=said):
            call(empty, tokenizer)
    partly, _ = build("llama")
    partly.lm_head.weight = nn.Parameter(partly.lm_head.weight.to("meta"))
    with pytest.raises(ValueError, match=r"no numbers in 1 of \d+ of its .*: they are offloaded"):
        headlight.wrap(partly, tokenizer)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda model, _: nn.Linear(2, 2), "not Linear; arrays of its attention can be shown"),
        (lambda model, _: nn.DataParallel(nn.Linear(2, 2)), "not DataParallel of Linear; arrays"),
        (
            lambda model, _: torch.compile(nn.Linear(2, 2), backend="eager"),
            "not OptimizedModule of Linear; arrays",
        ),
        (lambda model, _: type(model), "not the class LlamaForCausalLM$"),
        (lambda model, words: words, "; the model comes before its tokenizer$"),
        (lambda model, _: model.config, r"not LlamaConfig; AutoModel.from_config\(config\) makes"),
        (lambda model, _: "owner/name", "not str; a model's name or folder is opened by headlight"),
        (lambda model, _: {}, "not dict$"),
    ],
)
def test_what_has_no_model_inside_is_named(llama: Any, wrong: Any, says: str) -> None:
    model, tokenizer = llama
    with pytest.raises(TypeError, match=f"a model of transformers is needed, .*{says}"):
        headlight.wrap(wrong(model, tokenizer), tokenizer)


def test_copies_on_several_devices_cannot_be_recorded(llama: Any) -> None:
    parallel = nn.DataParallel(llama[0])
    parallel.device_ids = [0, 1]
    with (
        pytest.raises(ValueError, match="run on copies of LlamaForCausalLM, on other threads"),
        headlight.record(parallel),
    ):
        pass


def test_half_and_quantised_models_stay_as_they_are(tmp_path: Any) -> None:
    model, tokenizer = build("llama")
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    half: Any = headlight.load(f"hf:{tmp_path}", "cpu", dtype="bfloat16")
    assert {value.dtype for value in half.model.parameters()} == {torch.bfloat16}
    shown = np.asarray(half.trace(TEXT)[NAME])
    np.testing.assert_allclose(shown, weights(model, tokenizer), atol=0.02)
    assert half.info.digest == headlight.load(f"hf:{tmp_path}", "cpu").info.digest
    own: Any = headlight.load(f"hf:{tmp_path}", dtype="auto")
    assert own.model.dtype == torch.float32
    with pytest.raises(ValueError, match=r"dtype must be one of float32, bfloat16, .* not 'int4'"):
        headlight.load(f"hf:{tmp_path}", dtype="int4")
    with pytest.raises(ValueError, match="a bundle runs in float32, not in 'bfloat16'"):
        headlight.load("en-zh", dtype="bfloat16")


TINY = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "image_size": 16,
    "patch_size": 8,
    "attn_implementation": "eager",
}
GRID = ["[CLS]", "0,0", "0,1", "1,0", "1,1"]


@pytest.mark.parametrize("name", ["ViT", "DeiT", "CLIPVision"])
def test_a_model_of_images_is_shown_as_arrays(name: str) -> None:
    made = getattr(hf, f"{name}Model")(getattr(hf, f"{name}Config")(**TINY))
    said = f"^{name}Model cannot be served: it reads no text: .* pixel_values, not token ids; run "
    said += r"it yourself with output_attentions=True, and show its attention as arrays: "
    for call in (
        lambda: headlight.show(made, hf.ViTImageProcessor, "a cat"),
        lambda: headlight.wrap(made),
        lambda: headlight.serve(made),
    ):
        with pytest.raises(ValueError, match=said):
            call()
    out = made(pixel_values=torch.rand(1, 3, 16, 16), output_attentions=True)
    distilled = ["[DIST]"] if name == "DeiT" else []
    labels = [GRID[0], *distilled, *GRID[1:]]
    given = headlight.given(out.attentions, labels)
    for layer, attention in enumerate(out.attentions):
        weights = given.trace(given.text)[f"encoder.{layer}.self.weights"]
        torch.testing.assert_close(weights.value, attention[0].detach())
    assert headlight.show(out.attentions, labels).html


def test_a_model_of_sound_is_shown_as_arrays() -> None:
    config = hf.WhisperConfig(
        d_model=32,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=48,
        decoder_ffn_dim=48,
        max_source_positions=16,
        max_target_positions=16,
        num_mel_bins=8,
        attn_implementation="eager",
    )
    made = hf.WhisperModel(config)
    with pytest.raises(ValueError, match="takes input_features, not token ids; run it yourself"):
        headlight.show(made, None, "hello")
    out = made(
        input_features=torch.rand(1, 8, 32),
        decoder_input_ids=torch.tensor([[1, 2, 3]]),
        output_attentions=True,
    )
    given = headlight.given(
        {
            "encoder": out.encoder_attentions,
            "decoder": out.decoder_attentions,
            "cross": out.cross_attentions,
        },
        {"source": [f"{20 * frame} ms" for frame in range(16)], "target": ["<s>", "he", "llo"]},
    )
    weights = given.trace(given.text)["decoder.1.cross.weights"]
    torch.testing.assert_close(weights.value, out.cross_attentions[1][0].detach())


def test_a_device_that_is_not_there_is_named() -> None:
    with pytest.raises(ValueError, match="device must be one of auto, cpu, cuda, mps, not 'tpu'"):
        headlight.load("en-zh", "tpu")
    if not torch.backends.mps.is_available():
        with pytest.raises(ValueError, match="finds no Apple GPU here; take cpu or auto"):
            headlight.load("en-zh", device="mps")


def test_a_model_larger_than_memory_is_refused_before_it_is_loaded(
    llama: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, tokenizer = llama
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    monkeypatch.setattr("model.device.free_memory", lambda: 4 * model.num_parameters() - 1)
    monkeypatch.setattr(type(model), "from_pretrained", None)
    with pytest.raises(ValueError, match=r"its weights take 0\.0 GiB of memory, but 0\.0 GiB are"):
        headlight.load(f"hf:{tmp_path}", "cpu")


def test_what_transformers_is_not_needed_for_does_not_import_it() -> None:
    assert "transformers" in sys.modules  # by this test; `unwrap` looks, and does not import
    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(sys.modules, "transformers")
        with pytest.raises(TypeError, match="is needed, not dict"):
            headlight.wrap({}, None)
        assert "transformers" not in sys.modules
