"""Where the models run: what the engine gives its work to.

A runner runs several turns at once, at most one of each model and an urgent one beside them. A turn
is not over before what it runs has really ended, so that stopped work takes nobody's place.
"""

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol

from app.engine.catalog import Catalog
from app.engine.model_listing import Listing
from app.engine.worker import Outcome, Work, Worker


class CrashedError(Exception):
    """What ran the work has ended before it was done."""


@dataclass(frozen=True, eq=False)
class Turn:
    """Work that is running; `stop` asks it to end soon."""

    done: asyncio.Future[list[Outcome]]  # raises CrashedError
    stop: Callable[[], None]


class Runner(Protocol):
    """Runs work off the event loop that it was opened on."""

    ready: bool  # whether it takes work now

    def open(self, changed: Callable[[], None]) -> None:
        """Begins; calls `changed` whenever it becomes ready."""

    def start(self, work: Work, urgent: bool = False) -> Turn:
        """Gives it work; called only while it is ready. What is urgent makes the rest pause."""

    def forget(self, stream: int) -> None:
        """Nobody asks for another line of a stream."""

    async def close(self) -> None:
        """Ends; what is running may finish before."""


@dataclass(frozen=True)
class Runners:
    """The models that are served, and what runs them."""

    listing: Listing
    runners: Sequence[Runner]
    tries: int = 2  # of work whose runner ends under it

    @classmethod
    def in_threads(cls, catalog: Catalog) -> "Runners":
        """On threads of this process."""
        return cls(catalog.listing, (Threads(catalog),))


class Threads(Runner):
    """Runs work on threads of this process: for tests, and where there is memory for one only."""

    def __init__(self, catalog: Catalog) -> None:
        self.ready = True
        self._worker = Worker(catalog)
        self._threads = ThreadPoolExecutor(catalog.listing.at_once + 1, thread_name_prefix="model")

    def open(self, changed: Callable[[], None]) -> None:
        """It is ready from the start."""

    def start(self, work: Work, urgent: bool = False) -> Turn:
        """Runs it on a thread."""
        stopped = threading.Event()
        loop = asyncio.get_running_loop()
        done = loop.run_in_executor(self._threads, self._worker.run, work, stopped.is_set, urgent)
        return Turn(done, stopped.set)

    def forget(self, stream: int) -> None:
        """Lets the stream's model go."""
        self._worker.forget(stream)

    async def close(self) -> None:
        """Ends the threads."""
        self._threads.shutdown()
