"""Measures of learning, from the scores of the same people before and after.

normalized gain     ⟨g⟩ = (after − before) / (1 − before), of the means: the part of what was not
                    known before. Hake, 1998, American Journal of Physics 66, 64.
effect of a group   d = (mean after − mean before) / √((s²before + s²after) / 2), with Bonett's
                    standard error for paired scores. Bonett, 2008, Psychological Methods 13, 99.
effect between two  d = (mean₁ − mean₂) / s, s pooled, with the standard error of Hedges and Olkin.
                    Hedges & Olkin, 1985, Statistical Methods for Meta-Analysis, chapter 5.

Intervals are d ± 1.96 standard errors; d is not corrected for small groups. What
cannot be computed is None: means of nobody, spreads of one, effects where all scores are equal.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist, fmean, variance

NORMAL_95 = NormalDist().inv_cdf(0.975)
Scores = Sequence[float]


@dataclass(frozen=True)
class Effect:
    """Cohen's d with the ends of its 95 % confidence interval."""

    d: float
    low: float
    high: float


def mean(scores: Scores) -> float | None:
    """Return the mean of scores."""
    return fmean(scores) if scores else None


def spread(scores: Scores) -> float | None:
    """Return the standard deviation of scores, as an estimate for those of all people."""
    return sqrt(variance(scores)) if len(scores) > 1 else None


def normalized_gain(before: float | None, after: float | None) -> float | None:
    """Return Hake's normalized gain of mean scores from 0 to 1."""
    if before is None or after is None or before >= 1:
        return None
    return (after - before) / (1 - before)


def paired_effect(before: Scores, after: Scores) -> Effect | None:
    """Return Cohen's d between two tests of the same people, in the same order."""
    if len(before) < 2:
        return None
    degrees = len(before) - 1
    first, second = variance(before), variance(after)
    average = (first + second) / 2
    if average == 0:
        return None
    d = (fmean(after) - fmean(before)) / sqrt(average)
    shared = _covariance(before, after)
    squares = first**2 + second**2 + 2 * shared**2
    error = d**2 * squares / (8 * degrees * average**2)
    error += (first + second - 2 * shared) / (degrees * average)
    return _interval(d, error)


def group_effect(scores: Scores, others: Scores) -> Effect | None:
    """Return Cohen's d between two groups of different people; positive if the first is higher."""
    n, m = len(scores), len(others)
    if n < 2 or m < 2:
        return None
    pooled = ((n - 1) * variance(scores) + (m - 1) * variance(others)) / (n + m - 2)
    if pooled == 0:
        return None
    d = (fmean(scores) - fmean(others)) / sqrt(pooled)
    return _interval(d, (n + m) / (n * m) + d**2 / (2 * (n + m)))


def _covariance(before: Scores, after: Scores) -> float:
    first, second = fmean(before), fmean(after)
    products = ((x - first) * (y - second) for x, y in zip(before, after, strict=True))
    return sum(products) / (len(before) - 1)


def _interval(d: float, error: float) -> Effect:
    half = NORMAL_95 * sqrt(max(0.0, error))
    return Effect(d, d - half, d + half)
