"""The engine: requests wait in one fair, limited queue and run in batches, off the event loop.

    trace  ─▶ cached? ─▶ already requested? ─▶ queue ─▶ batch    ─▶ runner ─▶ replies

    stream ─────────────────────────────────▶ queue ─▶ one line ─▶ runner ─▶ line, and again

The queue fills while every runner is busy, so batches grow with the load, and a lone request never
waits for others. A request whose client has disconnected, or that waited too long, is removed; if
no one waits for a running batch any more, it stops before its next layer.

A stream requests its next line when its client has taken the previous one, and then queues behind
all requests that arrived in the meantime. A long stream therefore delays others by only one line at
a time. It ends when its client disconnects.
"""

import asyncio
import itertools
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self, cast

from app.engine.fair_queue import NOBODY, Budgets, Client, FairQueue, Flow, Waiting, asking
from app.engine.jobs import Encoded, ReplyJob, StreamJob, TraceJob, price, size
from app.engine.jobs import running as running_price
from app.engine.load_shedding import RETRY_SECONDS, Level, Running, Schedule, ServiceLevel
from app.engine.long_text_pictures import LongJob
from app.engine.model_thread import Batch, Line, Outcome, Work
from app.engine.runners import CachedPassRunners, CrashedError, Runner, Runners, Turn
from app.http.problems import ProblemError, ReportedError
from app.http.tasks_and_caches import ByteCache
from model.adapters.requests.request import Request
from model.errors import Excess, InputError
from model.progress import Progress

TYPICAL = Request("The animal didn't cross the street because it was too tired.")
ENDING_SECONDS = 10.0  # for running work, when the engine is closed
SHORT = 3.0  # times the price of such a sentence, up to which a request is short


class BusyError(ReportedError):
    """The model cannot take this request now; the client may retry after `retry_after` seconds."""

    def __init__(self, detail: str, retry_after: int = RETRY_SECONDS) -> None:
        super().__init__(detail)
        self.retry_after = retry_after

    def problem(self) -> ProblemError:
        headers = {"Retry-After": str(self.retry_after)}
        return ProblemError(503, "busy", f"{self}; try again shortly", headers=headers)


@dataclass(frozen=True)
class Bounds:
    """Limits of the engine."""

    max_queue: int = 512  # requests waiting for a model
    max_batch: int = 8
    max_wait_seconds: float = 30.0
    max_price: float = float("inf")
    max_long_seconds: float = 600.0  # for pictures of a long text, instead of `max_wait_seconds`
    max_streams: int = 64  # open streams of a model


