"""Models in separate processes, so that sockets and models do not share an interpreter lock.

A process that exits unexpectedly is started again. The work that it was running raises
CrashedError, and the engine gives it to another process, or to the new one. So does work that
cannot be sent, and a process whose messages cannot be read is ended, so that no one waits for a
reply in vain.
"""

import asyncio
import itertools
import logging
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from app.engine.child_process import ChildProcess
from app.engine.engine_process import Advanced, Ended, Failed, Forget, Opened, Run, Stop
from app.engine.model_listing import Listing
from app.engine.model_thread import Outcome, Work
from app.engine.process_messages import receive
from app.engine.runners import CrashedError, Runner, Runners, Turn
from app.engine.start_processes import Launcher
from model.progress import Listener, ignore

END_SECONDS = 5  # for a process to exit

log = logging.getLogger(__name__)


class Process(Runner):
    """Runs work in a separate process."""

    def __init__(self, launcher: Launcher) -> None:
        """Take what starts the process; call `wait` until it is open."""
        self._launcher = launcher
        self._child = ChildProcess(
            "engine", launcher.start, self._received, self._lost, restarts=True
        )
        self.ready = False
        self._numbers = itertools.count()
        self._running: dict[int, asyncio.Future[list[Outcome]]] = {}
        self._listeners: dict[int, Listener] = {}
        self._changed: Callable[[], None] = lambda: None

    def wait(self) -> Listing:
        """Block until the models are open; raises RuntimeError with the reason if they are not."""
        try:
            message = receive(self._child.begin().connection)
        except (EOFError, OSError) as error:
            message = Failed(str(error) or "its process ended")
        if isinstance(message, Failed):
            raise RuntimeError(message.why)
        assert isinstance(message, Opened)
        self.ready = True
        return message.listing

    @property
    def pid(self) -> int | None:
        """The id of the current process."""
        return self._child.pid

    def open(self, changed: Callable[[], None]) -> None:
        """Start reading the messages of the process."""
        self._changed = changed
        self._child.open(asyncio.get_running_loop())

    def start(self, work: Work, urgent: bool = False, listener: Listener = ignore) -> Turn:
        """Send the work to the process."""
        number = next(self._numbers)
        self._listeners[number] = listener
        done = self._running[number] = asyncio.get_running_loop().create_future()
        self._child.send(Run(number, work, urgent), partial(self._crashed, number))
        return Turn(done, lambda: self._child.send(Stop(number)) if not done.done() else None)

    def forget(self, stream: int) -> None:
        """Tell the process that no one reads this stream any more."""
        self._child.send(Forget(stream))

    async def close(self) -> None:
        """End the process; kill it if it does not exit within `END_SECONDS`."""
        await asyncio.to_thread(self.end)

    def end(self) -> None:
        """End the process like `close`, without an event loop. Blocks."""
        self.ready = False
        self._launcher.close()
        self._child.end(None, END_SECONDS)

    def _received(self, message: Any) -> None:
        match message:
            case Opened():
                self._child.is_well()
                self.ready = True
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


def in_processes(launchers: Sequence[Launcher]) -> Runners:
    """Wait until all processes are open; if one fails, end all and raise RuntimeError."""
    processes = [Process(launcher) for launcher in launchers]
    try:
        listing = Listing.common([process.wait() for process in processes])
    except BaseException:
        for process in processes:
            process.end()
        raise
    return Runners(listing, processes)
