"""Ending a run before its end, where nobody waits for it any more.

Whoever runs a model says how it is known; the model asks between two layers. What runs on a thread
is stopped by another one: `with stoppable(event.is_set): adapter.run(…)`.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class StoppedError(Exception):
    """Nobody waits for this run any more."""


def _never() -> bool:
    return False


_stopped: ContextVar[Callable[[], bool]] = ContextVar("stopped", default=_never)


@contextmanager
def stoppable(stopped: Callable[[], bool]) -> Iterator[None]:
    """Runs of this thread end with StoppedError once `stopped` is true."""
    before = _stopped.set(stopped)
    try:
        yield
    finally:
        _stopped.reset(before)


def go_on() -> None:
    """Raises StoppedError where the run that this is a part of shall end."""
    if _stopped.get()():
        raise StoppedError
