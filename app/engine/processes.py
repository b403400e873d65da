"""Models in separate processes, so that sockets and models do not share an interpreter lock.

A process that exits unexpectedly is restarted. The work that it was running raises CrashedError,
and the engine gives it to another process, or to the new one. So does work that cannot be sent, and
a process whose messages cannot be read is ended, so that no one waits for a reply in vain.
"""

import asyncio
import contextlib
import itertools
import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from typing import Any

from app.engine.engine_process import Advanced, Ended, Failed, Forget, Opened, Run, Stop
from app.engine.launch import Launched, launch
from app.engine.messages import receive, send
from app.engine.model_listing import Listing
from app.engine.runners import CrashedError, Runner, Runners, Turn
from app.engine.worker import Outcome, Work
from model.progress import Listener, ignore

END_SECONDS = 5  # for a process to exit
AGAIN_SECONDS = (0.0, 0.5, 2.0, 10.0)  # before restarting one that has not been ready since

log = logging.getLogger(__name__)


class Process(Runner):
    """Runs work in a separate process."""

    def __init__(self, launched: Launched) -> None:
        """Take a process that has been started; call `wait` until it is open."""
        self._take(launched)
        self.ready = False
        self._closing = False
        self._failures = 0
        self._numbers = itertools.count()
        self._running: dict[int, asyncio.Future[list[Outcome]]] = {}
        self._listeners: dict[int, Listener] = {}
        self._changed: Callable[[], None] = lambda: None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._sending = ThreadPoolExecutor(1, thread_name_prefix="to-engine")

    def wait(self) -> Listing:
        """Block until the models are open; raises RuntimeError with the reason if they are not."""
        try:
            message = receive(self._connection)
        except (EOFError, OSError):
            message = Failed("its process ended")
        if isinstance(message, Failed):
            raise RuntimeError(message.why)
        assert isinstance(message, Opened)
        self.ready = True
        return message.listing

    @property
    def pid(self) -> int | None:
        """The id of the current process."""
        return self._process.pid

    def open(self, changed: Callable[[], None]) -> None:
        """Start reading the messages of the process."""
        self._changed, self._loop = changed, asyncio.get_running_loop()
        self._read()

    def start(self, work: Work, urgent: bool = False, listener: Listener = ignore) -> Turn:
        """Send the work to the process."""
        number = next(self._numbers)
        self._listeners[number] = listener
        done = self._running[number] = asyncio.get_running_loop().create_future()
        self._send(Run(number, work, urgent))
        return Turn(done, lambda: self._send(Stop(number)) if not done.done() else None)

    def forget(self, stream: int) -> None:
        """Tell the process that no one reads this stream any more."""
        self._send(Forget(stream))

    async def close(self) -> None:
        """End the process; kill it if it does not exit within `END_SECONDS`."""
        await asyncio.to_thread(self.end)

    def end(self) -> None:
        """End the process like `close`, without an event loop. Blocks."""
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
        """Send off the event loop, since sending blocks while the process does not read."""

        def sending(connection: Connection) -> None:
            try:
                send(connection, message)
            except OSError:
                return  # its exit is noticed by the reader
            except Exception:  # it cannot be pickled; nothing was sent
                log.exception("a message to an engine process cannot be sent")
                if isinstance(message, Run):
                    self._tell(self._crashed, message.number)

        with contextlib.suppress(RuntimeError):  # it was already asked to exit
            self._sending.submit(sending, self._connection)

    def _read(self) -> None:
        reading = threading.Thread(
            target=self._reading, args=(self._connection,), name="from-engine", daemon=True
        )
        reading.start()

    def _reading(self, connection: Connection) -> None:
        try:
            while True:
                self._tell(self._received, receive(connection))
        except (EOFError, OSError):
            pass  # it has exited
        except Exception:
            log.exception("a message of an engine process cannot be read")
            self._process.kill()
        connection.close()
        self._tell(self._lost)

    def _tell(self, what: Callable[..., object], *arguments: object) -> None:
        assert self._loop is not None
        with contextlib.suppress(RuntimeError):  # the loop has stopped
            self._loop.call_soon_threadsafe(what, *arguments)

    def _received(self, message: Any) -> None:
        match message:
            case Opened():
                self.ready, self._failures = True, 0
                self._changed()
            case Advanced(number, progress):
                self._listeners[number](progress)
            case Ended(number, outcomes):
                del self._listeners[number]
                done = self._running.pop(number)
                if not done.done():
                    done.set_result(outcomes)
            case Failed(why):
                log.error("an engine cannot open its models: %s", why)

    def _crashed(self, number: int) -> None:
        """Tell whoever waits for this work that it was not done."""
        self._listeners.pop(number, None)
        done = self._running.pop(number, None)
        if done and not done.done():
            done.set_exception(CrashedError())

    def _lost(self) -> None:
        """Handle the exit of the process."""
        self.ready = False
        for number in list(self._running):
            self._crashed(number)
        if not self._closing:
            log.error("an engine process exited; it is restarted")
            self._again = asyncio.ensure_future(self._restart())

    async def _restart(self) -> None:
        seconds = AGAIN_SECONDS[min(self._failures, len(AGAIN_SECONDS) - 1)]
        self._failures += 1
        await asyncio.sleep(seconds)
        if not self._closing:
            self._take(await asyncio.to_thread(launch, self._opening))
            self._read()


def in_processes(launched: Sequence[Launched]) -> Runners:
    """Wait until all processes are open; if one fails, end all and raise RuntimeError."""
    processes = [Process(one) for one in launched]
    try:
        listing = Listing.common([process.wait() for process in processes])
    except BaseException:
        for process in processes:
            process.end()
        raise
    return Runners(listing, processes)
