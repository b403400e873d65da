"""A process of the server: started, listened to, started again if it should be, and ended.

Engines, training runs and the indexing of texts use the same class. One thread per process starts
it and reads its messages; the end of the pipe, which the system closes with the process, tells at
once that it has ended.

A message is one pickle, then its large buffers: a reply's numbers are sent from where they are, not
copied into the pickle first. The arguments of an engine's process are here too. Imports nothing
slow (see `app.engine.start_processes`).
"""

from __future__ import annotations

import asyncio
import logging
import pickle
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from app.engine.model_catalog import Catalog


@dataclass(frozen=True)
class Opening:
    """The arguments of an engine process; they can be pickled."""

    catalog: Callable[[], Catalog]
    prepare: Callable[[], object]  # called first; sets up logging
    threads: int  # of PyTorch
    device: int | None = None  # index of the GPU; None: as in the catalog
    free_bytes: int = 0  # that the process keeps (see `app.engine.engine_process`)


@dataclass(frozen=True)
class LoadCatalog:
    """The arguments of `Catalog.load`; calling it loads the catalog in the calling process."""

    bundles: Mapping[str, str]
    device: str
    max_models: int
    drafts: Path | None
    zoo: Mapping[str, str] = field(default_factory=dict)
    kept: Path | None = None  # a folder in which models appear later
    max_pass_bytes: int = 1_000_000_000
    pass_precision: Literal["int16", "float32"] = "int16"
    dtype: str | None = None
    download: bool = False

    def __call__(self) -> Catalog:
        """Load the catalog. Raises what `Catalog.load` raises."""
        from app.engine.long_text_pictures import Passes
        from app.engine.model_catalog import Catalog

        return Catalog.load(
            self.bundles,
            self.device,
            self.max_models,
            self.drafts,
            self.zoo,
            self.kept,
            Passes(self.max_pass_bytes, self.pass_precision),
            self.dtype,
            self.download,
        )


COUNT = 4  # bytes at the start of a message, with the number of buffers that follow it


def encode(message: Any) -> bytes:
    """Encode a message as bytes, including its buffers."""
    return pickle.dumps(message, pickle.HIGHEST_PROTOCOL)


def send(connection: Connection, message: Any) -> None:
    """Send a message. Blocks while the other side does not read."""
    buffers: list[pickle.PickleBuffer] = []
    content = pickle.dumps(message, pickle.HIGHEST_PROTOCOL, buffer_callback=buffers.append)
    connection.send_bytes(len(buffers).to_bytes(COUNT, "little") + content)
    for buffer in buffers:
        connection.send_bytes(buffer.raw())


def receive(connection: Connection) -> Any:
    """Return the next message. Blocks; raises EOFError or OSError if the connection is closed."""
    content = connection.recv_bytes()
    count = int.from_bytes(content[:COUNT], "little")
    buffers = [connection.recv_bytes() for _ in range(count)]
    return pickle.loads(memoryview(content)[COUNT:], buffers=buffers)


START_AGAIN_SECONDS = (0.0, 0.1, 0.5, 2.0, 10.0)  # before each attempt; then the last for ever

log = logging.getLogger(__name__)


class Killable(Protocol):
    """The part of `multiprocessing.Process` that is used of a started process."""

    @property
    def pid(self) -> int | None:
        """Process id."""

    def join(self) -> None:
        """Wait until it has exited."""

    def kill(self) -> None:
        """Kill it; does nothing if it has exited."""


@dataclass(frozen=True)
class Started:
    """A started process, and this end of the pipe to it."""

    connection: Connection
    process: Killable


