"""The models that `make models` converts: each does what it was trained for.

Skipped if they are not there.
"""

import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from app.settings import ROOT
from model.adapters.requests.request import Decode

FOLDER = Path(os.environ.get("MODELS_FOLDER", ROOT / "data" / "models"))
pytestmark = pytest.mark.skipif(
    not (FOLDER / "minilm" / "headlight.json").is_file(), reason="make models converts them"
)


@cache
def opened(name: str) -> Any:
    from model.adapters.open_model import open_model

    return open_model(f"hf:{FOLDER / name}", "cpu")


def test_smollm2_goes_on() -> None:
    model = opened("smollm2")
    assert (model.route, len(model.info.attentions)) == ("recorded", 30)
    assert {(one.heads, one.kv_heads) for one in model.info.attentions} == {(9, 3)}
    *_, last = model.decode("The capital of France is", decode=Decode(max_tokens=3)).steps
    assert model.written(last.written[0].ids)[0].startswith(" Paris")
    trace = model.trace("The capital of France is", select=["*"])
    assert trace["decoder.29.self.k"].dims == ("kv_head", "key", "channel")


def test_its_tokens_join_to_the_text() -> None:
    tokens = opened("smollm2").trace("我们 😀 1234").texts["text"]
    assert [token.text for token in tokens][-4:] == ["1", "2", "3", "4"]
    assert {(token.start, token.end) for token in tokens[:2]} == {(0, 1)}


def test_flan_t5_writes_a_title() -> None:
    model = opened("flan-t5-title")
    assert model.route == "recorded"
    assert not torch.equal(model.model.lm_head.weight, model.model.shared.weight)
    trace = model.trace("I read the log, found that the disk was full, and deleted old backups.")
    assert "disk" in trace.output.text.lower()
    assert trace.output.finished
    assert trace["decoder.7.cross.weights"].over == {"query": "target", "key": "source"}


def embedding(text: str) -> Tensor:
    """Return the mean of the last states, as sentence-transformers does."""
    model = opened("minilm")
    ids = torch.tensor([[token.id for token in model.trace(text).texts["text"]]])
    with torch.inference_mode():
        mean: Tensor = model.model(input_ids=ids)[0][0].mean(0)
    unit: Tensor = mean / mean.norm()
    return unit


def test_minilm_tells_sentences_apart() -> None:
    cat, kitten, market = map(
        embedding,
        ("A cat sits on the mat.", "A kitten is lying on a rug.", "The stock market fell sharply."),
    )
    assert cat @ kitten > 0.5 > 0.2 > cat @ market
