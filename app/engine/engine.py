"""The engine: requests wait in one fair, bounded queue and run in batches, off the event loop.

    trace  ─▶ kept? ─▶ asked for already? ─▶ queue ─▶ batch    ─▶ runner ─▶ replies

    stream ─────────────────────────────────▶ queue ─▶ one line ─▶ runner ─▶ line, and again

While a runner is busy the queue fills, so a batch is as large as the load, and a lone request never
waits for company. A request whose client left, or that waited too long, gives up its place; if
nobody else waits for what runs, that ends before its next layer.

A stream asks for its next line when its client has taken the last one, and then waits behind all
that came meanwhile: however long it is, it holds others up by one line at a time, and it ends when
its client leaves.
"""

import asyncio
import itertools
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Self, cast

from app.engine.byte_cache import ByteCache
from app.engine.clients import NOBODY, Budgets, asking
from app.engine.fair_queue import FairQueue, Flow, Waiting
from app.engine.jobs import AnswerJob, Encoded, StreamJob, TraceJob
from app.engine.price import price, size
from app.engine.runners import CrashedError, Runner, Runners, Turn
from app.engine.schedule import Running, Schedule
from app.engine.worker import Batch, Line, Outcome, Work
from model.errors import Excess, InputError

RETRY_SECONDS = 2


class BusyError(Exception):
    """The model cannot take this request now; it may be sent again after `retry_after` seconds."""

    def __init__(self, detail: str, retry_after: int = RETRY_SECONDS) -> None:
        super().__init__(detail)
        self.retry_after = retry_after


@dataclass(frozen=True)
class Bounds:
    """What the engine takes."""

    max_queue: int = 64  # requests that wait for a model
    max_batch: int = 8
    max_wait_seconds: float = 30.0
    max_price: float = float("inf")


