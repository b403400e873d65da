"""Models in processes of their own: sockets and models share no interpreter lock.

A process that ends unasked is started again. What it was running raises CrashedError, and the
engine gives it to another, or to the new one.
"""

import asyncio
import contextlib
import itertools
import logging
import pickle
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from typing import Any

from app.engine.engine_process import (
    Ended,
    Failed,
    Forget,
    Opened,
    Run,
    Stop,
    encode,
)
from app.engine.launch import Launched, launch
from app.engine.model_listing import Listing
from app.engine.runners import CrashedError, Runner, Runners, Turn
from app.engine.worker import Outcome, Work

END_SECONDS = 5  # for a process that is told to end
AGAIN_SECONDS = (0.0, 0.5, 2.0, 10.0)  # before it is started again, if it never was ready since

log = logging.getLogger(__name__)


class Process(Runner):
    """Runs work in a process of its own."""

    def __init__(self, launched: Launched) -> None:
        """Takes a process that has been started; `wait` until it is open."""
        self._take(launched)
        self.ready = False
        self._closing = False
        self._failures = 0
        self._numbers = itertools.count()
        self._running: dict[int, asyncio.Future[list[Outcome]]] = {}
        self._changed: Callable[[], None] = lambda: None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._sending = ThreadPoolExecutor(1, thread_name_prefix="to-engine")

    def wait(self) -> Listing:
        """Blocks until the models are open; RuntimeError with the process's words where not."""
        try:
            message = pickle.loads(self._connection.recv_bytes())
        except (EOFError, OSError):
            message = Failed("its process ended")
        if isinstance(message, Failed):
            raise RuntimeError(message.why)
        assert isinstance(message, Opened)
        self.ready = True
        return message.listing

    @property
    def pid(self) -> int | None:
        """Of the process that runs now."""
        return self._process.pid

    def open(self, changed: Callable[[], None]) -> None:
        """Begins to read what the process says."""
        self._changed, self._loop = changed, asyncio.get_running_loop()
        self._read()

    def start(self, work: Work, urgent: bool = False) -> Turn:
        """Sends it there."""
        number = next(self._numbers)
        done = self._running[number] = asyncio.get_running_loop().create_future()
        self._send(Run(number, work, urgent))
        return Turn(done, lambda: self._send(Stop(number)) if not done.done() else None)

    def forget(self, stream: int) -> None:
        """Tells it so."""
        self._send(Forget(stream))

    async def close(self) -> None:
        """Ends the process, by force if it does not within some seconds."""
        await asyncio.to_thread(self.end)

    def end(self) -> None:
        """The same, without an event loop. Blocks."""
        self._closing, self.ready = True, False
        self._send(None)
        self._sending.shutdown()
        self._process.join(END_SECONDS)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()

    def _take(self, launched: Launched) -> None:
        self._opening = launched.opening
        self._connection = launched.connection
        self._process = launched.process

    def _send(self, message: Any) -> None:
        """Off the loop: it waits where the process does not read."""

        def send(connection: Connection, content: bytes) -> None:
            with contextlib.suppress(OSError):  # that it is gone is seen where it is read
                connection.send_bytes(content)

        with contextlib.suppress(RuntimeError):  # it was told to end already
            self._sending.submit(send, self._connection, encode(message))

    def _read(self) -> None:
        reading = threading.Thread(
            target=self._reading, args=(self._connection,), name="from-engine", daemon=True
        )
        reading.start()

    def _reading(self, connection: Connection) -> None:
        with contextlib.suppress(EOFError, OSError):
            while True:
                self._tell(self._received, pickle.loads(connection.recv_bytes()))
        connection.close()
        self._tell(self._lost)

    def _tell(self, what: Callable[..., object], *arguments: object) -> None:
        assert self._loop is not None
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(what, *arguments)

    def _received(self, message: Any) -> None:
        match message:
            case Opened():
                self.ready, self._failures = True, 0
                self._changed()
            case Ended(number, outcomes):
                done = self._running.pop(number)
                if not done.done():
                    done.set_result(outcomes)
            case Failed(why):
                log.error("an engine cannot open its models: %s", why)

    def _lost(self) -> None:
        """The process has ended."""
        self.ready = False
        running, self._running = self._running, {}
        for done in running.values():
            if not done.done():
                done.set_exception(CrashedError())
        if not self._closing:
            log.error("an engine's process ended; it is started again")
            self._again = asyncio.ensure_future(self._restart())

    async def _restart(self) -> None:
        seconds = AGAIN_SECONDS[min(self._failures, len(AGAIN_SECONDS) - 1)]
        self._failures += 1
        await asyncio.sleep(seconds)
        if not self._closing:
            self._take(await asyncio.to_thread(launch, self._opening))
            self._read()


def in_processes(launched: Sequence[Launched]) -> Runners:
    """Waits until all are open; RuntimeError, and all are ended, where models cannot be opened."""
    processes = [Process(one) for one in launched]
    try:
        listing, *_ = [process.wait() for process in processes]
    except BaseException:
        for process in processes:
            process.end()
        raise
    return Runners(listing, processes)
