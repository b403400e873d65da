"""The engine: requests wait in bounded queues and are run in batches, off the event loop.

    trace  ─▶ its model's queue ─▶ batch    ─▶ worker thread ─▶ replies

    stream ─▶ its model's queue ─▶ one line ─▶ worker thread ─▶ line, and again

There are as many worker threads as models that may be loaded, and the queues take turns at them, a
batch each: a slow model does not hold up another's requests.

While a queue waits for its turn it fills, so a batch is as large as the load, and a lone request
never waits for company. A request whose client left, or that waited too long, gives up its place.

A stream asks for its next line when its client has taken the last one, and then waits behind all
that came meanwhile: however long it is, it holds others up by one line at a time, and it ends when
its client leaves.
"""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Self, cast

from app.engine.catalog import Catalog
from app.engine.jobs import Encoded, StreamJob, TraceJob
from app.engine.worker import Outcome, answer, attempt, lines

RETRY_SECONDS = 2
END: Final = object()  # what a stream without a further line answers


class BusyError(Exception):
    """The model cannot take this request now; it may be sent again after `retry_after` seconds."""

    def __init__(self, detail: str, retry_after: int = RETRY_SECONDS) -> None:
        super().__init__(detail)
        self.retry_after = retry_after


@dataclass(frozen=True, eq=False)
class Waiting:
    """What waits: a job, or the work that makes a stream's next line; and where the result goes."""

    work: TraceJob | Callable[[], Any]
    answer: asyncio.Future[Any]
    since: float = field(default_factory=time.monotonic)

    @property
    def kind(self) -> str:
        """A trace, which may be run with others, or a stream's next line."""
        return "trace" if isinstance(self.work, TraceJob) else "line"


@dataclass(eq=False)
class Queue:
    """What waits for one model, and how many of its streams are open."""

    waiting: deque[Waiting] = field(default_factory=deque)
    streams: int = 0
    arrived: asyncio.Event = field(default_factory=asyncio.Event)

    def next_batch(self, most: int) -> list[Waiting]:
        """Takes the oldest: a stream's line alone, a trace with others."""
        first = self.waiting[0]
        batch = [first]
        if isinstance(first.work, TraceJob):
            traces = (one for one in self.waiting if isinstance(one.work, TraceJob))
            batch = list(traces)[:most]
        for one in batch:
            self.waiting.remove(one)
        return batch


class Engine:
    """Runs jobs on worker threads; used as `async with Engine(…) as engine`."""

    def __init__(
        self,
        catalog: Catalog,
        *,
        max_queue: int,
        max_batch: int,
        max_wait_seconds: float,
        on_batch: Callable[[str, Sequence[float]], None] = lambda kind, waits: None,
    ) -> None:
        self.catalog = catalog
        self.max_queue = max_queue
        self.max_batch = max_batch
        self.max_wait_seconds = max_wait_seconds
        self._on_batch = on_batch  # told of each batch: its kind, how long each has waited
        self._queues = {name: Queue() for name in catalog}
        self._closing = False
        threads = min(catalog.max_models, len(catalog))
        self._turns = asyncio.Semaphore(threads)  # hands them out in the order of asking
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="model")

    @property
    def waiting(self) -> int:
        """How many requests wait for a model."""
        return sum(len(queue.waiting) for queue in self._queues.values())

    @property
    def streams(self) -> int:
        """How many streams are open."""
        return sum(queue.streams for queue in self._queues.values())

    async def run(self, job: TraceJob) -> Encoded:
        """The reply to one job.

        Raises InputError for bad input and BusyError where the queue is full, the wait too long, or
        the server about to end. When cancelled, it gives up its place.
        """
        queue = self._queues[job.model]
        self._admit(len(queue.waiting))
        return cast(Encoded, await self._answered(queue, job))

    async def stream(self, job: StreamJob) -> AsyncIterator[bytes]:
        """Each of the lines, made on a worker thread when it is asked for.

        Raises InputError for bad input before the first line. Raises BusyError before it where the
        queue is full or as many streams are open as it has places; later too, where the wait is
        too long or the server about to end. When it is cancelled or closed, no further line is
        made.
        """
        queue = self._queues[job.model]
        self._admit(max(len(queue.waiting), queue.streams))
        queue.streams += 1
        made = lines(self.catalog, job)
        try:
            while True:
                line = await self._answered(queue, partial(next, made, END))
                if line is END:
                    return
                yield line
        finally:
            queue.streams -= 1

    def _admit(self, taken: int) -> None:
        if taken >= self.max_queue:
            raise BusyError(f"{self.max_queue} requests are waiting for the model already")

    async def _answered(self, queue: Queue, work: TraceJob | Callable[[], Any]) -> Any:
        if self._closing:
            raise BusyError("the server is shutting down")
        place = Waiting(work, asyncio.get_running_loop().create_future())
        queue.waiting.append(place)
        queue.arrived.set()
        try:
            async with asyncio.timeout(self.max_wait_seconds):
                return await place.answer
        except TimeoutError as error:
            raise BusyError(
                f"the model took more than {self.max_wait_seconds:g} seconds"
            ) from error
        finally:
            with contextlib.suppress(ValueError):
                queue.waiting.remove(place)

    async def __aenter__(self) -> Self:
        self._tasks = [asyncio.create_task(self._work(queue)) for queue in self._queues.values()]
        return self

    async def __aexit__(self, *_: object) -> None:
        """Lets running batches end, and sends the waiting away."""
        self._closing = True
        for queue in self._queues.values():
            queue.arrived.set()
        await asyncio.gather(*self._tasks)
        for queue in self._queues.values():
            for one in queue.waiting:
                _settle(one, Outcome(error=BusyError("the server is shutting down")))
        self._threads.shutdown()

    async def _work(self, queue: Queue) -> None:
        while not self._closing:
            await queue.arrived.wait()
            queue.arrived.clear()
            while queue.waiting and not self._closing:
                async with self._turns:
                    if queue.waiting and not self._closing:  # it may have changed meanwhile
                        await self._run(queue.next_batch(self.max_batch))

    async def _run(self, batch: list[Waiting]) -> None:
        now = time.monotonic()
        self._on_batch(batch[0].kind, [now - one.since for one in batch])
        # One hop to the thread and one back for a whole batch: each costs a wait for the
        # interpreter's lock, which a model holds most of the time.
        loop = asyncio.get_running_loop()
        outcomes = await loop.run_in_executor(self._threads, self._outcomes, batch)
        for one, outcome in zip(batch, outcomes, strict=True):
            _settle(one, outcome)

    def _outcomes(self, batch: list[Waiting]) -> list[Outcome]:
        jobs = [one.work for one in batch if isinstance(one.work, TraceJob)]
        if jobs:
            return answer(self.catalog, jobs)
        return [attempt(one.work) for one in batch if not isinstance(one.work, TraceJob)]


def _settle(one: Waiting, outcome: Outcome) -> None:
    if one.answer.done():  # its client has left
        return
    if outcome.error is None:
        one.answer.set_result(outcome.result)
    else:
        one.answer.set_exception(outcome.error)
