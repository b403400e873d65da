"""Feed-forward networks of `transformers`: what is recorded, and the formula that was found."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

pytest.importorskip("transformers")

from model.adapters.huggingface.huggingface_adapter import load_huggingface
from model.adapters.huggingface.parameters import ACTIVATIONS, activation_of
from model.adapters.requests.request import Request
from tests.model.tiny_huggingface import make

TEXTS = ["The cat sat on the mat.", "A dog.", "It was the best of times, it was the worst."]
# By name: the modules of the networks, by layer, and their activation function.
MODULES = {
    "bert": ("bert.encoder.layer.{}.intermediate", "gelu"),
    "modernbert": ("model.layers.{}.mlp", "gelu"),
    "gpt2": ("transformer.h.{}.mlp", "gelu-tanh"),
    "neox": ("gpt_neox.layers.{}.mlp", "gelu"),
    "llama": ("model.layers.{}.mlp", "silu"),
    "gemma3": ("model.layers.{}.mlp", "gelu-tanh"),
    "deepseek-v3": ("model.layers.{}.mlp", "silu"),
}


def runs(model: Any, select: list[str]) -> list[list[dict[str, Tensor]]]:
    """Return the tensors of each text: alone, and in one padded batch."""
    requests = [Request(text, select=tuple(select)) for text in TEXTS]
    alone = [model.run([one])[0] for one in requests]
    return [
        [{name: one.value for name, one in trace.tensors.items()} for trace in traces]
        for traces in (alone, model.run(requests))
    ]


@pytest.mark.parametrize("name", MODULES)
def test_numbers_are_those_of_the_module(tmp_path: Path, name: str) -> None:
    model = load_huggingface(make(name, tmp_path / name), "cpu", name)
    path, activation = MODULES[name]
    assert model.info.networks
    for at, info in enumerate(model.info.networks):
        assert info.activation == activation
        assert info.parallel == (name == "neox")
        module = model.model.get_submodule(path.format(at))
        found = {key: one.value for key, one in model.matrices([f"{info.place}.*"]).items()}
        p = {key.removeprefix(f"{info.place}."): value for key, value in found.items()}
        assert p.keys() == set(info.parameters)
        norm = f"{info.place.removesuffix('ffn')}self.norm" if name == "bert" else "norm"
        read = norm if name == "bert" else f"{info.place}.{norm}"
        output = f"{info.place}.{'projected' if name == 'gemma3' else 'output'}"
        names = [read, f"{info.place}.hidden", output]
        for traces in runs(model, names):
            for tensors in traces:
                x, hidden, out = (tensors[key] for key in names)
                f = ACTIVATIONS[info.activation]
                inner = x @ p["W_1"] + p.get("b_1", 0)
                gate = f(x @ p["W_g"] + p.get("b_g", 0)) if "W_g" in p else None
                by_hand = f(inner) if gate is None else gate * inner
                torch.testing.assert_close(by_hand, hidden, atol=1e-5, rtol=1e-5)
                by_hand = hidden @ p["W_2"] + p.get("b_2", 0)
                torch.testing.assert_close(by_hand, out, atol=1e-5, rtol=1e-5)
                with torch.inference_mode():
                    its = module(x[None])[0]
                wanted = hidden if name == "bert" else out
                torch.testing.assert_close(its, wanted, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("name", ["gpt-oss", "albert", "opt", "bloom"])
def test_what_was_not_found_is_not_listed(tmp_path: Path, name: str) -> None:
    model = load_huggingface(make(name, tmp_path / name), "cpu", name)
    assert model.info.networks == ()
    assert not any(one.endswith("hidden") for one in model.names)


@pytest.mark.parametrize(
    ("module", "name"),
    [(nn.GELU(), "gelu"), (nn.GELU("tanh"), "gelu-tanh"), (nn.SiLU(), "silu"), (nn.ReLU(), "relu")],
)
def test_activation_functions_are_told_apart(module: nn.Module, name: str) -> None:
    assert activation_of(module) == name


def test_other_functions_have_no_name() -> None:
    for module in (nn.Mish(), nn.Tanh(), nn.Dropout(), nn.PReLU()):
        assert activation_of(module.eval()) is None
