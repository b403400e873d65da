"""Timing two ways of doing the same thing in turns, so that load affects both equally."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

Work = Callable[[], object]


@dataclass(frozen=True)
class Case:
    """Two ways to do one thing; the first is the one that is expected to take longer."""

    name: str
    slow: Work
    fast: Work


@dataclass(frozen=True)
class Ratio:
    """How long two ways take (seconds, medians) and how many times the first is as long."""

    first: float
    second: float
    ratio: float  # first / second, the median over rounds
    low: float  # its quartiles
    high: float


def compare(first: Work, second: Work, seconds: float) -> Ratio:
    """Runs both in turns for about `seconds`, at least five rounds, after one to warm up.

    Every round gives a ratio of its own: a slow minute of a shared machine slows both halves.
    """
    first(), second()
    rounds: list[tuple[float, float]] = []
    end = time.perf_counter() + seconds
    while len(rounds) < 5 or time.perf_counter() < end:
        # The one that goes first changes, so that neither always finds the other's caches.
        if len(rounds) % 2:
            after, before = timed(second), timed(first)
            rounds.append((before, after))
        else:
            rounds.append((timed(first), timed(second)))
    low, middle, high = statistics.quantiles([a / b for a, b in rounds], n=4)
    firsts, seconds_ = zip(*rounds, strict=True)
    return Ratio(statistics.median(firsts), statistics.median(seconds_), middle, low, high)


def timed(work: Work) -> float:
    """Seconds that one run takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
