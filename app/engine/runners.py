"""Runners, which run the models in threads or processes.

A runner runs several turns at once, at most one per model and an urgent one. A turn ends only when
its work has really stopped, even if the work was cancelled.
"""

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol

from app.engine.catalog import Catalog
from app.engine.model_listing import Listing
from app.engine.model_thread import Outcome, Work, Worker
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

        done = loop.run_in_executor(
            self._threads, self._worker.run, work, stopped.is_set, urgent, tell
        )
        return Turn(done, stopped.set)

    def forget(self, stream: int) -> None:
        """Release the stream's model."""
        self._worker.forget(stream)

    async def close(self) -> None:
        """Stop the threads."""
        self._threads.shutdown()
