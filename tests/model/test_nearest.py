"""The nearest rows of the embedding table, by brute force in float64, and of a known library."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from model import load
from model.adapters.requests.request import Request
from model.adapters.requests.trace import Trace
from model.explain.nearest_tokens import COUNT, nearest
from tests.model.opened_huggingface import opened
from tests.model.tiny_huggingface import TINY

hf: Any = pytest.importorskip("transformers")

SELECT = ("inside.nearest.*",)
CLOSE = 1e-5


def assert_nearest(trace: Trace, text: str, table: Any) -> None:
    """Compare with all cosines of a table (V, D), in float64."""
    rows = np.asarray(table, dtype=np.float64)
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True).clip(1e-12)
    ids = [token.id for token in trace.texts[text]]
    candidates, cosines = (trace[f"inside.nearest.{name}"] for name in ("candidates", "cosines"))
    assert candidates.dims == cosines.dims == ("query", "rank")
    assert candidates.over == {"query": text}
    for i, id_ in enumerate(ids):
        others = np.delete(unit @ unit[id_], id_)
        expected = np.sort(others)[::-1][:COUNT]
        assert np.allclose(cosines.value[i].numpy(), expected, atol=CLOSE)
        found = candidates.value[i].tolist()
        assert id_ not in found
        assert np.allclose((unit @ unit[id_])[found], expected, atol=CLOSE)
        assert set(found) <= set(trace.pieces)


def test_the_shipped_model_has_neighbours_that_mean_something_like_it() -> None:
    model = load("en-zh")
    trace = model.run([Request("I drink tea on Monday.", select=SELECT)])[0]
    assert_nearest(trace, "source", model.matrices(["embedding"])["embedding"].value)
    words = [token.text for token in trace.texts["source"]]
    candidates = trace["inside.nearest.candidates"].value
    for word, near in ((" tea", " coffee"), (" Monday", " Sunday")):
        assert trace.pieces[int(candidates[words.index(word), 0])].text == near


def test_it_is_computed_only_if_named_and_does_not_depend_on_company() -> None:
    model = load("en-zh")
    alone = model.run([Request("Tea, please.", select=SELECT)])[0]
    beside = model.run(
        [Request("We drink tea and coffee every day.", select=("*",)), alone.request]
    )
    assert not [name for name in beside[0].tensors if "nearest" in name]
    assert beside[1].tensors == alone.tensors


@pytest.mark.parametrize("name", ["bert", "gpt2", "t5", "bart"])
def test_models_of_transformers(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    folder: Path = tmp_path_factory.mktemp("nearest") / name
    model = opened(folder)
    trace = model.run([Request("The cat sat on the mat.", select=SELECT)])[0]
    library = getattr(hf, TINY[name][0]).from_pretrained(folder)
    assert_nearest(trace, next(iter(trace.texts)), library.get_input_embeddings().weight.detach())


def test_parts_of_a_table_are_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    table, ids = torch.randn(50, 8), torch.arange(20)
    whole = nearest(table, ids)
    monkeypatch.setattr("model.explain.nearest_tokens.TABLE_ROWS", 7)
    monkeypatch.setattr("model.explain.nearest_tokens.ROWS", 3)
    for part, other in zip(nearest(table, ids), whole, strict=True):
        assert torch.allclose(part, other)
    few = nearest(table[:4], torch.tensor([0]))
    assert few[0].shape == (1, 3)
