"""Starts processes. Imports nothing slow, so that it can run first.

If the system can fork, processes are forked from one that has imported PyTorch. On Linux without a
GPU, engines are forked from a template: a process that has opened the models. Their weights are
then in memory once for all engines, and an engine that crashed is replaced without opening them.
CUDA does not outlive a fork, so with GPUs each engine opens the models itself.

A fork copies only the thread that calls it: a lock that another one holds stays locked in the copy,
and a pool has no threads there. The template has no other threads. It opens the models with one, so
that PyTorch has started none; CTranslate2 (`FastDrafter`) and OpenBLAS, of NumPy, end theirs before
a fork, and tokenizers start none there. An engine sets how many it uses when it has been forked.
"""

import multiprocessing
import os
import select
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.reduction import send_handle
from typing import Protocol

from app.engine.child_process import ChildProcess, Opening, Started, receive

# Imported before the fork. None of them may start a thread: a forked process would not have it.
PRELOADED = [f"{__package__}.engine_process", "ctranslate2"]


class Launcher(Protocol):
    """Starts an engine as often as it is called for; the first one may have been started before."""

    def start(self) -> Started:
        """Start an engine. Blocks; raises OSError if none can be started now."""

    def close(self) -> None:
        """End what was started beside the engines."""


def launch(openings: Sequence[Opening]) -> list[Launcher]:
    """Begin to open the models for one engine per opening, without waiting for them."""
    if openings and _can_copy() and all(opening.device is None for opening in openings):
        template = Template(openings[0])
        return [template for _ in openings]
    return [Separate(opening) for opening in openings]


def _can_copy() -> bool:
    """Return whether a process that is not a child can be waited for: since Linux 5.3."""
    if sys.platform != "linux" or not hasattr(os, "pidfd_open"):  # it is missing in some builds
        return False
    try:
        os.close(os.pidfd_open(os.getpid()))
    except OSError:
        return False
    return True


class Separate:
    """Starts engines that open the models themselves; the first one at once."""

    def __init__(self, opening: Opening) -> None:
        self._opening = opening
        self._first: Started | None = self._start()

    def start(self) -> Started:
        """Return the first engine, then new ones."""
        first, self._first = self._first, None
        return first or self._start()

    def close(self) -> None:
        """Kill an engine that nobody has taken."""
        if self._first:
            self._first.process.kill()

    def _start(self) -> Started:
        return start("engine", _engine, self._opening)


class Template:
    """The process that has opened the models, and of which engines are copies.

    It is started again if it ends, which does not disturb the engines.
    """

    def __init__(self, opening: Opening) -> None:
        self._changed = threading.Condition()
        self._why: str | None = None  # it cannot open the models
        self._ready = False
        self._child = ChildProcess(
            "models",
            lambda: start("models", _template, opening),
            self._told,
            self._lost,
            restarts=True,
        )
        self._child.open()

    @property
    def pid(self) -> int | None:
        """Its process id."""
        return self._child.pid

    def start(self) -> Started:
        """Fork an engine, once the models are open. Blocks; raises OSError."""
        with self._changed:
            self._changed.wait_for(lambda: self._ready or self._why or self._child.ending)
            if not self._ready:
                raise OSError(self._why or "the server is ending")
            return self._fork()

    def close(self) -> None:
        """Fork no more; the process ends after its engines, or now if it has none."""
        self._child.ask_to_end(None)
        with self._changed:
            if not self._ready:
                self._child.kill()
            self._changed.notify_all()

    def _fork(self) -> Started:
        connection, theirs = multiprocessing.Pipe()
        with theirs:
            self._child.hand(lambda control: send_handle(control, theirs.fileno(), 0))
        try:
            return Started(connection, Copy(receive(connection)))
        except BaseException:  # it could not fork, or has ended
            connection.close()
            raise

    def _told(self, why: str | None) -> None:
        """Learn that the models are open, or why they cannot be opened."""
        with self._changed:
            self._ready, self._why = why is None, why
            if self._ready:
                self._child.is_well()
            self._changed.notify_all()

    def _lost(self) -> None:
        with self._changed:
            self._ready = False


class Copy:
    """A process that is not a child of this one."""

    def __init__(self, pid: int) -> None:
        """Take a process that runs. Raises ProcessLookupError if it does not any more."""
        self.pid: int | None = pid
        self._file = os.pidfd_open(pid)

    def __del__(self) -> None:
        with suppress(AttributeError):
            os.close(self._file)

    def join(self) -> None:
        """Wait until it has exited."""
        exits = select.poll()  # `select.select` takes no file above 1,023
        exits.register(self._file, select.POLLIN)
        exits.poll()

    def kill(self) -> None:
        """Kill it; does nothing if it has exited."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._file, signal.SIGKILL)


def start(name: str, target: Callable[..., object], *arguments: object) -> Started:
    """Start a process that calls `target(connection, *arguments)`. Raises OSError."""
    forks = "forkserver" in multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if forks else "spawn")
    if forks:
        context.set_forkserver_preload(PRELOADED)
    connection, theirs = context.Pipe()
    with theirs:  # closed here, so that the end of the process is noticed
        process = context.Process(  # type: ignore[attr-defined]
            target=target, args=(theirs, *arguments), name=name, daemon=True
        )
        process.start()
    return Started(connection, process)


def _engine(connection: object, opening: Opening) -> None:
    from app.engine.engine_process import main  # imports PyTorch; the caller may not have it yet

    main(connection, opening)  # type: ignore[arg-type]


def _template(connection: object, opening: Opening) -> None:
    from app.engine.engine_process import fork_engines

    fork_engines(connection, opening)  # type: ignore[arg-type]
