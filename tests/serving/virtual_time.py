"""Engines in virtual time: a class of students on a runner whose costs are given.

The clock of the event loop jumps to the next timer, so that minutes of load take a second and the
same waits are found on every machine.
"""

import asyncio
import random
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

from app.engine.engine import Bounds, BusyError, Engine
from app.engine.fair_queue import Client, asking
from app.engine.jobs import Encoded, Encoding, TraceJob
from app.engine.model_listing import Listing
from app.engine.model_thread import Batch, Outcome, Work
from app.engine.runners import Runner, Runners, Turn
from app.http.file_formats import JSON
from model.adapters.requests.request import Request
from model.progress import Listener, ignore
from tests.serving.slow import Slow


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose time passes only while nothing is left to do."""

    _now = 0.0
    _ready: Any
    _scheduled: Any

    def time(self) -> float:
        return self._now

    def _run_once(self) -> None:
        if not self._ready and self._scheduled:
            self._now = max(self._now, self._scheduled[0].when())
        super()._run_once()  # type: ignore[misc]


def in_virtual_time(work: Coroutine[Any, Any, None]) -> None:
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(work)


@dataclass
class _Running:
    rows: int
    left: float  # seconds
    urgent: bool
    done: asyncio.Future[list[Outcome]]


class Priced(Runner):
    """A runner that takes `cost(rows)` seconds for a batch; urgent work makes the other pause."""

    ready = True

    def __init__(self, cost: Callable[[int], float]) -> None:
        self.cost = cost
        self.running: list[_Running] = []
        self._timer: asyncio.TimerHandle | None = None
        self._since = 0.0

    def open(self, changed: Callable[[], None]) -> None:
        pass

    def start(self, work: Work, urgent: bool = False, listener: Listener = ignore) -> Turn:
        assert isinstance(work, Batch)
        self._pass_time()
        done = asyncio.get_running_loop().create_future()
        rows = len(work.jobs)
        self.running.append(_Running(rows, self.cost(rows), urgent, done))
        self._wait()
        return Turn(done, lambda: None)

    def forget(self, stream: int) -> None:
        pass

    async def close(self) -> None:
        pass

    @property
    def _first(self) -> _Running:
        return max(self.running, key=lambda one: one.urgent)

    def _pass_time(self) -> None:
        now = asyncio.get_running_loop().time()
        if self.running:
            self._first.left -= now - self._since
        self._since = now

    def _wait(self) -> None:
        if self._timer:
            self._timer.cancel()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self._first.left, self._end) if self.running else None

    def _end(self) -> None:
        self._pass_time()
        one = self._first
        self.running.remove(one)
        one.done.set_result([Outcome(Encoded((b"",), 1)) for _ in range(one.rows)])
        self._wait()


def engine_of(runner: Runner, **bounds: Any) -> Engine:
    listing = Listing({"m": Slow.info}, {"m": ()}, 1)
    return Engine(Runners(listing, (runner,)), Bounds(**bounds))


def sentence_job(name: str) -> TraceJob:
    request = Request("The animal didn't cross the street because it was too tired.")
    return TraceJob("m", request, name, "float32", Encoding(JSON, 1))


@dataclass
class Class:
    """Students who each send a sentence every two seconds, as seldom as they are asked to."""

    times: list[float] = field(default_factory=list)
    refused: int = 0

    def at(self, share: float) -> float:
        return sorted(self.times)[int(share * (len(self.times) - 1))]

    async def run(self, engine: Engine, students: int, seconds: float) -> None:
        chance = random.Random(0)
        starts = [2 * chance.random() for _ in range(students)]
        async with engine:
            await asyncio.gather(
                *(self._student(engine, n, start, seconds) for n, start in enumerate(starts))
            )

    async def _student(self, engine: Engine, number: int, due: float, until: float) -> None:
        asking.set(Client("school", number))
        loop = asyncio.get_running_loop()
        while due < until:
            await asyncio.sleep(due - loop.time())
            start = loop.time()
            try:
                await engine.run(sentence_job(f"{number} at {due}"))
            except BusyError as busy:
                self.refused += 1
                due = loop.time() + busy.retry_after
                continue
            self.times.append(loop.time() - start)
            due = max(due + 2, loop.time() + engine.pace)
