"""The model with four encoder heads: what its card promises of them."""

import json
from typing import Any

from app.settings import Settings
from model.adapters.encoder_decoder.encoder_decoder_adapter import load
from model.adapters.requests.request import Request
from model.bundle.weights import CHECKPOINTS, digest_of
from model.measure.heads_report import IDLE, NAMED
from tests.model.numpy_reference import NumpyTransformer
from tests.model.test_numpy_reference import answered, apart, witnessed

FOLDER = CHECKPOINTS / "en-zh-4-heads"


def encoder_heads() -> list[dict[str, Any]]:
    report = json.loads((FOLDER / "report.json").read_text())
    assert report["digest"] == digest_of(FOLDER)
    found = [head for head in report["heads"] if head["attention"].startswith("encoder.")]
    assert len(found) == 12
    return found


def test_half_of_them_are_needed() -> None:
    assert sum(head["zero"] >= IDLE for head in encoder_heads()) >= 6


def test_a_third_of_them_have_a_name() -> None:
    assert sum(head["usual"][1] >= NAMED for head in encoder_heads()) >= 4


def test_it_agrees_with_numpy() -> None:
    adapter = load(FOLDER, "cpu")
    select = ("*", "decoder.logits")
    requests = [Request(text, select=select) for text in ("The cat sat.", "我很累。", "No")]
    witness = NumpyTransformer(FOLDER)
    for trace in answered(adapter, requests):
        assert apart(trace, witnessed(witness, trace)) == set()


def test_it_is_served_after_the_other() -> None:
    assert [*Settings().bundles] == ["en-zh", "en-zh-4-heads"]
