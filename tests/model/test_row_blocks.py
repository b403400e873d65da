"""Attention without scores, against a softmax over all scores in float64."""

from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

pytest.importorskip("transformers")

from model.adapters.huggingface import recorded_attention
from model.adapters.huggingface.huggingface_adapter import load_huggingface
from model.adapters.requests.request import Request
from model.trace.interventions import Cell, Intervention
from tests.model.tiny_huggingface import make

LONG = "The cat sat on the mat. A dog ran after the cat, and it didn't stop."


def masks(queries: int, keys: int) -> dict[str, Tensor]:
    """Return masks (2, N, M) by name, of two rows that differ where they can."""
    row, key = torch.arange(queries)[:, None], torch.arange(keys)
    causal = (key <= row + keys - queries).expand(2, -1, -1)
    padded = torch.ones(2, queries, keys, dtype=torch.bool)
    padded[1, :, keys // 3 :] = False
    left = causal.clone()
    left[1, :, : keys // 2] = False  # its first rows may not attend to any key
    sparse = torch.rand(2, queries, keys, generator=torch.Generator().manual_seed(4)) < 0.02
    sparse[0, : queries // 2] = False
    return {
        "open": torch.ones(2, queries, keys, dtype=torch.bool),
        "causal": causal,
        "window": causal & (key > row - 7),
        "padded": padded,
        "left-padded": left,
        "sparse": sparse,
    }


@pytest.mark.parametrize("rule", masks(1, 1))
@pytest.mark.parametrize("shape", [(5, 9), (63, 64), (128, 512), (300, 300), (257, 420)])
def test_weights_and_mix_are_those_of_a_softmax(shape: tuple[int, int], rule: str) -> None:
    made = torch.Generator().manual_seed(sum(shape))
    q = torch.randn(2, 6, shape[0], 8, generator=made)
    k = torch.randn(2, 3, shape[1], 8, generator=made)
    v = torch.randn(2, 3, shape[1], 5, generator=made)
    allowed = masks(*shape)[rule]
    with torch.inference_mode():
        weights, mix = recorded_attention.softmax_attention(q, k, v, allowed, 0.7)
    every = [head // 2 for head in range(6)]
    scores = q.double() @ k[:, every].mT.double() * 0.7
    expected = scores.masked_fill(~allowed[:, None], -torch.inf).softmax(-1).nan_to_num(0)
    torch.testing.assert_close(weights.double(), expected, atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(mix.double(), expected @ v[:, every].double(), atol=1e-5, rtol=1e-5)
    assert not weights.masked_select(~allowed[:, None]).any()


@pytest.mark.parametrize("large", [1, 1 << 20])
@settings(max_examples=12, deadline=None, derandomize=True)
@given(
    length=st.integers(1, 40),
    padding=st.integers(0, 30),
    index=st.integers(0, 15),
    rule=st.sampled_from(["open", "causal", "window"]),
    left=st.booleans(),
)
def test_a_text_is_the_same_alone_padded_and_among_others(
    large: int, length: int, padding: int, index: int, rule: str, left: bool
) -> None:
    """Sixteen texts of other lengths, padded on one side; blocks of five rows."""
    whole = length + padding
    made = torch.Generator().manual_seed(whole)
    q, k, v = (torch.randn(16, heads, whole, 6, generator=made) for heads in (4, 2, 2))
    real = torch.rand(16, 1, whole, generator=made) < 0.7
    own = slice(padding, whole) if left else slice(0, length)
    real[index] = False
    real[index, :, own] = True
    allowed = masks(whole, whole)[rule][:1] & real
    q1, k1, v1 = (tensor[index : index + 1, :, own] for tensor in (q, k, v))
    with pytest.MonkeyPatch.context() as patch, torch.inference_mode():
        patch.setattr(recorded_attention, "LARGE", large)
        patch.setattr(recorded_attention, "BLOCK", 5)
        weights, mix = recorded_attention.softmax_attention(q, k, v, allowed, 0.7)
        mask = masks(length, length)[rule][:1]
        alone, mixed = recorded_attention.softmax_attention(q1, k1, v1, mask, 0.7)
    torch.testing.assert_close(weights[index, :, own, own], alone[0], atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(mix[index, :, own], mixed[0], atol=1e-5, rtol=1e-5)
    assert not weights.masked_select(~allowed[:, None]).any()


@pytest.mark.parametrize("large", [1, 1 << 20])
@pytest.mark.parametrize("name", ["bert", "llama", "mistral", "gemma3", "t5", "gpt-oss"])
def test_a_trace_is_the_same_with_and_without_scores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, large: int
) -> None:
    """Blocks of three rows, so that short texts have several."""
    monkeypatch.setattr(recorded_attention, "LARGE", large)
    monkeypatch.setattr(recorded_attention, "BLOCK", 3)
    adapter = load_huggingface(make(name, tmp_path / name), "cpu")
    target = "A dog" if len(adapter.info.texts) == 2 else None
    place = adapter.info.attentions[1].place
    logits = [one for one in adapter.names if one.endswith(".logits")]
    parts = ("*.q", "*.k", "*.v", "*.mask", "*.weights", "*.mix", *logits)
    for made in (
        (),
        (Intervention(place, "zero", 1), Intervention(place, "set", 0, Cell(1, 0, 0.7, True))),
        (Intervention(place, "temperature", 1, 0.5), Intervention(place, "uniform", 0)),
    ):
        given = Request(LONG, target=target, select=parts, interventions=made, pad_to=60)
        without = adapter.trace(given)
        with_scores = adapter.trace(given, select=(*parts, "*.scores"))
        for one in without:
            torch.testing.assert_close(
                without[one].value, with_scores[one].value, atol=1e-5, rtol=1e-5, msg=one
            )
