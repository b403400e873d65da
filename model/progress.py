"""Progress of a run, reported to the caller, and stopping it early when no one waits any more.

The caller provides a listener: `with reporting(listener): adapter.long(…)`. It is called on the
thread that runs.

Or it provides a condition; the model checks it between two layers, on the way forward and on the
way back of gradients. A run on one thread is stopped from another:
`with stoppable(event.is_set): adapter.run(…)`. The condition may also take its time, so that short
work goes first.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal, TypeVar

from torch import Tensor

T = TypeVar("T")


@contextmanager
def during(variable: ContextVar[T], value: T) -> Iterator[None]:
    """Give a variable of this thread a value until the block ends."""
    before = variable.set(value)
    try:
        yield
    finally:
        variable.reset(before)


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


def reporting(listener: Listener) -> AbstractContextManager[None]:
    """Call `listener` with the progress of runs on this thread."""
    return during(_listener, listener)


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


class StoppedError(Exception):
    """The run was stopped because no one waits for it any more."""


def _never() -> bool:
    return False


_stopped: ContextVar[Callable[[], bool]] = ContextVar("stopped", default=_never)


def stoppable(stopped: Callable[[], bool]) -> AbstractContextManager[None]:
    """Make runs on this thread raise StoppedError once `stopped` returns true."""
    return during(_stopped, stopped)


def go_on(x: Tensor | None = None) -> None:
    """Raise StoppedError if the current run should stop; again when a gradient arrives at `x`."""
    stopped = _stopped.get()
    if stopped():
        raise StoppedError
    if stopped is not _never and x is not None and x.requires_grad:
        # On a GPU gradients pass on a thread without this condition, which all runs share.
        x.register_hook(lambda _: go_on())  # type: ignore[no-untyped-call]
