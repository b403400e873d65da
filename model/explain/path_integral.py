"""Integrals over [0, 1] of slopes, with intervals halved where they miss a known sum.

For rows t and terms s, slopes g_ts are to be integrated whose sum over s is the derivative of a
function f_t, which is known as well. In an interval from a to b, Simpson's rule gives

    I_ts = (b − a) / 6 · (g_ts(a) + 4 g_ts(m) + g_ts(b)),     m its middle,

and |Σ_s I_ts − (f_t(b) − f_t(a))| is the error of its sum, without any estimate. The intervals with
the largest errors are halved until the errors of all intervals together are within the tolerance
of each row, or there are as many points as are allowed. An interval in which f jumps stays wrong
however often it is halved; slopes at a jump are no measure of it, so they count for nothing there.

Shapes: N points, T rows, S terms. All in float64.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

FIRST = 4  # intervals at the beginning
LOST = 500  # times the allowed error: slopes that are no measure of the function
SMALLEST = 2**-9  # length of an interval that is not halved


@dataclass(frozen=True, eq=False)
class Point:
    """The values of the functions f (T,) and their slopes (T, S) at one point."""

    value: Tensor
    slopes: Tensor


Evaluate = Callable[[Sequence[float]], Sequence[Point]]


@dataclass(frozen=True, eq=False)
class Interval:
    """An interval with the points at its ends and in its middle."""

    start: float
    end: float
    points: tuple[Point, Point, Point]

    @property
    def middle(self) -> float:
        """The place of its middle."""
        return (self.start + self.end) / 2

    def rule(self, allowed: Tensor) -> tuple[Tensor, Tensor]:
        """Return the integral (T, S), and by how much its sum misses the difference of f (T,).

        A row that misses it by `LOST` times what is `allowed` is 0.
        """
        first, middle, last = self.points
        sixth = (self.end - self.start) / 6
        integral = sixth * (first.slopes + 4 * middle.slopes + last.slopes)
        difference = last.value - first.value
        error = (integral.sum(dim=-1) - difference).abs()
        fits = error <= LOST * allowed  # false for NaN as well
        return integral.where(fits[:, None], 0), error.where(fits, difference.abs())

    def halves(self, quarters: Sequence[Point]) -> list[Interval]:
        """Return its halves, given the points in their middles."""
        first, middle, last = self.points
        left, right = quarters
        return [
            Interval(self.start, self.middle, (first, left, middle)),
            Interval(self.middle, self.end, (middle, right, last)),
        ]


def integrate(
    evaluate: Evaluate, most: int, tolerance: Callable[[Tensor], Tensor]
) -> tuple[Tensor, Tensor]:
    """Return the integrals (T, S) and the differences f(1) − f(0) (T,).

    `evaluate` returns the points at some places; at most `most` are asked for. `tolerance` returns
    the error that each row may have, given the differences.
    """
    grid = [place / (2 * FIRST) for place in range(2 * FIRST + 1)]
    points = evaluate(grid)
    intervals = [
        Interval(grid[at], grid[at + 2], (points[at], points[at + 1], points[at + 2]))
        for at in range(0, 2 * FIRST, 2)
    ]
    change = points[-1].value - points[0].value
    allowed = tolerance(change)
    used = len(grid)
    while chosen := _worst(intervals, allowed, (most - used) // 2):
        ends = [pair for one in chosen for pair in ((one.start, one.middle), (one.middle, one.end))]
        places = [(start + end) / 2 for start, end in ends]
        found = evaluate(places)
        used += len(places)
        halved = [
            half for at, one in enumerate(chosen) for half in one.halves(found[2 * at : 2 * at + 2])
        ]
        kept = set(map(id, chosen))
        intervals = [*(one for one in intervals if id(one) not in kept), *halved]
    return torch.stack([one.rule(allowed)[0] for one in intervals]).sum(dim=0), change


def _worst(intervals: Sequence[Interval], allowed: Tensor, most: int) -> list[Interval]:
    """Return the intervals to halve: those that together have half of the largest error.

    None if the errors of all rows are within what is allowed, `most` is 0, or all are too short.
    """
    errors = torch.stack([one.rule(allowed)[1] for one in intervals]) / allowed  # (intervals, T)
    totals = errors.sum(dim=0)
    if most < 1 or not bool((totals > 1).any()):
        return []
    row = int(totals.argmax())
    order = errors[:, row].argsort(descending=True).tolist()
    large = [at for at in order if intervals[at].end - intervals[at].start > SMALLEST]
    reached, chosen = 0.0, list[Interval]()
    for at in large[:most]:
        if reached >= float(totals[row]) / 2:
            break
        chosen.append(intervals[at])
        reached += float(errors[at, row])
    return chosen
