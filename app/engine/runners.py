"""Runners, which run the models: in threads, or in processes.

A runner runs several turns at once, at most one per model and an urgent one. A turn ends only when
its work has really stopped, even if the work was cancelled. Which runner caches which passes over
long texts is recorded, to send later views there.

In separate processes, sockets and models do not share an interpreter lock. A process that exits
unexpectedly is started again. The work that it was running raises CrashedError, and the engine
gives it to another process, or to the new one. So does work that cannot be sent, and a process
whose messages cannot be read is ended, so that no one waits for a reply in vain.
"""

import asyncio
import itertools
import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from app.engine.child_process import ChildProcess, receive
from app.engine.engine_process import Advanced, Ended, Failed, Forget, Opened, Run, Stop
from app.engine.model_catalog import Catalog
from app.engine.model_listing import Listing
from app.engine.model_thread import Outcome, Work, Worker
from app.engine.start_processes import Launcher
from model.progress import Listener, Progress, ignore


class CrashedError(Exception):
    """The process or thread exited before its work was done."""


@dataclass(frozen=True, eq=False)
class Turn:
    """A piece of running work; `stop` asks it to stop soon."""

    done: asyncio.Future[list[Outcome]]  # raises CrashedError
    stop: Callable[[], None]


class Runner(Protocol):
    """Runs work off the event loop that it was opened on."""

    ready: bool  # whether it accepts work now
    many: bool = False  # whether it stands for several processes, each with passes of its own

    def open(self, changed: Callable[[], None]) -> None:
        """Start the runner; call `changed` whenever it becomes ready."""

    def start(self, work: Work, urgent: bool = False, listener: Listener = ignore) -> Turn:
        """Run work; called only while the runner is ready. Urgent work makes other work pause.

        `listener` is called on the event loop with the progress of long work, if it is known.
        """

    def forget(self, stream: int) -> None:
        """Drop a stream of which no further line is needed."""

    async def close(self) -> None:
        """Stop the runner; running work may finish first."""


@dataclass(frozen=True)
class Runners:
    """The models being served, and the runners for them."""

    listing: Listing
    runners: Sequence[Runner]
    tries: int = 2  # attempts to run work whose runner crashes

    @classmethod
    def in_threads(cls, catalog: Catalog) -> "Runners":
        """Create runners on threads of this process."""
        return cls(catalog.listing, (Threads(catalog),))


class Threads(Runner):
    """Runs work on threads of this process: for tests, and if memory suffices for one process."""

    def __init__(self, catalog: Catalog) -> None:
        self.ready = True
        self._worker = Worker(catalog)
        self._threads = ThreadPoolExecutor(catalog.listing.at_once + 1, thread_name_prefix="model")

    def open(self, changed: Callable[[], None]) -> None:
        """Do nothing: it is always ready."""

    def start(self, work: Work, urgent: bool = False, listener: Listener = ignore) -> Turn:
        """Run the work on a thread."""
        stopped = threading.Event()
        loop = asyncio.get_running_loop()

        def tell(progress: Progress) -> None:
            loop.call_soon_threadsafe(listener, progress)

        def run() -> list[Outcome]:
            try:
                return self._worker.run(work, stopped.is_set, urgent, tell)
            except BaseException as error:  # such as `SystemExit`, which would end a process
                raise CrashedError from error

        return Turn(loop.run_in_executor(self._threads, run), stopped.set)

    def forget(self, stream: int) -> None:
        """Release the stream's model."""
        self._worker.forget(stream)

    async def close(self) -> None:
        """Stop the threads."""
        self._threads.shutdown()


MOST = 1_000  # passes remembered of a runner that stands for several processes


class CachedPassRunners:
    """The runner of each pass, as far as known; if it is wrong, the pass is run again."""

    def __init__(self) -> None:
        self._kept: dict[Runner, frozenset[str]] = {}
        self._running: dict[str, Runner] = {}

    def is_kept(self, key: str) -> bool:
        """Return whether a runner has cached the pass."""
        return any(key in keys for keys in self._kept.values())

    def home(self, key: str) -> Runner | None:
        """Return the runner that has cached or is running the pass."""
        making = self._running.get(key)
        return making or next((runner for runner, keys in self._kept.items() if key in keys), None)

    def start(self, key: str, runner: Runner) -> None:
        """Record that a runner is running the pass, unless it has cached it."""
        if key not in self._kept.get(runner, ()):
            self._running[key] = runner

    def end(self, key: str, runner: Runner, kept_keys: frozenset[str] | None) -> None:
        """Record the passes that a runner has cached after its work; None if unknown.

        One that stands for several processes tells only about the process that did this work.
        """
        self._running.pop(key, None)
        if kept_keys is None:
            return
        if runner.many:
            remembered = self._kept.get(runner, frozenset())
            other_keys = remembered - {key} if len(remembered) < MOST else frozenset()
            kept_keys = other_keys | (kept_keys & {key})
        self._kept[runner] = kept_keys

    def lose(self, runner: Runner) -> None:
        """Record that a runner has crashed and lost its passes."""
        self._kept.pop(runner, None)
        self._running = {key: home for key, home in self._running.items() if home is not runner}


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
