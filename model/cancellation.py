"""Stopping a run early when no one waits for it any more.

The caller provides a condition; the model checks it between two layers. A run on one thread
is stopped from another: `with stoppable(event.is_set): adapter.run(…)`.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class StoppedError(Exception):
    """The run was stopped because no one waits for it any more."""


def _never() -> bool:
    return False


_stopped: ContextVar[Callable[[], bool]] = ContextVar("stopped", default=_never)


@contextmanager
def stoppable(stopped: Callable[[], bool]) -> Iterator[None]:
    """Make runs on this thread raise StoppedError once `stopped` returns true."""
    before = _stopped.set(stopped)
    try:
        yield
    finally:
        _stopped.reset(before)


def go_on() -> None:
    """Raise StoppedError if the current run should stop."""
    if _stopped.get()():
        raise StoppedError
