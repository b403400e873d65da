"""Sweeps of patches in a model of one text, whose two texts differ in length."""

from pathlib import Path
from typing import Any

import pytest
import torch

from model.adapters.requests.request import Decode, Patch, Request
from model.adapters.sweep import Sweep, sweep
from tests.model.tiny_huggingface import build, make

pytest.importorskip("transformers")

from model.adapters.huggingface.huggingface_adapter import HuggingFace, load_huggingface
from model.adapters.huggingface.models_in_memory import wrap

SHORT, LONG = "The cat sat on the mat.", "The old dog sat there on the mat."
# Which of the long text's tokens is at the place of each of the short one's, read off by hand.
WORDS = {"The": "The", " cat": " dog", " sat": " sat", " on": " on", " the": " the"}
BY_HAND = {0: 0, 1: 5, 2: 6, 3: 10, 4: 11, 5: 12, 6: 13}
WRITTEN = 3


@pytest.fixture(scope="module")
def library() -> Any:
    return build("llama")


@pytest.fixture(scope="module")
def model(library: Any) -> HuggingFace:
    return wrap(*library)


def odds(library: Any, ids: list[int], row: int, written: int, against: int) -> float:
    """Return log p(written) / p(against) in a row, computed by the library alone."""
    with torch.no_grad():
        logits = library[0](input_ids=torch.tensor([ids])).logits[0, row]
    return float(logits[written] - logits[against])


def read(swept: Sweep) -> tuple[list[int], list[int]]:
    """Return the ids that both runs read."""
    assert swept.other is not None
    here, there = swept.base.texts["text"], swept.other.trace.texts["text"]
    return [token.id for token in here], [token.id for token in there]


def test_a_row_is_compared_with_its_counterpart(model: HuggingFace, library: Any) -> None:
    request = Request(SHORT, decode=Decode(max_tokens=WRITTEN))
    swept = sweep(model, request, Patch(Request(LONG)), over="positions")
    assert swept.other is not None
    ours, theirs = read(swept)
    there = swept.other.trace.texts["text"]
    for row, token in enumerate(swept.base.texts["text"][:5]):
        assert there[BY_HAND[row]].text == WORDS[token.text]
    # What continues the texts is the same in both.
    rows = BY_HAND | {7: 14, 8: 15}
    assert len(rows) == len(ours) == len(swept.rows)
    for row, (token, against) in enumerate(
        zip(swept.base.output.tokens, swept.against, strict=True)
    ):
        here = odds(library, ours, row, token.id, against.id)
        assert swept.contrast[row] == pytest.approx(here, abs=1e-4)
        expected = odds(library, theirs, rows[row], token.id, against.id)
        assert swept.other.contrast[row] == pytest.approx(expected, abs=1e-4)


def test_the_last_states_of_a_row_recover_all_of_its_difference_and_no_other(
    model: HuggingFace,
) -> None:
    """The stream after the last layer is all that a row's logits are computed from."""
    request = Request(SHORT, decode=Decode(max_tokens=WRITTEN))
    swept = sweep(model, request, Patch(Request(LONG)), over="positions")
    last = [one for batch in swept.batches for one in batch if one.at == "decoder.1.ffn.residual"]
    assert [one.token for one in last] == list(range(9))
    for one in last:
        assert one.recovered is not None
        assert one.token is not None
        for row, share in enumerate(one.recovered):
            if row == 0:  # both have read the same first token, and nothing else
                assert share is None
            else:
                assert share == pytest.approx(float(row == one.token), abs=0.01)


def test_a_row_without_a_counterpart_is_compared_with_nothing(model: HuggingFace) -> None:
    swept = sweep(model, Request(LONG, decode=Decode(max_tokens=WRITTEN)), Patch(Request(SHORT)))
    assert swept.other is not None
    alone = {row for row, odds in enumerate(swept.other.contrast) if odds is None}
    assert alone == set(range(16)) - {*BY_HAND.values(), 14, 15}
    plain = sweep(model, Request(LONG, decode=Decode(max_tokens=WRITTEN)))
    for row in alone:
        assert swept.against[row] == plain.against[row]
        assert swept.candidates[row] == plain.candidates[row]
    for one in next(swept.batches):
        assert one.recovered is not None
        assert {row for row, share in enumerate(one.recovered) if share is None} >= alone


def test_given_rows_come_before_aligned_ones(model: HuggingFace, library: Any) -> None:
    request = Request(SHORT, decode=Decode(max_tokens=WRITTEN))
    swept = sweep(model, request, Patch(Request(LONG), ((2, 1),)), over="positions")
    assert swept.other is not None
    assert swept.other.pairs["text"] == ((2, 1),)
    _, theirs = read(swept)
    token, against = swept.base.output.tokens[1].id, swept.against[1].id
    expected = odds(library, theirs, 2, token, against)
    assert swept.other.contrast[1] == pytest.approx(expected, abs=1e-4)
    assert None not in swept.other.contrast


def test_the_words_at_masks_are_compared_in_their_order(tmp_path: Path) -> None:
    bert = load_huggingface(make("bert", tmp_path / "bert"), "cpu")
    ours, theirs = "The [MASK] sat here.", "The old dog and the [MASK] sat here."
    swept = sweep(bert, Request(ours), Patch(Request(theirs)))
    assert swept.other is not None
    other = swept.other.trace
    [logits] = (one.value for one in other.tensors.values())
    row = [token.text for token in other.texts["text"]].index("[MASK]")
    word, against = swept.base.output.tokens[0].id, swept.against[0].id
    expected = float(logits[row, word] - logits[row, against])
    assert swept.other.contrast[0] == pytest.approx(expected, abs=1e-4)
