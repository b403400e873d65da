"""How the processor time of a function of a text grows with the text, and texts made to hurt."""

import math
import re
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import product
from typing import Any

from re import _parser as parser  # isort: skip

Case = tuple[str, Callable[[str], object], Callable[[int], str]]  # name, function, text of a size

SMALL, TIMES = 1_000, 4
FLOOR = 2e-3  # seconds of processor time below which no growth is measured
MOST = 8.0  # times the time for four times the text: 4 if it is linear, 16 if it is quadratic
ATOMS = 6  # characters of a pattern that are combined
SECONDS = 2.0  # of processor time for a case; a linear one takes milliseconds, garbage a second


def texts_against(pattern: str, flags: int = 0) -> Iterator[Callable[[int], str]]:
    """Yield texts made to hurt a pattern: its characters and beginnings, repeated, and a misfit."""
    tree = parser.parse(pattern, flags)
    atoms = list(dict.fromkeys(_atoms(tree)))[:ATOMS]
    units = {"".join(some) for size in (1, 2) for some in product(atoms, repeat=size)}
    ends = [end for end in range(1, len(tree) + 1) if str(tree[end - 1][0]) != "LITERAL"]
    starts = {_sample(tree[:end], count) for end in (*ends, len(tree)) for count in (1, 2)}
    for unit in sorted(units | starts - {""}):
        for end in ("", "\0"):
            yield lambda size, unit=unit, end=end: (unit * size)[:size] + end  # type: ignore[misc]
    for start, unit in product(sorted(starts), atoms):
        yield lambda size, start=start, unit=unit: start + unit * size + "\0"  # type: ignore[misc]


def _atoms(tree: Iterable[Any]) -> Iterator[str]:
    """Yield a character for each literal and each set of a parsed pattern."""
    for kind, value in tree:
        match str(kind), value:
            case (("LITERAL" | "NOT_LITERAL" | "IN" | "ANY" | "CATEGORY" | "RANGE"), _):
                yield _character(str(kind), value)
            case _:
                for part in _parts(value):
                    yield from _atoms(part)


def _parts(value: Any) -> Iterator[Any]:
    for one in value if isinstance(value, list | tuple) else [value]:
        if isinstance(one, parser.SubPattern):
            yield one
        elif isinstance(one, list | tuple):
            yield from _parts(one)


SAMPLES = {
    "CATEGORY_DIGIT": "1",
    "CATEGORY_NOT_DIGIT": "a",
    "CATEGORY_SPACE": " ",
    "CATEGORY_NOT_SPACE": "a",
    "CATEGORY_WORD": "A",
    "CATEGORY_NOT_WORD": "-",
}


def _character(kind: str, value: Any) -> str:
    match kind:
        case "LITERAL":
            return chr(value)
        case "RANGE":
            return chr(value[0])
        case "CATEGORY":
            return SAMPLES[str(value)]
        case "IN" if str(value[0][0]) != "NEGATE":
            return _character(str(value[0][0]), value[0][1])
    return "y"  # a negated set, or any character


def _sample(tree: Iterable[Any], count: int) -> str:
    """Return a text that a parsed pattern begins with; repeats are made `count` times."""
    made = ""
    for kind, value in tree:
        match str(kind):
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                made += _sample(value[2], count) * max(value[0], min(count, int(value[1])))
            case "SUBPATTERN":
                made += _sample(value[3], count)
            case "BRANCH":
                made += _sample(value[1][0], count)
            case "LITERAL" | "NOT_LITERAL" | "IN" | "ANY":
                made += _character(str(kind), value)
    return made


def seconds(work: Callable[[], object], tries: int) -> float:
    """Return the least processor time of some tries."""
    best = math.inf
    for _ in range(tries):
        started = time.thread_time()
        work()
        best = min(best, time.thread_time() - started)
        if best < FLOOR:
            break
    return best


def growth(function: Callable[[str], object], text: Callable[[int], str]) -> float:
    """Return how many times longer four times the text takes; 0 if neither takes long."""
    small, large = text(SMALL), text(TIMES * SMALL)
    found = 0.0
    for tries in (1, 5):  # most cases need no second look
        after = seconds(lambda: function(large), tries)
        if after < FLOOR * TIMES:
            return 0.0
        found = after / max(seconds(lambda: function(small), tries), FLOOR / TIMES)
        if found <= MOST:
            break
    return found


def worse_than_linear(cases: Iterable[Case]) -> list[str]:
    """Return the names of the cases that are not linear, each with the text that shows it."""
    found: dict[str, str] = {}
    for name, function, text in cases:
        if name in found:
            continue
        try:
            with limited(SECONDS):
                times = growth(function, text)
        except TimeoutError:
            times = math.inf
        if times > MOST:
            found[name] = f"{name}: {text(12)!r}, {times:.1f} times as long"
    return list(found.values())


@contextmanager
def limited(most: float) -> Iterator[None]:
    """Raise TimeoutError after some seconds of processor time, also within a search of `re`."""

    def end(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, most)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def uses(pattern: "re.Pattern[str]", method: str) -> Callable[[str], object]:
    """Return a function of a text that uses a pattern by one of its methods."""
    if method == "sub":
        return lambda text: pattern.sub("", text)
    if method == "finditer":
        return lambda text: list(pattern.finditer(text))
    return getattr(pattern, method)  # type: ignore[no-any-return]
