"""Changes of sublayers and units of models of `transformers`, against the library with hooks."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from model.adapters.requests.request import Request
from model.adapters.sweep import sweep
from model.errors import InputError
from model.trace.interventions import Intervention
from tests.model.opened_huggingface import opened
from tests.model.tiny_huggingface import TINY

hf: Any = pytest.importorskip("transformers")

TEXT = "the cat sat on a mat"
# The module that returns what the network adds, and the one that multiplies its hidden units.
NETWORKS = {
    "gpt2": ("decoder", "transformer.h.1.mlp", "transformer.h.1.mlp.c_proj"),
    "llama": ("decoder", "model.layers.1.mlp", "model.layers.1.mlp.down_proj"),
    "bert": ("encoder", "bert.encoder.layer.1.output.dense", "bert.encoder.layer.1.output.dense"),
    "t5": (
        "decoder",
        "decoder.block.1.layer.2.DenseReluDense",
        "decoder.block.1.layer.2.DenseReluDense.wo",
    ),
}


@torch.inference_mode()
def library(
    folder: Path, module: str, change: Callable[[Tensor], Tensor], before: bool, **texts: Any
) -> Tensor:
    """Return the logits (N, V) of the library's own model with a module's output, or its input,
    changed."""
    class_ = getattr(hf, TINY[folder.name][0])
    model = class_.from_pretrained(folder, attn_implementation="eager").eval()
    there = model.get_submodule(module)
    if before:
        there.register_forward_pre_hook(lambda _, given: (change(given[0]), *given[1:]))
    else:
        there.register_forward_hook(lambda _, __, output: change(output))
    names = {"text": "input_ids", "source": "input_ids", "target": "decoder_input_ids"}
    ids = {
        names[name]: torch.tensor([[token.id for token in tokens]])
        for name, tokens in texts.items()
    }
    logits: Tensor = model(**ids, use_cache=False).logits[0]
    return logits


def filled(value: Tensor) -> Tensor:
    value = value.clone()
    value[:, 2, 5] = 3.0
    return value


def moved(value: Tensor) -> Tensor:
    value = value.clone()
    value[:, :2] += torch.linspace(-1, 1, value.shape[-1])
    return value


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_is_changed_as_by_a_hook(folders: Path, name: str) -> None:
    stack, output, hidden = NETWORKS[name]
    adapter, place = opened(folders / name), f"{stack}.1.ffn"
    vector = tuple(torch.linspace(-1, 1, adapter.info.d_model).tolist())
    cases: list[tuple[Intervention, str, Callable[[Tensor], Tensor], bool]] = [
        (Intervention(f"{place}.output", "zero"), output, torch.zeros_like, False),
        (Intervention(f"{place}.output", "scale", value=2.0), output, lambda x: x * 2, False),
        (Intervention(f"{place}.output", "add", value=vector, rows=(0, 1)), output, moved, False),
        (
            Intervention(f"{place}.hidden", "fill", value=3.0, rows=(2,), units=(5,)),
            hidden,
            filled,
            True,
        ),
    ]
    logits = f"{stack}.logits"
    target = TEXT if adapter.info.kind == "encoder-decoder" else None
    plain = adapter.trace(TEXT, select=[logits], target=target)[logits].value
    for made, module, change, before in cases:
        found = adapter.trace(TEXT, select=[logits], target=target, interventions=[made])
        expected = library(folders / name, module, change, before, **found.texts)
        torch.testing.assert_close(found[logits].value, expected, atol=1e-5, rtol=1e-4)
        assert (found[logits].value - plain).abs().max() > 1e-4, made


@pytest.mark.parametrize("name", ["gpt2", "t5"])
def test_sublayers_and_pairs_are_swept(folders: Path, name: str) -> None:
    adapter = opened(folders / name)
    request = Request(TEXT, target="A dog" if len(adapter.info.texts) == 2 else None)
    swept = sweep(adapter, request, "zero", over="sublayers")
    found = [one.at for batch in swept.batches for one in batch]
    assert found == [at for at in adapter.names if at.endswith(".output")]
    place = adapter.info.places[-1]
    swept = sweep(adapter, request, "uniform", over="pairs", among=[place])
    heads = adapter.info.attentions[-1].heads
    assert len([one for batch in swept.batches for one in batch]) == heads * (heads + 1) // 2


def test_units_of_a_network_are_counted(folders: Path) -> None:
    adapter = opened(folders / "gpt2")
    [hidden] = {one.hidden for one in adapter.info.networks}
    made = Intervention("decoder.0.ffn.hidden", "fill", value=1.0, units=(hidden,))
    with pytest.raises(InputError, match=f"from 0 to {hidden - 1}"):
        adapter.trace(TEXT, interventions=[made])


def test_a_model_of_unknown_layers_has_no_such_place(folders: Path) -> None:
    made = Intervention("decoder.0.ffn.output", "zero")
    with pytest.raises(InputError, match="must be a place of the model"):
        opened(folders / "opt").trace(TEXT, interventions=[made])
    with pytest.raises(InputError, match="this model records no sublayers"):
        sweep(opened(folders / "opt"), Request(TEXT), "zero", over="sublayers")
