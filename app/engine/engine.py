"""The engine: requests wait in a bounded queue and are run in batches, off the event loop.

    request ─▶ queue ─▶ batch of one model's requests ─▶ worker thread ─▶ replies

    stream  ─▶ queue ─▶ one item                     ─▶ worker thread ─▶ item, and again

While the thread is busy the queue fills, so a batch is as large as the load, and a lone request
never waits for company. A request whose client left, or that waited too long, gives up its place.

A stream asks for its next item when its client has taken the last one, and then waits behind all
that came meanwhile: however long it is, it holds others up by one item at a time, and it ends when
its client leaves.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Self, TypeVar, cast

from model.adapters.request import Adapter, Request, Trace

RETRY_SECONDS = 2
END: Final = object()  # what a stream without a further item answers

Result = TypeVar("Result")


class BusyError(Exception):
    """The model cannot take this request now; it may be sent again after `retry_after` seconds."""

    def __init__(self, detail: str, retry_after: int = RETRY_SECONDS) -> None:
        super().__init__(detail)
        self.retry_after = retry_after


@dataclass(frozen=True, eq=False)
class Job:
    """A request that waits, what to make of its trace, and the future that the result goes to."""

    adapter: Adapter
    request: Request
    finish: Callable[[Trace], Any]
    answer: asyncio.Future[Any]


@dataclass(frozen=True, eq=False)
class Turn:
    """The next item of a stream, which nothing else can share."""

    work: Callable[[], Any]
    answer: asyncio.Future[Any]


@dataclass(frozen=True)
class Outcome:
    """What a job came to: a result, or what went wrong with it."""

    result: Any = None
    error: Exception | None = None


class Engine:
    """Runs requests on one worker thread; used as `async with Engine(…) as engine`."""

    def __init__(self, *, max_queue: int, max_batch: int, max_wait_seconds: float) -> None:
        self.max_queue = max_queue
        self.max_batch = max_batch
        self.max_wait_seconds = max_wait_seconds
        self._waiting: deque[Job | Turn] = deque()
        self.streams = 0  # open now
        self._arrived = asyncio.Event()
        self._closing = False
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="model")

    @property
    def waiting(self) -> int:
        """How many requests wait for the model."""
        return len(self._waiting)

    async def run(
        self, adapter: Adapter, request: Request, finish: Callable[[Trace], Result]
    ) -> Result:
        """What `finish` makes of the trace of one request, on the worker thread.

        Raises InputError for bad input and BusyError where the queue is full, the wait too long, or
        the server about to end. When cancelled, it gives up its place.
        """
        adapter.check(request)
        self._admit(len(self._waiting))
        answer: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        result: Result = await self._answered(Job(adapter, request, finish, answer))
        return result

    async def stream(self, items: Iterator[Result]) -> AsyncIterator[Result]:
        """Each of the items, made on the worker thread when it is asked for.

        Raises BusyError before the first item where the queue is full or as many streams are open
        as it has places; later too, where the wait is too long or the server about to end. When
        it is cancelled or closed, no further item is made.
        """
        self._admit(max(len(self._waiting), self.streams))
        self.streams += 1
        try:
            while True:
                answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
                item = await self._answered(Turn(partial(next, items, END), answer))
                if item is END:
                    return
                yield item
        finally:
            self.streams -= 1

    def _admit(self, taken: int) -> None:
        if taken >= self.max_queue:
            raise BusyError(f"{self.max_queue} requests are waiting for the model already")

    async def _answered(self, job: Job | Turn) -> Any:
        if self._closing:
            raise BusyError("the server is shutting down")
        self._waiting.append(job)
        self._arrived.set()
        try:
            async with asyncio.timeout(self.max_wait_seconds):
                return await job.answer
        except TimeoutError as error:
            raise BusyError(
                f"the model took more than {self.max_wait_seconds:g} seconds"
            ) from error
        finally:
            with contextlib.suppress(ValueError):
                self._waiting.remove(job)

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._work())
        return self

    async def __aexit__(self, *_: object) -> None:
        """Lets the running batch end, and sends the waiting away."""
        self._closing = True
        self._arrived.set()
        await self._task
        for job in self._waiting:
            _settle(job, Outcome(error=BusyError("the server is shutting down")))
        self._thread.shutdown()

    async def _work(self) -> None:
        while not self._closing:
            await self._arrived.wait()
            self._arrived.clear()
            while self._waiting and not self._closing:
                await self._run(self._next_batch())

    def _next_batch(self) -> Turn | list[Job]:
        """Takes the oldest in the queue, a request with those that its model can run with it."""
        first = self._waiting[0]
        if isinstance(first, Turn):
            return cast(Turn, self._waiting.popleft())
        jobs = (job for job in self._waiting if isinstance(job, Job))
        batch = [job for job in jobs if job.adapter is first.adapter][: self.max_batch]
        for job in batch:
            self._waiting.remove(job)
        return batch

    async def _run(self, batch: Turn | Sequence[Job]) -> None:
        loop = asyncio.get_running_loop()
        if isinstance(batch, Turn):
            _settle(batch, await loop.run_in_executor(self._thread, _outcome, batch.work))
            return
        # One hop to the thread and one back for a whole batch: each costs a wait for the
        # interpreter's lock, which the model holds most of the time.
        outcomes = await loop.run_in_executor(self._thread, _outcomes, batch)
        for job, outcome in zip(batch, outcomes, strict=True):
            _settle(job, outcome)


def _outcomes(batch: Sequence[Job]) -> list[Outcome]:
    """Runs a batch; on the worker thread. A failure is its own request's and no neighbour's."""
    try:
        traces = batch[0].adapter.run([job.request for job in batch])
    except Exception as error:
        if len(batch) == 1:
            return [Outcome(error=error)]
        return [outcome for job in batch for outcome in _outcomes([job])]
    return [_outcome(partial(job.finish, trace)) for job, trace in zip(batch, traces, strict=True)]


def _outcome(work: Callable[[], Any]) -> Outcome:
    try:
        return Outcome(work())
    except Exception as error:
        return Outcome(error=error)


def _settle(job: Job | Turn, outcome: Outcome) -> None:
    if job.answer.done():  # its client has left
        return
    if outcome.error is None:
        job.answer.set_result(outcome.result)
    else:
        job.answer.set_exception(outcome.error)