class ChildProcess:
    """Starts a process by `start` and passes its messages to `received`.

    A start that fails is tried again: for ever if the process `restarts` whenever it ends, else
    until `START_AGAIN_SECONDS` are used up. `lost` is called each time that the process has ended,
    or could not be started; what is sent before that call is for the old process, and what is sent
    after it for the new one.
    """

    def __init__(
        self,
        name: str,
        start: Callable[[], Started],
        received: Callable[[Any], object],
        lost: Callable[[], object] = lambda: None,
        *,
        restarts: bool = False,
    ) -> None:
        self.name = name
        self._start, self._received, self._lost = start, received, lost
        self._restarts = restarts
        self._failures = 0  # starts since it was last well
        self._ending = threading.Event()
        self._started: Future[Started] = Future()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=self._live, name=f"from-{name}", daemon=True)
        self._sending = ThreadPoolExecutor(1, thread_name_prefix=f"to-{name}")

    def begin(self) -> Started:
        """Start the process without reading its messages, before `open`. Blocks; raises OSError."""
        started = self._start()
        self._started.set_result(started)
        return started

    def open(self, loop: asyncio.AbstractEventLoop | None = None) -> None:
        """Read the messages of the process; start it, unless it has begun. Does not block.

        `received` and `lost` are called on the loop; without one, on the thread of the process.
        """
        self._loop = loop
        self._thread.start()

    def is_well(self) -> None:
        """Note that it works: should it end, it is started again at once."""
        self._failures = 0

    @property
    def pid(self) -> int | None:
        """The id of the present process; None if there is none."""
        started = self._present()
        return started.process.pid if started else None

    @property
    def ending(self) -> bool:
        """Whether the process was asked to end."""
        return self._ending.is_set()

    def send(self, message: Any, failed: Callable[[], object] = lambda: None) -> None:
        """Send a message after all others, once the process has started. Does not block.

        `failed` is called if the message cannot be pickled. A process that has ended gets nothing.
        """
        coming = self._started

        def sending() -> None:
            try:
                send(coming.result().connection, message)
            except OSError:
                return  # it has ended, which its reader notices, or it never started
            except Exception:  # it cannot be pickled; nothing was sent
                log.exception("a message to the process %s cannot be sent", self.name)
                self._call(failed)

        with suppress(RuntimeError):  # no more messages: it was asked to end
            self._sending.submit(sending)

    def hand(self, give: Callable[[Connection], object]) -> None:
        """Give the process something by its pipe that is no message. Blocks; raises OSError."""
        started = self._present()
        if started is None:
            raise BrokenPipeError(f"the process {self.name} has ended")
        give(started.connection)

    def kill(self) -> None:
        """End the process at once."""
        self._ending.set()
        if started := self._present():
            started.process.kill()

    def ask_to_end(self, message: Any) -> None:
        """Ask the process to end by a last message; it is not started again."""
        if self.ending:
            return
        self._ending.set()
        present = self._present()
        if present:
            self.send(message)
        self._sending.shutdown(wait=False, cancel_futures=not present)

    def end(self, message: Any, seconds: float) -> None:
        """Ask the process to end; kill it if it has not after so many seconds. Blocks."""
        self.ask_to_end(message)
        if self._thread.is_alive():
            self._thread.join(seconds)
        self.kill()
        if self._thread.is_alive():
            self._thread.join()

    def _present(self) -> Started | None:
        coming = self._started
        if not coming.done() or coming.cancelled() or coming.exception():
            return None
        return coming.result()

    def _live(self) -> None:
        """Start the process and read its messages, again and again if it restarts."""
        coming = self._started
        while True:
            started = self._present() if coming.done() else self._attempt(coming)
            if started:
                self._read(started)
                coming = Future()
                self._call(self._replace, coming)
            used_up = self._failures >= len(START_AGAIN_SECONDS)
            given_up = not self._restarts and (started or used_up)
            if self.ending or given_up:
                break
            log.error("the process %s has ended or was not started; it is started again", self.name)
        coming.set_exception(BrokenPipeError())  # messages that wait are dropped
        if not started:
            self._call(self._lost)

    def _replace(self, coming: Future[Started]) -> None:
        self._started = coming
        if self.ending:  # since the new one was started
            self.kill()
        self._lost()

    def _attempt(self, coming: Future[Started]) -> Started | None:
        last = len(START_AGAIN_SECONDS) - 1
        self._ending.wait(START_AGAIN_SECONDS[min(self._failures, last)])
        self._failures += 1
        if self.ending:
            return None
        try:
            started = self._start()
        except Exception as error:  # no memory, no file, no process: for the moment
            why = str(error) or type(error).__name__
            log.error("the process %s cannot be started: %s", self.name, why)
            return None
        coming.set_result(started)
        if self._ending.is_set():  # in the meantime
            started.process.kill()
        return started

    def _read(self, started: Started) -> None:
        """Pass on all messages of a process until it has ended."""
        try:
            while True:
                self._call(self._received, receive(started.connection))
        except (EOFError, OSError):
            pass  # it has exited
        except Exception:
            log.exception("a message of the process %s cannot be read", self.name)
            started.process.kill()
        self._close(started.connection)
        started.process.join()

    def _close(self, connection: Connection) -> None:
        """Close a connection after all that is being sent: its number may be of another then."""
        try:
            self._sending.submit(connection.close)
        except RuntimeError:  # it was asked to end
            self._sending.shutdown()
            connection.close()

    def _call(self, function: Callable[..., object], *arguments: object) -> None:
        if self._loop is None:
            function(*arguments)
            return
        with suppress(RuntimeError):  # the loop has stopped
            self._loop.call_soon_threadsafe(function, *arguments)
