"""Attributions to source tokens, each against a second way to compute it: NumPy in float64."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder
from model.adapters.requests.request import Request
from model.adapters.requests.trace import Trace
from model.bundle.weights import Bundle
from model.errors import InputError
from model.explain import attribution
from model.explain.attribution import LONGEST, STEPS, Point, integrate
from model.trace.interventions import Cell, Intervention
from model.trace.tensor_names import (
    ATTRIBUTIONS,
    CHANGE,
    GAP,
    GRADIENT_INPUT,
    INTEGRATED,
    OCCLUSION,
)
from tests.model.numpy_reference import Array, NumpyTransformer, log_softmax
from tests.model.shaken import same, shaken_bundle
from tests.model.test_batch_independence import ANY, OFTEN, SOURCES, fresh, requests, shaken

SENTENCE = Request("The cat sat.", target="猫坐在这")
ALL = tuple(sorted(ATTRIBUTIONS))
Changed = Callable[[str, Array], Array]

__all__ = ["shaken"]  # a fixture


@pytest.fixture(scope="module")
def pair(bundle: Path) -> tuple[EncoderDecoder, NumpyTransformer]:
    """The same random weights in double precision, in torch and in NumPy."""
    loaded = shaken_bundle(bundle)
    ours = EncoderDecoder(replace(loaded, model=loaded.model.double()), "exact")
    theirs = NumpyTransformer(bundle)
    state = loaded.model.state_dict()
    theirs.weights = {name: state[name].numpy().copy() for name in theirs.weights}
    return ours, theirs


class Witness:
    """f(change): the log-probabilities of what a trace wrote, computed by NumPy."""

    def __init__(self, numpy: NumpyTransformer, trace: Trace) -> None:
        self.numpy = numpy
        self.source, self.target = (
            [token.id for token in trace.texts[text]] for text in ("source", "target")
        )
        self.special = [token.special for token in trace.texts["source"]]
        self.ids = [token.id for token in trace.output.tokens]

    def __call__(self, change: Changed) -> Array:
        logits = self.numpy.run(self.source, self.target, change=change)["decoder.logits"]
        found: Array = log_softmax(logits)[range(len(self.ids)), self.ids]
        return found

    def hidden(self, token: int) -> Array:
        def change(name: str, value: Array) -> Array:
            if name.endswith(".mask") and (name.startswith("encoder") or ".cross." in name):
                value = value.copy()
                value[:, token] = False
            return value

        return self(change)

    def scaled(self, factors: Any) -> Array:
        """Multiply the embedding of each source token by a factor."""

        def change(name: str, value: Array) -> Array:
            return value * np.asarray(factors)[:, None] if name == "source.embedding" else value

        return self(change)

    def slope(self, factors: Array, token: int, step: float = 1e-5) -> Array:
        """Return ∂f/∂(factor of a token), by central differences."""
        by = np.zeros(len(self.source))
        by[token] = step
        return (self.scaled(factors + by) - self.scaled(factors - by)) / (2 * step)


@pytest.mark.parametrize("source", ["A cat", "The cat sat.", "I don't know who she is."])
def test_attributions_are_those_of_numpy(
    pair: tuple[EncoderDecoder, NumpyTransformer], source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Integrated gradients are those of Simpson's rule for α = u⁴, here in four intervals."""
    monkeypatch.setattr(attribution, "STEPS", 9)
    ours, theirs = pair
    trace = ours.trace(Request(source, target="猫坐在这"), select=ALL)
    witness = Witness(theirs, trace)
    tokens = range(len(witness.source))
    whole = np.ones(len(tokens))

    occluded = np.stack([witness.scaled(whole) - witness.hidden(token) for token in tokens], 1)
    np.testing.assert_allclose(trace[OCCLUSION].value, occluded, atol=1e-6)

    slopes = np.stack([witness.slope(whole, token) for token in tokens], 1)
    np.testing.assert_allclose(trace[GRADIENT_INPUT].value, slopes, atol=1e-6)

    moved = ~np.array(witness.special)
    rule = np.array([1, 4, 2, 4, 2, 4, 2, 4, 1]) / 24
    places = np.arange(9) / 8
    path = [np.where(moved, place**4, 1.0) for place in places]
    weights = rule * 4 * places**3
    integrated = np.stack(
        [
            moved[token]
            * sum(
                weight * witness.slope(at, token)
                for weight, at in zip(weights[1:], path[1:], strict=True)
            )
            for token in tokens
        ],
        1,
    )
    np.testing.assert_allclose(trace[INTEGRATED].value, integrated, atol=1e-6)
    assert not trace[INTEGRATED].value[:, ~torch.from_numpy(moved)].any()

    change = witness.scaled(whole) - witness.scaled(1.0 - moved)
    np.testing.assert_allclose(trace[CHANGE].value, change, atol=1e-6)
    np.testing.assert_allclose(trace[GAP].value, integrated.sum(axis=1) - change, atol=1e-6)
    for name in ALL:
        assert trace[name].value.abs().max() > 0.1, name


