"""The engine: requests wait in a bounded queue and are run in batches, off the event loop.

    request ─▶ queue ─▶ batch of one model's requests ─▶ worker thread ─▶ traces

While the thread is busy the queue fills, so a batch is as large as the load, and a lone request
never waits for company. A request whose client left, or that waited too long, gives up its place.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Self

from model.request import Adapter, Request, Trace

RETRY_SECONDS = 2


class BusyError(Exception):
    """The model cannot take this request now; it may be sent again after `retry_after` seconds."""

    def __init__(self, detail: str, retry_after: int = RETRY_SECONDS) -> None:
        super().__init__(detail)
        self.retry_after = retry_after


@dataclass(frozen=True, eq=False)
class Job:
    """A request that waits, and the future that its trace goes to."""

    adapter: Adapter
    request: Request
    answer: asyncio.Future[Trace]


class Engine:
    """Runs requests on one worker thread; used as `async with Engine(…) as engine`."""

    def __init__(self, *, max_queue: int, max_batch: int, max_wait_seconds: float) -> None:
        self.max_queue = max_queue
        self.max_batch = max_batch
        self.max_wait_seconds = max_wait_seconds
        self._waiting: deque[Job] = deque()
        self._arrived = asyncio.Event()
        self._closing = False
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="model")

    @property
    def waiting(self) -> int:
        """How many requests wait for the model."""
        return len(self._waiting)

    async def trace(self, adapter: Adapter, request: Request) -> Trace:
        """The trace of one request.

        Raises InputError for bad input and BusyError where the queue is full, the wait too long, or
        the server about to end. When cancelled, it gives up its place.
        """
        adapter.check(request)
        if self._closing:
            raise BusyError("the server is shutting down")
        if len(self._waiting) >= self.max_queue:
            raise BusyError(f"{self.max_queue} requests are waiting for the model already")
        job = Job(adapter, request, asyncio.get_running_loop().create_future())
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
            _fail(job, BusyError("the server is shutting down"))
        self._thread.shutdown()

    async def _work(self) -> None:
        while not self._closing:
            await self._arrived.wait()
            self._arrived.clear()
            while self._waiting and not self._closing:
                await self._run(self._next_batch())

    def _next_batch(self) -> list[Job]:
        """Takes the oldest request and those after it that the same model can run with it."""
        adapter = self._waiting[0].adapter
        batch = [job for job in self._waiting if job.adapter is adapter][: self.max_batch]
        for job in batch:
            self._waiting.remove(job)
        return batch

    async def _run(self, batch: Sequence[Job]) -> None:
        loop = asyncio.get_running_loop()
        requests = [job.request for job in batch]
        try:
            traces = await loop.run_in_executor(self._thread, batch[0].adapter.trace, requests)
        except Exception as error:
            if len(batch) == 1:
                _fail(batch[0], error)
                return
            # One request may not fail its neighbours: each is tried again alone.
            for job in batch:
                if not job.answer.done():
                    await self._run([job])
            return
        for job, trace in zip(batch, traces, strict=True):
            if not job.answer.done():
                job.answer.set_result(trace)


def _fail(job: Job, error: Exception) -> None:
    if not job.answer.done():
        job.answer.set_exception(error)
