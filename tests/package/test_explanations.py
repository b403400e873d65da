"""The functions of `headlight.explanations`, each against runs of the model made one by one."""

from pathlib import Path

import numpy as np
import pytest
import torch

import headlight
from headlight import Adapter, InputError, Intervention, Patch, Request
from model.adapters.huggingface.huggingface_adapter import load_huggingface
from tests.model.tiny_huggingface import make
from tests.shipped_head_counts import IN_ALL

FATHER, MOTHER = "My father is a teacher.", "My mother is a teacher."
WRITTEN = "我父亲是老师。"
EXACT = 2e-4  # nats


@pytest.fixture(scope="module")
def model() -> Adapter:
    return headlight.load("en-zh", "cpu")


def logprobs(model: Adapter, source: str) -> torch.Tensor:
    trace = model.trace(source, target=WRITTEN, select="decoder.logits")
    return trace["decoder.logits"].value.log_softmax(-1)


def test_a_patch_adds_to_the_interventions_of_a_request(model: Adapter) -> None:
    off = Intervention("decoder.1.cross", "zero", 2)
    mine = headlight.patch(
        model, FATHER, MOTHER, "source.embedding", rows=[(2, 2)], interventions=[off]
    )
    both = model.trace(MOTHER, interventions=[off])  # the sentences differ in this token alone
    assert mine.output.text == both.output.text
    assert mine.output.logprobs == pytest.approx(both.output.logprobs, abs=1e-4)
    whole = headlight.patch(model, FATHER, MOTHER, "decoder.2.cross.mix", 3, target=WRITTEN)
    named = [Intervention("decoder.2.cross.mix", "patch", 3, Patch(Request(MOTHER)))]
    assert whole.output == model.trace(FATHER, target=WRITTEN, interventions=named).output


def test_a_contrast_is_the_difference_of_two_log_probabilities(model: Adapter) -> None:
    found = headlight.contrast(model, FATHER, "母", target=WRITTEN)
    chances = logprobs(model, FATHER)
    ids = [token.id for token in found.written]
    mother = headlight.token_id(model, "母")
    expected = chances[range(len(ids)), ids] - chances[:, mother][: len(ids)]
    np.testing.assert_allclose(found.total, expected, atol=EXACT)
    np.testing.assert_allclose(found.lens[-1], expected, atol=EXACT)
    rows = len(ids)
    summed = sum(part.reshape(-1, rows).sum(0) for part in found.parts.values())
    np.testing.assert_allclose(np.asarray(summed), expected, atol=EXACT)
    assert {token.text for token in found.against} == {"母"}
    assert found.parts["cross"].shape == (3, 8, rows)
    runner_up = headlight.contrast(model, FATHER, target=WRITTEN)
    for row, token in enumerate(runner_up.against):
        others = chances[row].clone()
        others[ids[row]] = -torch.inf
        assert token.id == int(others.argmax())


@pytest.mark.parametrize("name", ["llama", "bert"])
def test_a_contrast_of_other_models(name: str, tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    one = load_huggingface(make(name, tmp_path / name), "cpu", name)
    found = headlight.contrast(one, "The cat sat on the mat.")
    assert found.total.shape == found.lens[-1].shape == (len(found.written),)
    assert len(found.against) == len(found.written)
    assert bool(found.parts) == (name == "llama")
    if found.parts:
        summed = sum(part.reshape(-1, len(found.written)).sum(0) for part in found.parts.values())
        np.testing.assert_allclose(np.asarray(summed), found.total, atol=1e-3)


def test_sources_of_a_word(model: Adapter) -> None:
    lost = headlight.occlude(model, FATHER, target=WRITTEN)
    base = model.trace(FATHER, target=WRITTEN).output.logprobs
    for token in range(lost.shape[1]):
        hidden = [Intervention("source", "mask", value=token)]
        without = model.trace(FATHER, target=WRITTEN, interventions=hidden).output.logprobs
        expected = np.subtract(base, without)
        np.testing.assert_allclose(lost[:, token], expected, atol=1e-4)
    found = headlight.integrated_gradients(model, FATHER, target=WRITTEN)
    assert found.values.shape == lost.shape
    np.testing.assert_allclose(found.values.sum(1), found.change, atol=0.5)


def test_a_sweep_is_the_mean_over_rows_and_sentences(model: Adapter) -> None:
    sentences: list[str | Request] = [FATHER, Request("I like dogs.", target="我喜欢狗。")]
    found = {(one.at, one.head): one for one in headlight.sweep(model, sentences)}
    assert len(found) == IN_ALL
    for at, head in (("encoder.0.self", 0), ("decoder.2.cross", 5)):
        deltas: list[float] = []
        for sentence in sentences:
            base = model.trace(sentence)
            target = base.output.text
            off = [Intervention(at, "zero", head)]
            after = model.trace(sentence, target=target, interventions=off).output.logprobs
            deltas += np.subtract(after, base.output.logprobs).tolist()
        one = found[at, head]
        assert one.rows == len(deltas)
        assert one.delta == pytest.approx(np.mean(deltas), abs=1e-4)
        assert one.recovered is None


def test_a_patch_for_each_sentence(model: Adapter) -> None:
    sentences = [FATHER, "My father is a doctor."]
    patches = [Patch(Request(one.replace("father", "mother"))) for one in sentences]
    both = headlight.sweep(model, sentences, patches, row=1, over="sublayers")
    each = [
        headlight.sweep(model, one, patch, row=1, over="sublayers")
        for one, patch in zip(sentences, patches, strict=True)
    ]
    for mean, first, second in zip(both, *each, strict=True):
        assert mean.at == first.at == second.at
        shares = [one.recovered for one in (first, second) if one.recovered is not None]
        assert mean.recovered == pytest.approx(np.mean(shares))
        assert mean.rows == 2


def test_what_does_not_fit_is_named(model: Adapter) -> None:
    with pytest.raises(ValueError, match=r"'cats' is no token of .*; there is ' cats'"):
        headlight.contrast(model, FATHER, "cats")
    with pytest.raises(ValueError, match="1 patches for 2 sentences"):
        headlight.sweep(model, [FATHER, MOTHER], [Patch(Request(MOTHER))])
    with pytest.raises(InputError, match="must be a place of the model"):
        headlight.patch(model, FATHER, MOTHER, "decoder.9.cross.mix", 3)


def test_pairs_come_after_single_heads(model: Adapter) -> None:
    found = headlight.sweep(model, FATHER, over="pairs", among=["decoder.2.cross"])
    alone = {one.head: one.delta for one in found[:8]}
    assert len(alone) == 8
    assert len(found) == 8 + 28
    for one in found[8:]:
        assert one.also is not None
        both = alone[one.head] + alone[one.also[1]]
        assert one.interaction == pytest.approx(one.delta - both, abs=1e-6)
