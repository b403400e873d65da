"""Weights in 8 bits: by how much they differ, what stays as it is, and how many bytes they take."""

import gzip

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from app.handouts.packing import (
    FEWEST_STEPS,
    POWER,
    STEPS,
    Weights,
    largest_error,
    rounded,
    rounded_file,
)

HALF_STEP = 0.5 / (STEPS - 1) / POWER  # the largest half of a step of a weight, at 1


def softmax(scores: NDArray[np.float64]) -> Weights:
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    weights: Weights = (powers / powers.sum(-1, keepdims=True)).astype(np.float32)
    return weights


@st.composite
def attention(draw: st.DrawFn) -> Weights:
    """Weights of softmaxes from flat to sharp, causal or not, with rows that look at one key."""
    heads, rows, keys = (draw(st.integers(1, size)) for size in (3, 12, 40))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    scores = draw(st.sampled_from([0.0, 0.3, 1, 3, 10, 100])) * random.normal(
        size=(heads, rows, keys)
    )
    if draw(st.booleans()):
        scores = np.where(np.tri(rows, keys, dtype=bool), scores, -np.inf)
    return softmax(scores)


@settings(max_examples=200, deadline=None)
@given(attention(), st.integers(FEWEST_STEPS, STEPS))
def test_a_weight_differs_by_less_than_a_step_and_a_row_keeps_its_sum(
    weights: Weights, steps: int
) -> None:
    layer = rounded(weights, steps)
    step = 1 / (steps - 1) / POWER
    read = np.stack([layer.weights(head) for head in range(len(weights))])
    assert np.abs(read - weights).max() <= step
    assert largest_error(weights, layer) == pytest.approx(np.abs(read - weights).max(), abs=1e-7)
    np.testing.assert_array_equal(read[weights == 0], 0)
    assert (read >= 0).all()
    # A weight that the correction would take below 0 stays at 0.
    np.testing.assert_allclose(read.sum(-1), weights.sum(-1), atol=step * 2)
    for written, original in zip(
        read.reshape(-1, read.shape[-1]),
        weights.reshape(read[0].size * len(read) // read.shape[-1], -1),
        strict=True,
    ):
        order = np.argsort(original, kind="stable")
        assert (np.diff(written[order]) >= -1e-7).all(), "the order of a row is kept"


@pytest.mark.parametrize("scale", [0.5, 1, 3])
def test_long_rows_lose_nothing_of_their_sum(scale: float) -> None:
    weights = softmax(scale * np.random.default_rng(0).normal(size=(2, 300, 300)))
    layer = rounded(weights)
    assert largest_error(weights, layer) < 1.3 * HALF_STEP
    np.testing.assert_allclose(layer.weights(1).sum(-1), 1, atol=1e-4)


def test_a_sink_with_many_weights_that_are_smaller_than_a_step() -> None:
    row = np.full(1000, 0.3 / 999)
    row[0] = 0.7
    weights = np.tile(row, (1, 4, 1)).astype(np.float32)
    read = rounded(weights).weights(0)
    np.testing.assert_allclose(read, weights[0], atol=1e-5)


def test_rows_that_do_not_sum_to_1_keep_their_sum() -> None:
    weights = softmax(np.random.default_rng(0).normal(size=(2, 5, 50)))
    weights[1, 3] *= 0.6
    weights[0, 2] = 0
    packed = rounded_file({"a.weights": weights})
    file = safetensors.numpy.load(gzip.decompress(packed.layers["a.weights"]))
    assert file["sums"][1, 3] == pytest.approx(0.6, abs=1e-6)
    assert file["sums"][0, 2] == 0
    assert (file["sums"] == 1).sum() == 8
    read = rounded(weights).weights(1)
    assert read[3].sum() == pytest.approx(0.6, abs=1e-5)


def test_there_are_fewer_steps_if_the_file_would_be_too_large() -> None:
    weights = {"a.weights": softmax(np.random.default_rng(0).normal(size=(2, 100, 100)))}
    fine, coarse = rounded_file(weights), rounded_file(weights, max_bytes=6_000)
    assert fine.steps == STEPS > coarse.steps
    assert fine.error < coarse.error
    assert len(coarse.layers["a.weights"]) <= 6_000 or coarse.steps == FEWEST_STEPS
