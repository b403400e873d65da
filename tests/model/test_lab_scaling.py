"""Why scores are scaled: the measurements against closed forms and the vectors themselves."""

import numpy as np
import pytest

from model.lab.compute import SAMPLES, WIDTHS, drawn, scaling


@pytest.mark.parametrize(("keys", "seed"), [(2, 0), (6, 1), (32, 7)])
def test_scores_weights_and_gradients(keys: int, seed: int) -> None:
    found = scaling(keys, seed)
    for at, width in enumerate(WIDTHS):
        q, k = (one.numpy() for one in drawn(width, keys, seed))
        products = np.einsum("scd,skd->sk", q, k)
        for name, root in (("dot", 1.0), ("scaled", width**0.5)):
            scores = products / root
            weights = np.exp(scores - scores.max(axis=1, keepdims=True))
            weights /= weights.sum(axis=1, keepdims=True)
            # ∂ softmax_i / ∂ score_j = a_i (δ_ij − a_j)
            jacobian = weights[:, :, None] * (np.eye(keys) - weights[:, None, :])
            one = found[name]
            np.testing.assert_allclose(one.scores[at], scores[0])
            np.testing.assert_allclose(one.weights[at], weights[0])
            np.testing.assert_allclose(one.spread[at], scores.std())
            np.testing.assert_allclose(one.largest[at], weights.max(axis=1).mean())
            best = weights.argmax(axis=1)
            slopes = jacobian[np.arange(len(best)), best, best]
            np.testing.assert_allclose(one.gradient[at], slopes.mean())


def test_products_spread_like_the_root_of_the_width() -> None:
    found = scaling(6, 0)
    assert WIDTHS[-1] == 512
    np.testing.assert_allclose(found["dot"].spread, np.sqrt(WIDTHS), rtol=0.15)
    np.testing.assert_allclose(found["scaled"].spread, 1, atol=0.15)
    assert found["dot"].gradient[-1] < 0.25 * found["scaled"].gradient[-1] < 0.25 * 0.25
    assert len(drawn(4, 3, 0)[0]) == SAMPLES


def test_a_seed_says_which_vectors() -> None:
    first, again, other = scaling(3, 5), scaling(3, 5), scaling(3, 6)
    assert np.array_equal(first["dot"].scores, again["dot"].scores)
    assert not np.array_equal(first["dot"].scores, other["dot"].scores)