class Engine:
    """Runs jobs where the models are; used as `async with Engine(…) as engine`."""

    def __init__(
        self,
        models: Runners,
        bounds: Bounds,
        cache: ByteCache[Any] | None = None,
        budgets: Budgets | None = None,
        on_batch: Callable[[str, Sequence[float]], None] = lambda kind, waits: None,
    ) -> None:
        self.listing = models.listing
        self.bounds = bounds
        self.cache = cache or ByteCache[Any](0, len)
        self.budgets = budgets
        self._on_batch = on_batch  # told of each batch: its kind, how long each has waited
        self.runners = models.runners
        self._tries = models.tries
        self._queue = FairQueue()
        self._coming: dict[Hashable, Waiting] = {}  # what is asked for, waiting or running
        self._running: dict[Runner, list[Running]] = {one: [] for one in self.runners}
        self._turns: set[asyncio.Task[None]] = set()
        self._streams: Counter[Flow] = Counter()
        self._numbers = itertools.count()
        self._homes: dict[int, Runner] = {}  # where a stream's lines are made
        self._schedule = Schedule(self._running, self.listing.at_once, self._queue.had, self._home)
        self._closing = False

    @property
    def waiting(self) -> int:
        """How many requests wait for a model."""
        return len(self._queue)

    @property
    def streams(self) -> int:
        """How many streams are open."""
        return self._streams.total()

    async def run(self, job: TraceJob | AnswerJob) -> Encoded:
        """The reply to one job.

        Raises InputError for bad input and for what costs too much, SpentError for a client that
        has asked for too much, BusyError where the queue is full, the wait too long, or the server
        about to end. When cancelled, it gives up its place.
        """
        kept = self.cache.get(job)
        if kept is not None:
            return cast(Encoded, kept)
        place = self._coming.get(job)
        if place is None:
            cost = self._charged(job)
            flow = job.model, asking.get()
            self._admit(flow)
            place = self._enqueue(job, flow, cost, size(job, self.listing[job.model]))
            self._coming[job] = place
        return cast(Encoded, await self._answered(place))

    async def stream(self, job: StreamJob) -> AsyncIterator[bytes]:
        """Each of the lines, made when it is asked for.

        Raises before the first line what `run` does; BusyError also where as many streams are open
        as the queue has places, and later where the wait is too long or the server about to end.
        When it is cancelled or closed, no further line is made.
        """
        flow = job.model, asking.get()
        self._charged(job)
        self._admit(flow)
        self._admit_stream(flow)
        number = next(self._numbers)
        cost = job.line_price(self.listing[job.model])
        self._streams[flow] += 1
        try:
            for index in itertools.count():
                place = self._enqueue(Line(number, job, index), flow, cost, 0.0)
                line = await self._answered(place)
                if line is None:
                    return
                yield line
        finally:
            self._streams[flow] -= 1
            home = self._homes.pop(number, None)
            if home is not None:
                home.forget(number)

    def _charged(self, job: TraceJob | AnswerJob | StreamJob) -> float:
        """The price of a job, which its client can pay."""
        cost = price(job, self.listing[job.model])
        most = self.bounds.max_price
        if cost > most:
            detail = f"this takes the model {cost:.0f} units of work; at most {most:.0f} are taken"
            raise InputError("too-much-work", "", detail, Excess(int(most), "units", int(cost)))
        self.charge(cost)
        return cost

    def charge(self, cost: float) -> None:
        """Takes a price from whoever asks, for work that is done elsewhere too.

        Raises SpentError for a client that has asked for too much.
        """
        if self.budgets and asking.get() != NOBODY:
            self.budgets.charge(asking.get(), cost)

    def _admit(self, flow: Flow) -> None:
        if self._queue.count(flow[0]) < self.bounds.max_queue:
            return
        busy = BusyError(f"{self.bounds.max_queue} requests are waiting for the model already")
        greedy = self._queue.displaced(flow)
        if greedy is None:
            raise busy
        self._queue.remove(greedy)
        self._settle(greedy, Outcome(error=busy))

    def _admit_stream(self, flow: Flow) -> None:
        """As many streams as the queue has places, and one client at most half of them."""
        most = self.bounds.max_queue
        model, client = flow
        open_ = sum(n for (name, _), n in self._streams.items() if name == model)
        if open_ >= most or (client.address and self._streams[flow] >= (most + 1) // 2):
            raise BusyError(f"{most} requests are waiting for the model already")

    def _enqueue(
        self, work: TraceJob | AnswerJob | Line, flow: Flow, cost: float, tokens: float
    ) -> Waiting:
        if self._closing:
            raise BusyError("the server is shutting down")
        answer = asyncio.get_running_loop().create_future()
        place = Waiting(work, flow, cost, tokens, answer)
        self._queue.add(place)
        self._dispatch()
        return place

    async def _answered(self, place: Waiting) -> Any:
        place.askers += 1
        try:
            async with asyncio.timeout(self.bounds.max_wait_seconds):
                return await asyncio.shield(place.answer)
        except TimeoutError as error:
            seconds = self.bounds.max_wait_seconds
            raise BusyError(f"the model took more than {seconds:g} seconds") from error
        finally:
            place.askers -= 1
            if not place.askers and not place.answer.done():
                self._abandon(place)

    def _abandon(self, place: Waiting) -> None:
        """Nobody waits for it any more."""
        place.answer.cancel()
        self._forget(place)
        self._queue.remove(place)
        if place.stop:
            place.stop()

    def _forget(self, place: Waiting) -> None:
        if not isinstance(place.work, Line) and self._coming.get(place.work) is place:
            del self._coming[place.work]

    def _settle(self, place: Waiting, outcome: Outcome) -> None:
        self._forget(place)
        if place.answer.done():  # its client has left
            return
        if outcome.error is not None:
            place.answer.set_exception(outcome.error)
            place.answer.exception()  # seen, though nobody may wait for it
            return
        if isinstance(outcome.result, Encoded):
            self.cache.keep(place.work, outcome.result)
        place.answer.set_result(outcome.result)

    async def __aenter__(self) -> Self:
        for runner in self.runners:
            runner.open(self._dispatch)
        return self

    async def __aexit__(self, *_: object) -> None:
        """Lets running batches end, and sends the waiting away."""
        self._closing = True
        for one in list(self._queue):
            self._queue.remove(one)
            self._settle(one, Outcome(error=BusyError("the server is shutting down")))
        await asyncio.gather(*self._turns)
        for runner in self.runners:
            await runner.close()

    def _dispatch(self) -> None:
        """Gives work to whoever has room, as long as there is both."""
        while not self._closing and (found := self._schedule.next(self._queue.heads())):
            head, runner, urgent = found.head, found.runner, found.urgent
            batch = self._queue.take(head, self.bounds.max_batch)
            running = Running(head, sum(one.price for one in batch), urgent)
            self._running[runner].append(running)
            if isinstance(head.work, Line):
                self._homes[head.work.stream] = runner
            now = time.monotonic()
            self._on_batch(head.kind, [now - one.since for one in batch])
            turn = runner.start(_work(batch), urgent)
            for one in batch:
                one.stop = lambda batch=batch, turn=turn: _stop(batch, turn)
            task = asyncio.ensure_future(self._finish(batch, runner, running, turn))
            self._turns.add(task)
            task.add_done_callback(self._turns.discard)

    def _home(self, waiting: Waiting) -> Runner | None:
        """A stream's lines are made where its first one was, as long as that is there."""
        return self._homes.get(waiting.work.stream) if isinstance(waiting.work, Line) else None

    async def _finish(
        self, batch: list[Waiting], runner: Runner, running: Running, turn: Turn
    ) -> None:
        try:
            outcomes = await turn.done
        except CrashedError:
            self._crashed(batch)
        else:
            for one, outcome in zip(batch, outcomes, strict=True):
                self._settle(one, outcome)
        self._running[runner].remove(running)
        self._dispatch()

    def _crashed(self, batch: list[Waiting]) -> None:
        """Each is tried again, alone: one that ends its process takes no neighbour along."""
        for one in batch:
            one.tries, one.stop = one.tries + 1, None
            if isinstance(one.work, Line):
                self._homes.pop(one.work.stream, None)
            if one.tries >= self._tries:
                self._settle(one, Outcome(error=BusyError("the model's process ended")))
            elif self._closing:
                self._settle(one, Outcome(error=BusyError("the server is shutting down")))
            elif not one.answer.done():
                self._queue.add(one, first=True)


def _work(batch: list[Waiting]) -> Work:
    first = batch[0].work
    if isinstance(first, Line):
        return first
    return Batch(tuple(one.work for one in batch if not isinstance(one.work, Line)))


def _stop(batch: list[Waiting], turn: Turn) -> None:
    """Ends a turn that nobody waits for."""
    if all(one.answer.done() for one in batch):
        turn.stop()
