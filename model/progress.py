"""Progress of a long run, reported to the caller.

The caller provides a listener: `with reporting(listener): adapter.long(…)`. It is called on the
thread that runs.
"""

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal

Phase = Literal["pass", "pictures"]


@dataclass(frozen=True)
class Progress:
    """How far a phase of a run is; `of` is 0 if its length is unknown."""

    phase: Phase
    done: int = 0
    of: int = 0


Listener = Callable[[Progress], None]


def ignore(progress: Progress) -> None:
    """Do nothing."""


_listener: ContextVar[Listener] = ContextVar("listener", default=ignore)


@contextmanager
def reporting(listener: Listener) -> Iterator[None]:
    """Call `listener` with the progress of runs on this thread."""
    before = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(before)


def report(phase: Phase, done: int, of: int) -> None:
    """Report the progress of the current run."""
    _listener.get()(Progress(phase, done, of))


class Layers:
    """The layers of a pass, reported as they begin."""

    def __init__(self, of: int) -> None:
        self._of = of
        self._begun: set[Hashable] = set()

    def begin(self, layer: Hashable) -> None:
        """Report that the layers before this one are done, unless it has begun already."""
        if layer not in self._begun:
            report("pass", len(self._begun), self._of)
            self._begun.add(layer)
