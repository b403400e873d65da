"""Times two ways of doing the same thing in turns, so that load affects both equally."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

Work = Callable[[], object]


@dataclass(frozen=True)
class Case:
    """Two ways to do one thing; the first is expected to take longer."""

    name: str
    slow: Work
    fast: Work


@dataclass(frozen=True)
class Ratio:
    """The median times of two ways (seconds), and the ratio of the first to the second."""

    first: float
    second: float
    ratio: float  # median over rounds of first / second
    low: float  # lower quartile of the ratio
    high: float


def compare(first: Work, second: Work, seconds: float) -> Ratio:
    """Run both in turns for about `seconds`, at least five rounds, after one to warm up.

    The ratio is computed per round, so that a busy period of the machine affects both ways.
    """
    first(), second()
    rounds: list[tuple[float, float]] = []
    end = time.perf_counter() + seconds
    while len(rounds) < 5 or time.perf_counter() < end:
        # The order alternates, so that neither always finds the other's data in the cache.
        if len(rounds) % 2:
            after, before = timed(second), timed(first)
            rounds.append((before, after))
        else:
            rounds.append((timed(first), timed(second)))
    low, middle, high = statistics.quantiles([a / b for a, b in rounds], n=4)
    firsts, seconds_ = zip(*rounds, strict=True)
    return Ratio(statistics.median(firsts), statistics.median(seconds_), middle, low, high)


def timed(work: Work) -> float:
    """Return the seconds that one run takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
