"""An engine process: it opens the models, describes them, and runs the work it is sent.

It keeps memory that was freed, for the next request. Weights, q, k and v of a pass take many
megabytes for a moment. By default, glibc returns them to the system at once, and each request waits
for the system to clear new pages: in a virtual machine, a third of a pass over 1,024 tokens.

It opens the models itself (`main`), or is a copy of a process that has (`fork_engines`).

The process receives `Run`, `Stop`, `Forget`, and None to exit. It sends `Opened` or `Failed` first,
then for each `Run` any number of `Advanced` and one `Ended`.
"""

import contextlib
import ctypes
import gc
import logging
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.reduction import recv_handle
from typing import Any

from app.engine.child_process import Opening, encode, receive, send
from app.engine.model_catalog import Catalog
from app.engine.model_listing import Listing
from app.engine.model_thread import Outcome, Work, Worker
from model.errors import FileError, InputError
from model.progress import Progress, StoppedError

TOP_PAD, TRIM_THRESHOLD, MMAP_THRESHOLD, ARENA_MAX = -2, -1, -3, -8  # malloc.h
LARGEST = 32 << 20  # bytes of a block for which the heap grows; the most that glibc takes
MOST = (1 << 31) - 1  # bytes; glibc takes an int
POINTER = ctypes.c_void_p


