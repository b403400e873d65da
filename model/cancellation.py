"""Stopping a run early when no one waits for it any more.

The caller provides a condition; the model checks it between two layers, on the way forward and on
the way back of gradients. A run on one thread is stopped from another:
`with stoppable(event.is_set): adapter.run(…)`. The condition may also take its time, so that short
work goes first.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from torch import Tensor


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


def go_on(x: Tensor | None = None) -> None:
    """Raise StoppedError if the current run should stop; again when a gradient arrives at `x`."""
    stopped = _stopped.get()
    if stopped():
        raise StoppedError
    if stopped is not _never and x is not None and x.requires_grad:
        # On a GPU gradients pass on a thread without this condition, which all runs share.
        x.register_hook(lambda _: go_on())  # type: ignore[no-untyped-call]
