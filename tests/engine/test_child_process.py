"""The processes of the server: what cannot be started is tried again, what ends is reported."""

import errno
import threading
from collections.abc import Callable
from multiprocessing import Pipe

import pytest

from app.engine import child_process
from app.engine.child_process import ChildProcess, Started, send
from tests.servers import PATIENCE


class Lasting:
    """A process that goes on until it is killed."""

    pid: int | None = 1

    def __init__(self, close: Callable[[], None]) -> None:
        self.kill = close

    def join(self) -> None:
        pass


class Launcher:
    """Starts processes that send their number, after some starts that fail."""

    def __init__(self, failures: int) -> None:
        self.starts, self.failures = 0, failures

    def __call__(self) -> Started:
        self.starts += 1
        if self.starts <= self.failures:
            raise OSError(errno.ENOMEM, "no memory")
        connection, theirs = Pipe()
        send(theirs, self.starts)
        return Started(connection, Lasting(theirs.close))


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_process, "START_AGAIN_SECONDS", (0.0, 0.0, 0.0))


def test_a_process_that_restarts_is_started_until_it_works_and_whenever_it_ends() -> None:
    """Fail to fork more often than there are pauses: one failed fork once ended it for good."""
    launcher, heard, changed = Launcher(failures=5), list[int](), threading.Condition()

    def received(number: int) -> None:
        with changed:
            heard.append(number)
            changed.notify_all()

    child = ChildProcess("test", launcher, received, restarts=True)
    child.open()
    for count in (1, 2, 3):
        with changed:
            while len(heard) < count:
                assert changed.wait(PATIENCE)
        if count < 3:
            child._present().process.kill()  # type: ignore[union-attr]
    child.end(None, 0)
    assert heard == [6, 7, 8]


def test_a_process_that_never_starts_is_lost_once() -> None:
    launcher, lost = Launcher(failures=100), threading.Semaphore(0)
    child = ChildProcess("test", launcher, lambda message: None, lambda: lost.release())
    child.open()
    assert lost.acquire(timeout=PATIENCE)
    child.end(None, 0)
    assert not lost.acquire(blocking=False)
    assert launcher.starts == 3
