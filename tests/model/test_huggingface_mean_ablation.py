"""Means of the heads of models of `transformers`, against a loop over sentences."""

from functools import cache
from pathlib import Path

import pytest
import torch

from model.trace.interventions import Intervention

pytest.importorskip("transformers")

from model.adapters.huggingface.huggingface_adapter import SENTENCES, HuggingFace, load_huggingface
from tests.model.tiny_huggingface import make

TEXT = "The cat sat on the mat."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hf")


@cache
def opened(folder: Path) -> HuggingFace:
    return load_huggingface(make(folder.name, folder), "cpu", folder.name)


@pytest.mark.parametrize("name", ["llama", "bert", "t5", "gpt-oss", "deepseek-v3"])
def test_a_head_is_replaced_by_its_mean(folder: Path, name: str) -> None:
    model = opened(folder / name)
    place, head = model.info.places[-1], 1
    mix = f"{place}.mix"
    traces = [model.trace(text, select=[mix]) for text in SENTENCES]
    rows = torch.cat([trace[mix].value[head] for trace in traces])
    mean = rows.mean(dim=0)
    assert rows.std(dim=0).max() > 0.01  # tokens differ
    changed = model.trace(TEXT, select=[mix], interventions=[Intervention(place, "mean", head)])
    found = changed[mix].value[head]
    assert torch.allclose(found, mean.expand_as(found), atol=1e-5)


def test_means_follow_the_parameters(folder: Path) -> None:
    model = opened(folder / "llama")
    name = "decoder.0.self.mix"
    before = model.means[name].clone()
    assert model.means[name] is model.means[name]
    with torch.no_grad():
        model.model.model.layers[0].self_attn.v_proj.weight.mul_(2)
    assert torch.allclose(model.means[name], 2 * before, atol=1e-5)


def test_eager_outputs_have_no_means(folder: Path) -> None:
    model = opened(folder / "bloom")
    assert "mean" not in model.info.capabilities
    assert model.info.missing["mean"] == "weights-only"
