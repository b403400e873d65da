"""Attention that was computed elsewhere, shown as it is."""

import re
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from headlight import InputError, Intervention, given, show

WORDS = ["[CLS]", "un", "##believ", "##able", "cats", "[SEP]"]


def weights(*shape: int, causal: bool = False, seed: int = 0) -> NDArray[np.float32]:
    scores = torch.randn(shape, generator=torch.Generator().manual_seed(seed))
    if causal:
        scores = scores.masked_fill(torch.ones(shape[-2:]).triu(1).bool(), -torch.inf)
    return scores.softmax(-1).numpy()


def test_it_holds_the_arrays_as_they_are() -> None:
    arrays = [weights(1, 3, 6, 6, seed=layer) for layer in range(2)]
    model = given(arrays, WORDS)
    trace = model.trace("anything", select="*")
    for layer, array in enumerate(arrays):
        np.testing.assert_array_equal(trace[f"encoder.{layer}.self.weights"], array[0])
        assert np.asarray(trace[f"encoder.{layer}.self.mask"]).all()
    assert model.info.kind == "encoder"
    assert model.info.heads == {"encoder": 3}
    assert not model.info.capabilities


def test_tokens_are_shown_without_the_marks_of_their_tokenizer() -> None:
    texts = {
        "the": (
            [*WORDS],
            ["[CLS]", " un", "believ", "able", " cats", "[SEP]"],
            "unbelievable cats",
        ),
        "of BPE": (
            ["A", "Ġcat", "s", "<|endoftext|>"],
            ["A", " cat", "s", "<|endoftext|>"],
            "A cats",
        ),
        "of pieces": (["▁A", "▁cat", "</s>"], [" A", " cat", "</s>"], "A cat"),
        "plain": (["A", "cat"], ["A", " cat"], "A cat"),
    }
    for strings, shown, text in texts.values():
        model = given([weights(1, len(strings), len(strings))], strings)
        tokens = model.texts["text"]
        assert [one.text for one in tokens] == shown
        assert model.text == text
        for one in tokens:
            assert text[one.start : one.end] == ("" if one.special else one.text.strip())


def test_attention_that_never_looks_ahead_is_causal() -> None:
    model = given([weights(2, 4, 4, causal=True)] * 3, list("abcd"))
    assert model.info.kind == "decoder"
    assert {one.mask for one in model.info.attentions} == {"causal"}
    mask = np.asarray(model.trace("", select="*.mask")["decoder.0.self.mask"])
    np.testing.assert_array_equal(mask, np.tri(4, dtype=bool))
    ahead = [weights(2, 4, 4, causal=True), weights(2, 4, 4)]
    assert given(ahead, list("abcd")).info.kind == "encoder"


def test_an_encoder_decoder_has_three_kinds() -> None:
    model = given(
        {
            "encoder": [weights(2, 3, 3)],
            "decoder": [weights(2, 4, 4, causal=True)],
            "cross": [weights(2, 4, 3)],
        },
        {"source": ["a", "b", "</s>"], "target": ["<s>", "c", "d", "e"]},
    )
    assert [one.place for one in model.info.attentions] == [
        "encoder.0.self",
        "decoder.0.self",
        "decoder.0.cross",
    ]
    trace = model.trace("", select="*", summarise="*")
    assert trace["decoder.0.cross.weights"].over == {"query": "target", "key": "source"}
    assert [one.text for one in trace.output.tokens] == ["c", " d", " e", "…"]
    assert len(trace.summaries["decoder.0.cross"].patterns) == 2


def test_any_kind_of_array_can_be_shown() -> None:
    half = torch.from_numpy(weights(1, 2, 6, 6)).to(torch.bfloat16).requires_grad_()
    kinds: list[Any] = [half[None], [half], [weights(2, 6, 6).tolist()]]
    for layers in kinds:
        assert re.search("srcdoc", show(layers, WORDS)._repr_html_())


@pytest.mark.parametrize(
    ("attentions", "tokens", "said"),
    [
        ([weights(2, 5, 5)], WORDS, r"layer 1 has shape \(2, 5, 5\).*\(heads, 6, 6\)"),
        ([weights(2, 6, 6), weights(2, 3, 6, 6)], WORDS, r"layer 2 has shape \(2, 3, 6, 6\)"),
        ({"encoder": [weights(1, 1, 1)]}, ["a"], "both be mappings"),
        ({"other": [weights(1, 1, 1)]}, {"source": ["a"]}, "unknown: 'other'"),
        ({"cross": [weights(1, 1, 1)]}, {"source": ["a"]}, "tokens lacks 'target'"),
        ({}, {"source": ["a"]}, "attentions is empty"),
    ],
)
def test_what_does_not_fit_is_named(attentions: Any, tokens: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        given(attentions, tokens)


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ({"head": 2}, "head is 2; the heads of encoder are 0 … 1"),
        ({"layer": 3}, "layer is 3; the layers of encoder are 0 … 2"),
        ({"layer": -1}, "layer is -1"),
        ({"block": "cross"}, "block is 'cross'; known are encoder"),
    ],
)
def test_no_other_head_is_shown_in_place_of_one_that_is_not_there(
    place: dict[str, Any], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        show([weights(2, 6, 6)] * 3, WORDS, **place)


def test_it_cannot_be_changed() -> None:
    model = given([weights(2, 6, 6)], WORDS)
    with pytest.raises(InputError, match="cannot be changed"):
        model.trace("", interventions=[Intervention("encoder.0.self", "zero", head=0)])
    with pytest.raises(TypeError, match="the list of their tokens"):
        show([weights(2, 6, 6)], "a sentence")
    with pytest.raises(TypeError, match="a sentence or a Request, not list"):
        show(model, WORDS)
    with pytest.raises(TypeError, match="scheme is for arrays"):
        show(model, "a", scheme="words")
    with pytest.raises(TypeError, match=r"show\(attentions, tokens, tokenizer=…\)"):
        show([weights(2, 6, 6)], object(), WORDS)