def keep_freed(count: int) -> bool:
    """Keep up to `count` bytes of freed memory in this process, in one heap for all threads.

    The heap grows by as many addresses at a time, so that blocks of any size fit in; those that
    are not used take no memory. Only glibc can; returns whether it does.
    """
    try:
        libc = ctypes.CDLL(None)
        mallopt, malloc, free = libc.mallopt, libc.malloc, libc.free
    except (AttributeError, OSError, TypeError):  # musl, macOS; Windows
        return False
    kept_bytes = min(count, MOST)
    options = (
        (ARENA_MAX, 1),
        (MMAP_THRESHOLD, LARGEST),
        (TRIM_THRESHOLD, kept_bytes),
        (TOP_PAD, kept_bytes),
    )
    if kept_bytes == 0 or not all(mallopt(*option) for option in options):
        return False
    malloc.restype, malloc.argtypes, free.argtypes = POINTER, [ctypes.c_size_t], [POINTER]
    free(malloc(LARGEST // 2))  # the heap grows now; a larger block would not make it grow
    return True


log = logging.getLogger(__name__)

TOLD = (InputError, FileError, StoppedError)  # errors that are sent unchanged


class EngineError(Exception):
    """An error in the engine process, where it was logged."""


@dataclass(frozen=True)
class Opened:
    """The models are open."""

    listing: Listing


@dataclass(frozen=True)
class Failed:
    """The models cannot be opened."""

    why: str


@dataclass(frozen=True)
class Run:
    """Work, with a number."""

    number: int
    work: Work
    urgent: bool


@dataclass(frozen=True)
class Stop:
    """No one waits for the work with this number any more."""

    number: int


@dataclass(frozen=True)
class Forget:
    """No one reads this stream any more."""

    stream: int


@dataclass(frozen=True)
class Advanced:
    """The progress of the work with this number."""

    number: int
    progress: Progress


@dataclass(frozen=True)
class Ended:
    """The outcomes of the work with this number."""

    number: int
    outcomes: list[Outcome]


def main(connection: Connection, opening: Opening) -> None:
    """Serve until asked to exit, or until the parent process is gone."""
    prepare(opening)
    try:
        catalog = opened(opening, opening.threads)
    except Exception as error:  # a broken bundle or device: its message is enough
        send(connection, Failed(_message(error)))
        return
    _Server(connection, catalog).serve()
    os._exit(0)  # without waiting for running work: no one reads it


def fork_engines(control: Connection, opening: Opening) -> None:
    """Open the models once, and fork an engine for each connection that is handed over.

    Sends None when the models are open, or the reason that they are not. An engine sends its
    process id first. Ends after a message, or without the server, once its engines have ended.
    """
    prepare(opening)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # it would start threads when a model opens
    try:
        catalog = opened(opening, 1)  # with more, PyTorch would start threads, which no copy has
    except Exception as error:
        send(control, _message(error))
        return
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # engines that have ended leave nothing behind
    gc.collect()
    gc.freeze()  # so that no collection in an engine copies the pages of the models' objects
    send(control, None)
    while True:
        try:
            handed = recv_handle(control)
        except (EOFError, OSError, RuntimeError):  # the server is gone, or sent a message: to end
            with contextlib.suppress(ChildProcessError):
                os.wait()  # until there is no engine, so that none is left as a zombie
            os._exit(0)
        with Connection(handed) as connection:  # closed if there is no process for it
            try:
                forked = os.fork()
            except OSError as error:
                log.error("an engine cannot be forked: %s", error.strerror)
                continue
            if forked == 0:
                _become_engine(control, connection, opening, catalog)


def _become_engine(
    control: Connection, connection: Connection, opening: Opening, catalog: Catalog
) -> None:
    """Serve as the copy of a process that has opened the models; does not return."""
    try:
        control.close()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        _use_threads(opening.threads)
        send(connection, os.getpid())
        _Server(connection, catalog).serve()
    except Exception:
        log.exception("an engine process failed")
    finally:
        os._exit(0)


def prepare(opening: Opening) -> None:
    """Set up signals, memory and logging of a process."""
    for ignored in (signal.SIGINT, signal.SIGTERM):  # the server gets them and ends this process
        signal.signal(ignored, signal.SIG_IGN)
    keep_freed(opening.free_bytes)
    opening.prepare()


def opened(opening: Opening, threads: int) -> Catalog:
    """Load the models, on so many threads and the device of the opening. Blocks."""
    import torch

    _use_threads(threads)
    if opening.device is not None:
        torch.cuda.set_device(opening.device)
    return opening.catalog()


def _use_threads(count: int) -> None:
    import torch

    torch.set_num_threads(count)


def _message(error: Exception) -> str:
    return str(error) or type(error).__name__


class _Server:
    """Reads messages on this thread and runs the work on others."""

    def __init__(self, connection: Connection, catalog: Catalog) -> None:
        self.connection = connection
        self.worker = Worker(catalog)
        self.threads = ThreadPoolExecutor(catalog.listing.at_once + 1)
        self.running: dict[int, threading.Event] = {}
        self.writing = threading.Lock()
        self._send(Opened(catalog.listing))

    def serve(self) -> None:
        """Run until asked to exit, or until the connection closes."""
        while True:
            try:
                message = receive(self.connection)
            except (EOFError, OSError):
                return
            match message:
                case Run(number):
                    self.running[number] = threading.Event()
                    self.threads.submit(self._run, message)
                case Stop(number):
                    if number in self.running:
                        self.running[number].set()
                case Forget(stream):
                    self.worker.forget(stream)
                case _:
                    return

    def _run(self, turn: Run) -> None:
        """Run work and send its outcomes; without them, end this process, which is restarted."""
        try:
            self._run_and_send(turn)
        except BaseException:  # also what is no `Exception`, or the server would wait for ever
            log.exception("an engine process failed")
            os._exit(1)

    def _run_and_send(self, turn: Run) -> None:
        stopped = self.running[turn.number].is_set

        def tell(progress: Progress) -> None:
            self._send(Advanced(turn.number, progress))

        results = self.worker.run(turn.work, stopped, turn.urgent, tell)
        outcomes = [plain(result) for result in results]
        del self.running[turn.number]
        try:
            self._send(Ended(turn.number, outcomes))
        except Exception:  # an outcome cannot be pickled; nothing was sent
            self._send(Ended(turn.number, [sendable(outcome) for outcome in outcomes]))

    def _send(self, message: Any) -> None:
        with self.writing:
            try:
                send(self.connection, message)
            except OSError:
                os._exit(0)  # no one reads any more


def plain(outcome: Outcome) -> Outcome:
    """Return an outcome that can be sent; errors not in `TOLD` are logged and replaced."""
    if outcome.error is None or isinstance(outcome.error, TOLD):
        return outcome
    log.error("work failed", exc_info=outcome.error)
    return Outcome(error=EngineError(type(outcome.error).__name__))


def sendable(outcome: Outcome) -> Outcome:
    """Return an outcome, or the error why it cannot be pickled."""
    try:
        encode(outcome)
    except Exception as error:
        return plain(Outcome(error=error))
    return outcome