def test_integrated_gradients_sum_to_the_change(
    pair: tuple[EncoderDecoder, NumpyTransformer], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They do to about 2 %, as far as the number of points allows; the gap says how well."""
    gaps = []
    for steps in (9, 17, STEPS):
        monkeypatch.setattr(attribution, "STEPS", steps)
        trace = pair[0].trace(SENTENCE, select=ALL)
        gap = trace[INTEGRATED].value.sum(-1) - trace[CHANGE].value
        torch.testing.assert_close(trace[GAP].value, gap, atol=1e-5, rtol=0)
        gaps.append(float(gap.abs().max()))
    assert gaps[0] > gaps[2]
    allowed = attribution.tolerance(trace[CHANGE].value)
    assert (trace[GAP].value.abs() <= 1.5 * allowed).all()
    assert float(allowed.max()) > attribution.FINE


def test_where_a_function_is_steep_there_are_more_points() -> None:
    """The first row has most of its change in a hundredth of the path; the last jumps at 0."""
    asked: list[float] = []

    def evaluate(places: Sequence[float]) -> list[Point]:
        asked.extend(places)
        return [
            Point(
                torch.tensor([u / (u + 1e-2), 3 * u, float(u > 0)], dtype=torch.float64),
                torch.tensor(
                    [[1e-2 / (u + 1e-2) ** 2, 0], [1, 2], [0, 0 if u else 1e12]],
                    dtype=torch.float64,
                ),
            )
            for u in places
        ]

    found, change = integrate(evaluate, 65, lambda change: 0.02 * change.abs())
    assert change.tolist() == pytest.approx([1, 3, 1], abs=1e-2)
    torch.testing.assert_close(found[:2].sum(1), change[:2], atol=0, rtol=0.02)
    assert found[1].tolist() == pytest.approx([1, 2])
    assert found[2].tolist() == [0, 0]
    assert len(asked) == len(set(asked)) <= 65


INTERVENTIONS = [
    (Intervention("encoder.0.self", "zero", 1),),
    (Intervention("decoder.1.cross", "set", None, Cell(2, 1, 0.9, renormalise=True)),),
    (Intervention("source", "mask", value=1), Intervention("source.position", "drop")),
    (Intervention("encoder.1.self", "freeze", 0, Request("A dog.", target="狗")),),
]


@pytest.mark.parametrize("made", [(), *INTERVENTIONS], ids=range(5))
def test_occlusion_is_one_request_for_each_token(
    tiny: EncoderDecoder, made: tuple[Intervention, ...]
) -> None:
    request = replace(SENTENCE, interventions=made, select=(OCCLUSION,))
    trace = tiny.trace(request)
    before = torch.tensor(trace.output.logprobs)
    for token in range(len(trace.texts["source"])):
        hidden = (*made, Intervention("source", "mask", value=token))
        without = tiny.trace(request, interventions=hidden, select=()).output.logprobs
        expected = before - torch.tensor(without)
        found = trace[OCCLUSION].value[:, token]
        torch.testing.assert_close(found, expected, atol=1e-5, rtol=0)
    assert trace[OCCLUSION].dims == ("query", "key")
    assert dict(trace[OCCLUSION].over) == {"query": "target", "key": "source"}


def test_a_translation_that_reads_no_source_has_no_gradient(
    shaken: Bundle,
) -> None:
    """With the mean in place of every cross-attention head, the source changes nothing."""
    made = tuple(Intervention(f"decoder.{layer}.cross", "mean") for layer in (0, 1))
    trace = fresh(shaken).trace(SENTENCE, interventions=made, select=ALL)
    for name in ALL:
        torch.testing.assert_close(
            trace[name].value, torch.zeros_like(trace[name].value), atol=1e-5, rtol=0
        )


def test_attributions_are_equal_alone_beside_others_and_padded(
    shaken: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attribution, "STEPS", 4)
    others = [
        Request(source, target="猫" * (1 + 5 * at), select=(OCCLUSION,))
        for at, source in enumerate(SOURCES)
    ]
    seen = 0

    @OFTEN
    @given(requests(st.just(()) | st.tuples(ANY)), st.integers(0, len(others)), st.integers(40, 64))
    def holds(one: Request, place: int, length: int) -> None:
        nonlocal seen
        one = replace(one, select=ALL)
        known = fresh(shaken)
        if not known.takes(one):
            return
        seen += 1
        [alone] = known.run([one])
        beside = fresh(shaken).run([*others[:place], one, *others[place:]])[place]
        same(beside, alone)
        padded = fresh(shaken).trace(replace(one, pad_to=length))
        same(padded, alone)
        rows, columns = alone[OCCLUSION].shape
        assert not padded[INTEGRATED].value[:rows, columns:].any()
        assert not padded[OCCLUSION].value[:rows, columns:].any()
        assert padded[GRADIENT_INPUT].value[rows:].isnan().all()
        assert padded[CHANGE].value[rows:].isnan().all()

    holds()
    assert seen >= 2


def test_they_are_computed_only_if_named_in_full(tiny: EncoderDecoder) -> None:
    assert not ATTRIBUTIONS & set(tiny.trace(SENTENCE, select=["inside.*", "*"]))
    assert list(tiny.trace(SENTENCE, select=[INTEGRATED])) == [INTEGRATED]
    with pytest.raises(InputError, match="names no tensor"):
        tiny.trace(SENTENCE, select=["inside.integrated*"])


def test_recording_them_changes_nothing_else(tiny: EncoderDecoder) -> None:
    plain = tiny.trace(SENTENCE, select=["*.weights"])
    with_them = tiny.trace(SENTENCE, select=["*.weights", *ALL])
    assert with_them.output == plain.output
    assert all(torch.equal(plain[name].value, with_them[name].value) for name in plain)
    assert all(parameter.grad is None for parameter in tiny.model.parameters())


@pytest.mark.parametrize("text", ["source", "target"])
def test_integrated_gradients_of_long_texts_are_refused(tiny: EncoderDecoder, text: str) -> None:
    given = {"source": "A cat", "target": "猫"} | {text: "猫" * (LONGEST + 1)}
    request = Request(given["source"], target=given["target"], select=("*.weights", INTEGRATED))
    with pytest.raises(InputError, match=f"at most {LONGEST}") as caught:
        tiny.check(request)
    assert caught.value.field == "select[1]"
    assert f"{text} has {LONGEST + (3 if text == 'source' else 2)} tokens" in caught.value.detail
    tiny.check(replace(request, select=(OCCLUSION, GRADIENT_INPUT)))
