"""The golden file from which tests/views/worksheet.test.js computes three cells.

It has a tiny model's float32 tensors and parameters, and the same run in float64, which a
calculation by hand must equal. ``python -m tests.views.test_worksheet`` writes it.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch

from model.trace.tensor_tap import SOURCE, TARGET, BatchTap, NamedTensor, Recorder
from model.transformer.config import ModelConfig
from model.transformer.parameters import parameters
from model.transformer.stacks import Transformer

GOLDEN = Path(__file__).parent / "golden/worksheet.json"
LENGTHS = {SOURCE: 4, TARGET: 3}


def tiny() -> Transformer:
    """Return a model whose parameters are waves: the same numbers on every machine."""
    config = ModelConfig(
        vocabulary=11, d_model=8, heads=2, d_ff=12, encoder_layers=2, decoder_layers=2, max_tokens=8
    )
    model = Transformer(config).eval()
    with torch.no_grad():
        for at, (name, parameter) in enumerate(sorted(model.named_parameters())):
            wave = torch.sin(torch.arange(parameter.numel(), dtype=torch.float64) * 1.7 + at)
            around = 1.0 if name.endswith("norm.weight") else 0.0
            parameter.copy_((around + 0.4 * wave).reshape(parameter.shape))
    return model


def run(model: Transformer) -> dict[str, NamedTensor]:
    """Return every tensor of a run, with one padding token in the source."""
    kept = Recorder(_names(), LENGTHS)
    source, target = torch.tensor([[3, 1, 4, 10]]), torch.tensor([[2, 7, 5]])
    real = torch.tensor([[True, True, True, False]])
    with torch.inference_mode():
        model(source, target, real, tap=BatchTap([kept]))
    return kept.tensors


def _names() -> list[str]:
    streams = ("source", "target")
    inputs = [f"{s}.{n}" for s in streams for n in ("embedding", "position", "input")]
    adds = ("output", "residual", "norm")
    inside = ("q", "k", "v", "scores", "mask", "weights", "mix", *adds)
    sublayers = [
        f"{stack}.{layer}.{name}"
        for stack, kinds in (("encoder", ["self"]), ("decoder", ["self", "cross"]))
        for layer in range(2)
        for name in [f"{kind}.{letter}" for kind in kinds for letter in inside]
        + [f"ffn.{letter}" for letter in ("hidden", *adds)]
    ]
    return inputs + sublayers


def dump() -> dict[str, Any]:
    """Return the whole file: tensors, parameters, and the same tensors in float64."""
    model = tiny()
    learnt = {
        name: tensor
        for name, tensor in parameters(model)
        if name.startswith(("encoder.0.", "decoder.1."))
    }
    tensors = run(model)
    exact = run(model.double())
    return {
        "tensors": {name: document(tensor) for name, tensor in tensors.items()},
        "parameters": {name: document(tensor) for name, tensor in learnt.items()},
        "exact": {name: tensor.value.double().flatten().tolist() for name, tensor in exact.items()},
    }


def document(tensor: NamedTensor) -> dict[str, Any]:
    """Return a tensor as in the API's JSON, but flat and with nine digits, enough for float32."""
    flat = tensor.value.flatten().tolist()
    numbers = flat if tensor.value.dtype == torch.bool else [float(f"{x:.9g}") for x in flat]
    return {"dims": tensor.dims, "shape": list(tensor.value.shape), "data": numbers}


def test_the_golden_dump_is_what_the_model_computes_today() -> None:
    golden, present = json.loads(GOLDEN.read_text()), json.loads(json.dumps(dump()))
    for part in ("tensors", "parameters"):
        assert golden[part].keys() == present[part].keys()
        for name, tensor in golden[part].items():
            assert tensor["shape"] == present[part][name]["shape"]
            np.testing.assert_allclose(tensor["data"], present[part][name]["data"], atol=1e-5)
    for name, numbers in golden["exact"].items():
        np.testing.assert_allclose(numbers, present["exact"][name], atol=1e-12)


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps(dump(), separators=(",", ":")) + "\n")
