"""Gains and effect sizes, beside published examples, exact intervals and simulated studies."""

import random
from collections.abc import Sequence
from math import sqrt
from statistics import fmean, stdev

import pytest

from app.studies.results import (
    Effect,
    group_effect,
    mean,
    normalized_gain,
    paired_effect,
    spread,
)


def scores(n: int, center: float, sd: float) -> list[float]:
    """Return n scores with exactly this mean and standard deviation."""
    raw = [float(k % 7 + k / n) for k in range(n)]
    middle, width = fmean(raw), stdev(raw)
    return [center + sd * (one - middle) / width for one in raw]


def test_the_normalized_gain_is_the_part_of_what_was_missing() -> None:
    assert normalized_gain(0.4, 0.7) == pytest.approx(0.5)
    assert normalized_gain(0.5, 0.25) == pytest.approx(-0.5)
    for before, after in ((1.0, 1.0), (None, 0.5), (0.5, None)):
        assert normalized_gain(before, after) is None


def test_what_cannot_be_computed_is_none() -> None:
    assert mean([]) is None
    assert spread([0.5]) is None
    assert paired_effect([0.5], [0.6]) is None
    assert paired_effect([0.5, 0.5], [0.6, 0.6]) is None
    assert group_effect([0.5], [0.1, 0.2]) is None
    assert group_effect([0.5, 0.5], [0.1, 0.1]) is None


def test_an_example_of_two_groups() -> None:
    """Borenstein and others, Introduction to Meta-Analysis, 2009, chapter 4: d 0.5970, V 0.0418."""
    effect = group_effect(scores(50, 103, 5.5), scores(50, 100, 4.5))
    assert effect is not None
    assert effect.d == pytest.approx(0.5970, abs=5e-5)
    assert ((effect.high - effect.low) / 2 / 1.959964) ** 2 == pytest.approx(0.0418, abs=5e-5)


@pytest.mark.parametrize(
    ("n", "m", "d", "low", "high"),
    # Exact: the noncentral t distribution of scipy (stats.nct), inverted with brentq.
    [
        (10, 10, 1.0, 0.0532, 1.9224),
        (20, 20, 0.8, 0.1499, 1.4403),
        (30, 40, 0.5, 0.0175, 0.9790),
        (100, 100, 0.3, 0.0209, 0.5784),
    ],
)
def test_the_interval_of_two_groups_is_near_the_exact_one(
    n: int, m: int, d: float, low: float, high: float
) -> None:
    effect = group_effect(scores(n, d, 1), scores(m, 0, 1))
    assert effect is not None
    assert effect.d == pytest.approx(d)
    assert [effect.low, effect.high] == pytest.approx([low, high], abs=0.02)


@pytest.mark.parametrize("r", [0.0, 0.5, 0.9])
def test_with_equal_spreads_the_variance_is_the_short_formula(r: float) -> None:
    """d²(1 + r²) / 4(n − 1) + 2(1 − r) / (n − 1)."""
    n, d = 40, 0.7
    before = scores(n, 0.0, 1.0)
    noise = [one * (-1) ** k for k, one in enumerate(scores(n, 0.0, 1.0))]
    part = fmean([x * y for x, y in zip(before, noise, strict=True)]) / fmean(
        [x * x for x in before]
    )
    left = [y - fmean(noise) - part * x for x, y in zip(before, noise, strict=True)]
    other = [one / stdev(left) for one in left]  # not correlated with `before`
    after = [d + r * x + sqrt(1 - r * r) * y for x, y in zip(before, other, strict=True)]
    effect = paired_effect(before, after)
    assert effect is not None
    assert effect.d == pytest.approx(d)
    variance = d**2 * (1 + r**2) / (4 * (n - 1)) + 2 * (1 - r) / (n - 1)
    assert ((effect.high - effect.low) / 2 / 1.959964) ** 2 == pytest.approx(variance, rel=1e-6)


def covered(effects: Sequence[Effect | None], truth: float) -> float:
    """Return the share of intervals that have the true effect."""
    return fmean(one is not None and one.low <= truth <= one.high for one in effects)


def test_intervals_have_the_true_effect_in_95_of_100_simulated_studies() -> None:
    draw = random.Random(1)
    normal = draw.gauss
    people, gain, paired, groups = 30, 0.8, [], []
    for _ in range(1_500):
        ability = [normal(0, 0.7) for _ in range(people)]
        noise = sqrt(1 - 0.7**2)
        before = [one + normal(0, noise) for one in ability]
        after = [one + gain + normal(0, noise) for one in ability]
        paired.append(paired_effect(before, after))
        groups.append(group_effect(after, [normal(0, 1) for _ in range(people)]))
    for effects in (paired, groups):
        assert 0.93 < covered(effects, gain) < 0.97