class Engine:
    """Runs jobs on the models; used as `async with Engine(…) as engine`."""

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
        self._on_batch = on_batch  # called with each batch's kind and its waiting times
        self.runners = models.runners
        self._tries = models.tries
        self._queue = FairQueue()
        self._coming: dict[Hashable, Waiting] = {}  # requested, waiting or running
        self._running: dict[Runner, list[Running]] = {runner: [] for runner in self.runners}
        self._turns: set[asyncio.Task[None]] = set()
        self._streams: Counter[Flow] = Counter()
        self._numbers = itertools.count()
        self._homes: dict[int, Runner] = {}  # the runner of each stream's lines
        self._passes = CachedPassRunners()
        self._schedule = Schedule(
            self._running, self.listing.at_once, self._queue.order, self._home
        )
        self._closing = False
        self.service = ServiceLevel(len(self.runners), bounds.max_wait_seconds)
        self._since: dict[Runner, float] = {}  # when it last started or finished a batch
        self._busy = dict.fromkeys(self.runners, 0.0)  # seconds that are not measured yet
        self._sentence = running_price(TYPICAL, next(iter(self.listing.values())))

    @property
    def waiting(self) -> int:
        """Number of requests waiting for a model."""
        return len(self._queue)

    @property
    def wait(self) -> float:
        """Expected wait in seconds of a newcomer's sentence of usual length."""
        return self.service.wait(self._ahead)

    @property
    def level(self) -> Level:
        """The level of service for such a sentence."""
        return self.service.level(self._ahead)

    @property
    def pace(self) -> float:
        """Seconds after which a client that was answered sends its next request."""
        return self.service.pace(self._ahead)

    @property
    def _ahead(self) -> float:
        return self._queue.ahead(Flow("", NOBODY), self._sentence)

    @property
    def sentence_seconds(self) -> float | None:
        """Seconds that a model lately took for a sentence of usual length; None: not measured."""
        return self.service.seconds(self._sentence) if self.service.measured else None

    @property
    def streams(self) -> int:
        """Number of open streams."""
        return self._streams.total()

    async def run(self, job: TraceJob | ReplyJob) -> Encoded:
        """Run one job and return its reply.

        Raises InputError for bad input and for jobs that cost too much, SpentError for a client
        that has requested too much, BusyError if the queue is full, the wait too long, or the
        server shutting down. Cancelling the call removes the job from the queue.
        """
        cached = self.cache.get(job)
        if cached is not None:
            return cast(Encoded, cached)
        place = self._coming.get(job)
        if place is None:
            cost = self._price(job)
            flow = self._flow(job.model, cost)
            self._admit(flow, cost)
            place = self._enqueue(job, flow, cost, size(job, self.listing[job.model]))
            self._coming[job] = place
        return cast(Encoded, await self._reply_of(place))

    def progress(self, job: TraceJob | ReplyJob) -> Progress | None:
        """Return how far a requested job is; None if it waits in the queue."""
        place = self._coming.get(job)
        return place.progress if place else None

    async def stream(self, job: StreamJob) -> AsyncGenerator[bytes, None]:
        """Yield the lines, each computed when it is requested.

        Raises the same as `run` before the first line; also BusyError if too many streams are open,
        and later if the wait is too long or the server is shutting down.
        When cancelled or closed, no further line is computed.
        """
        cost = job.line_price(self.listing[job.model])
        flow = self._flow(job.model, cost)
        whole = self._price(job)
        self._admit_stream(flow)
        self._admit(flow, whole)
        number = next(self._numbers)
        self._streams[flow] += 1
        try:
            for index in itertools.count():
                place = self._enqueue(Line(number, job, index), flow, cost, 0.0)
                line = await self._reply_of(place)
                if line is None:
                    return
                yield line
        finally:
            self._streams[flow] -= 1
            home = self._homes.pop(number, None)
            if home is not None:
                home.forget(number)

    def _price(self, job: TraceJob | ReplyJob | StreamJob) -> float:
        """Return the price of a job. Raises InputError if that is more than allowed."""
        info, max_price = self.listing[job.model], self.bounds.max_price
        is_kept = isinstance(job, LongJob) and self._passes.is_kept(job.key)
        cost = job.view_price(info) if is_kept and isinstance(job, LongJob) else price(job, info)
        if cost > max_price:
            detail = f"this needs {cost:.0f} units of work; at most {max_price:.0f} are allowed"
            raise InputError(
                "too-much-work", "", detail, Excess(int(max_price), "units", int(cost))
            )
        return cost

    def _flow(self, model: str, cost: float) -> Flow:
        """Return the flow of the current client's requests that cost so much."""
        short = cost <= SHORT * running_price(TYPICAL, self.listing[model])
        return Flow(model, asking.get(), "short" if short else "long")

    def charge(self, cost: float) -> None:
        """Charge the current client for work that is done outside the engine.

        Raises SpentError for a client that has requested too much.
        """
        self._pay(asking.get(), cost)

    def _pay(self, client: Client, cost: float) -> None:
        if self.budgets and client != NOBODY:
            self.budgets.charge(client, cost)

    def _admit(self, flow: Flow, cost: float) -> None:
        """Make room in the queue and charge the client; a refused request costs nothing.

        Raises BusyError if the wait would be too long or the queue is full, and SpentError.
        """
        ahead = self._queue.ahead(flow, cost)
        if self.service.level(ahead) == "refusing":
            detail = f"the model is busy for more than {self.bounds.max_wait_seconds:g} seconds"
            raise BusyError(detail, self.service.retry(ahead))
        max_queue = self.bounds.max_queue
        busy = BusyError(f"{max_queue} requests are already waiting for the model")
        full = self._queue.count(flow.model) >= max_queue
        greedy = self._queue.displaced(flow) if full else None
        if full and greedy is None:
            raise busy
        self.charge(cost)
        if greedy is not None:
            self._withdraw(greedy)
            self._settle(greedy, Outcome(error=busy))

    def _withdraw(self, place: Waiting) -> None:
        """Remove a request from the queue; if it never ran, its client gets its price back."""
        if self._queue.remove(place) and not place.tries and not isinstance(place.work, Line):
            self._pay(place.flow.client, -place.price)

    def _admit_stream(self, flow: Flow) -> None:
        """Admit at most `max_streams` streams of a model, and half of that per client."""
        max_streams = self.bounds.max_streams
        open_ = sum(
            n for flow_queued, n in self._streams.items() if flow_queued.model == flow.model
        )
        if open_ >= max_streams or (
            flow.client.address and self._streams[flow] >= (max_streams + 1) // 2
        ):
            raise BusyError(f"{max_streams} streams of the model are already open")

    def _enqueue(
        self, work: TraceJob | ReplyJob | Line, flow: Flow, cost: float, tokens: float
    ) -> Waiting:
        if self._closing:
            raise BusyError("the server is shutting down")
        reply = asyncio.get_running_loop().create_future()
        place = Waiting(work, flow, cost, tokens, reply)
        self._queue.add(place)
        self._dispatch()
        return place

    async def _reply_of(self, place: Waiting) -> Any:
        place.askers += 1
        long = isinstance(place.work, LongJob)
        seconds = self.bounds.max_long_seconds if long else self.bounds.max_wait_seconds
        try:
            async with asyncio.timeout(seconds):
                return await asyncio.shield(place.reply)
        except TimeoutError as error:
            raise BusyError(f"the model took more than {seconds:g} seconds") from error
        finally:
            place.askers -= 1
            if not place.askers and not place.reply.done():
                self._abandon(place)

    def _abandon(self, place: Waiting) -> None:
        """Drop a request that no one waits for any more."""
        place.reply.cancel()
        self._forget(place)
        self._withdraw(place)
        if place.stop:
            place.stop()

    def _forget(self, place: Waiting) -> None:
        if not isinstance(place.work, Line) and self._coming.get(place.work) is place:
            del self._coming[place.work]

    def _settle(self, place: Waiting, outcome: Outcome) -> None:
        self._forget(place)
        if place.reply.done():  # its client has disconnected
            return
        if outcome.error is not None:
            place.reply.set_exception(outcome.error)
            place.reply.exception()  # mark it as retrieved, even if no one waits
            return
        if isinstance(outcome.result, Encoded):
            self.cache.keep(place.work, outcome.result)
        place.reply.set_result(outcome.result)

    async def __aenter__(self) -> Self:
        for runner in self.runners:
            runner.open(self._dispatch)
        return self

    async def __aexit__(self, *_: object) -> None:
        """Let running batches finish, and refuse the waiting requests.

        Work that does not stop when no one waits for it ends with its process.
        """
        self._closing = True
        for waiting in list(self._queue):
            self._withdraw(waiting)
            self._settle(waiting, Outcome(error=BusyError("the server is shutting down")))
        if self._turns:
            await asyncio.wait(self._turns, timeout=ENDING_SECONDS)
        for runner in self.runners:
            await runner.close()
        await asyncio.gather(*self._turns)

    def _dispatch(self) -> None:
        """Give waiting work to runners that have room."""
        while not self._closing and (scheduled := self._schedule.next(self._queue.heads())):
            head, runner, urgent = scheduled.head, scheduled.runner, scheduled.urgent
            batch = self._queue.take(head, self.bounds.max_batch)
            prices = [waiting.price for waiting in batch]
            running = Running(head, max(prices), sum(prices), urgent)
            self._account(runner)
            self._running[runner].append(running)
            if isinstance(head.work, Line):
                self._homes[head.work.stream] = runner
            if isinstance(head.work, LongJob):
                self._passes.start(head.work.key, runner)
            now = time.monotonic()
            self._on_batch(head.kind, [now - waiting.since for waiting in batch])
            turn = runner.start(_work(batch), urgent, partial(_advance, batch))
            _advance(batch, Progress("pass"))
            for waiting in batch:
                waiting.stop = lambda batch=batch, turn=turn: _stop(batch, turn)
            task = asyncio.ensure_future(self._finish(batch, runner, running, turn))
            self._turns.add(task)
            task.add_done_callback(self._turns.discard)

    def _home(self, waiting: Waiting) -> Runner | None:
        """Return the runner that made the first line of a stream, or the pass of a long text."""
        match waiting.work:
            case Line(stream):
                return self._homes.get(stream)
            case LongJob():
                return self._passes.home(waiting.work.key)
        return None

    async def _finish(
        self, batch: list[Waiting], runner: Runner, running: Running, turn: Turn
    ) -> None:
        try:
            outcomes = await turn.done
        except CrashedError:
            self._passes.lose(runner)
            self._crashed(batch)
        else:
            for waiting, outcome in zip(batch, outcomes, strict=True):
                if isinstance(waiting.work, LongJob):
                    passes = outcome.result.passes if outcome.result else None
                    self._passes.end(waiting.work.key, runner, passes)
                self._settle(waiting, outcome)
        self._account(runner, running.work)
        self._running[runner].remove(running)
        self._dispatch()

    def _account(self, runner: Runner, work: float = 0.0) -> None:
        """Count the time since a runner last started or finished a batch, if it was busy."""
        now = asyncio.get_running_loop().time()
        since, self._since[runner] = self._since.get(runner, now), now
        if self._running[runner]:
            self._busy[runner] += now - since
        if work:
            self.service.measure(self._busy[runner], work)
            self._busy[runner] = 0.0

    def _crashed(self, batch: list[Waiting]) -> None:
        """Retry each job alone, so that a job that crashes its process affects no other."""
        for waiting in batch:
            waiting.tries, waiting.stop, waiting.progress = waiting.tries + 1, None, None
            if isinstance(waiting.work, Line):
                self._homes.pop(waiting.work.stream, None)
            if waiting.tries >= self._tries:
                self._settle(waiting, Outcome(error=BusyError("the model's process ended")))
            elif self._closing:
                self._settle(waiting, Outcome(error=BusyError("the server is shutting down")))
            elif not waiting.reply.done():
                self._queue.add(waiting, first=True)


def _work(batch: list[Waiting]) -> Work:
    first = batch[0].work
    if isinstance(first, Line):
        return first
    return Batch(tuple(waiting.work for waiting in batch if not isinstance(waiting.work, Line)))


def _advance(batch: list[Waiting], progress: Progress) -> None:
    for waiting in batch:
        waiting.progress = progress


def _stop(batch: list[Waiting], turn: Turn) -> None:
    """Stop a turn that no one waits for."""
    if all(waiting.reply.done() for waiting in batch):
        turn.stop()
