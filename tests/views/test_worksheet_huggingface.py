"""The worksheet of models of `transformers`: each stage agrees with what the model recorded."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from tests.views.test_worksheet import document
from tests.views.test_worksheet_variants import changed, worked_out

pytest.importorskip("transformers")

from model.adapters.huggingface.huggingface_adapter import load_huggingface
from tests.model.tiny_huggingface import make

TEXT = "The cat sat on the mat."
READ = "input norm project score softmax mix output add"
PRE = f"{READ} norm2 hidden ffn close"
POST = "input project score softmax mix output norm hidden ffn close"
ROTARY = PRE.replace("score", "rotate score")
OWN = ROTARY.replace("add", "ownnorm add").replace("close", "ownnorm2 close")
# The stages of each model's last layer, by block; those of cross-attention as in self-attention.
STAGES = {
    "bert": POST,
    "roberta": POST,
    "distilbert": POST,
    "modernbert": ROTARY,
    "gpt2": PRE,
    "neox": ROTARY,
    "llama": ROTARY,
    "mistral": ROTARY,
    "qwen3": ROTARY.replace("project", "project headnorm"),
    "gemma2": OWN,
    "gemma3": OWN.replace("project", "project headnorm"),
    "gpt-oss": READ.replace("score", "rotate score"),  # a network of experts
    "t5": PRE,
    "bart": POST,
    "marian": POST,
    "m2m100": PRE,
    "t5gemma": OWN,
    # How q, k and v are computed is not followed.
    "deepseek-v3": "project score softmax mix output add",
    "albert": "project score softmax mix",
    "opt": "project score softmax mix",
}


def made(folder: Path) -> dict[str, Any]:
    """Return a tiny model's description, all tensors of a run, and all its parameters."""
    name = folder.name
    model = load_huggingface(make(name, folder), "cpu", name)
    target = "A dog ran." if "target" in model.info.texts else None
    trace = model.trace(TEXT, select=["*"], target=target)
    parameters = {}
    if "parameters" in model.info.capabilities:
        heads = [
            f"{one.place}.{name}.{head}"
            for one in model.info.attentions
            for name in one.parameters
            if name[:2] in ("W_", "b_") and name[2] in "qkv"
            for head in range(one.heads if name[2] == "q" else one.kv_heads)
        ]
        parameters = dict(model.parameters(["*"]))
        for some in range(0, len(heads), 200):
            parameters |= model.parameters(heads[some : some + 200])
    lengths = {text: len(tokens) for text, tokens in trace.texts.items()}
    return {
        "model": {
            "texts": list(model.info.texts),
            "d_model": model.info.d_model,
            "networks": [asdict(one) for one in model.info.networks],
            "attentions": [asdict(one) for one in model.info.attentions],
            "positions": model.info.positions,
            "norm": model.info.norm,
            "bias": model.info.bias,
        },
        "tensors": {name: document(one) for name, one in trace.tensors.items()},
        "parameters": {name: document(one) for name, one in parameters.items()},
        "lengths": lengths,
    }


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    root = tmp_path_factory.mktemp("hf")
    return {name: made(root / name) for name in STAGES}


@pytest.fixture(scope="module")
def sheets(models: dict[str, dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    return dict(zip(models, worked_out(list(models.values())), strict=True))


@pytest.mark.parametrize("name", STAGES)
def test_every_stage_agrees(
    sheets: dict[str, list[dict[str, Any]]], models: dict[str, dict[str, Any]], name: str
) -> None:
    assert len(sheets[name]) == len(models[name]["model"]["attentions"])
    for sheet in sheets[name]:
        assert sheet["missing"] == []
        assert sheet["agrees"], (sheet["block"], sheet["layer"], sheet["checks"])
        assert sheet["checks"]["softmax"] < 1e-4
        assert sheet["largest"] < 1e-3
        assert not any(word in sheet["text"] for word in ("NaN", "undefined", "Infinity"))
    last = sheets[name][-1]
    expected = STAGES[name]
    if last["block"] == "cross":
        expected = expected.replace("rotate ", "")
    assert " ".join(last["stages"]) == expected


@pytest.mark.parametrize(
    ("name", "parameter", "stage"),
    [
        ("gpt2", "decoder.0.self.W_k.1", "project"),
        ("neox", "decoder.0.self.b_q.1", "project"),
        ("llama", "decoder.1.self.rms_gain", "norm"),
        ("llama", "decoder.1.self.theta", "project"),
        ("qwen3", "decoder.0.self.k_rms_gain", "headnorm"),
        ("gemma3", "decoder.0.self.own_rms_gain", "ownnorm"),
        ("gpt-oss", "decoder.0.self.sink_score", "softmax"),
        ("t5", "encoder.0.self.pi", "score"),
        ("bert", "encoder.1.self.W_o", "output"),
        ("bert", "encoder.1.ffn.W_2", "ffn"),
        ("bert", "encoder.1.ffn.gain", "close"),
        ("modernbert", "encoder.1.ffn.W_1", "hidden"),
        ("llama", "decoder.1.ffn.W_g", "hidden"),
        ("neox", "decoder.0.ffn.gain", "norm2"),
        ("gemma3", "decoder.0.ffn.own_rms_gain", "ownnorm2"),
    ],
)
def test_another_parameter_does_not_agree(
    models: dict[str, dict[str, Any]], name: str, parameter: str, stage: str
) -> None:
    [sheets] = worked_out([changed(models[name], parameter)])
    assert any(sheet["checks"].get(stage, 0) > 1e-3 for sheet in sheets)


def test_what_an_architecture_does_is_said(sheets: dict[str, list[dict[str, Any]]]) -> None:
    def text(name: str) -> str:
        return str(sheets[name][-1]["text"])

    assert "query heads 1–2 share key head 1" in text("llama") + sheets["llama"][0]["text"]
    assert "RMSNorm" in text("llama")
    assert "of the 8 channels are not rotated" in text("neox")
    assert "latent attention (DeepSeek)" in text("deepseek-v3")
    assert "A soft cap keeps every score between −1.5 and 1.5" in text("gemma2")
    assert "learned attention sink" in text("gpt-oss")
    assert "Relative positions" in sheets["t5"][0]["text"]
    assert "does not divide it" in text("t5")
    assert "gate = SiLU (norm W_g)" in text("llama")
    assert "hidden = gate · norm W₁" in text("llama")
    assert "hidden = GELU (norm W₁ + b₁)" in text("bert")
    assert "works beside the attention" in text("neox")
    assert "could not be found from its modules" in text("gpt-oss")
