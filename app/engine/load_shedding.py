"""How busy the models are, and what the server gives up for it.

The engine says how long its runners were busy and with how much work; that is their speed, in
seconds per unit of work (`app.engine.jobs`). It is measured while requests are answered,
without any work of its own. How long a request will wait follows from the work that goes before it:

    expected wait = work that goes first × seconds per unit / runners

| expected wait     | level      | what is given up                                               |
|-------------------|------------|----------------------------------------------------------------|
| under `NOTICED`   | "full"     | nothing                                                        |
| longer            | "paced"    | runs ahead of need, then frequency: each reply says how long   |
|                   |            | its client leaves the models to others before its next request |
| over `max_wait`   | "refusing" | requests: 503, with the time after which to retry              |

A reply is the same at every level. What is recorded is never left out: all weights cost 5 % of a
pass, and a later request for them would cost a whole one.

Decides which request runs next, on which runner, and whether running work pauses for it.

A long job that pauses has already been charged, so the others soon reach the same amount of work
and the job continues.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from app.engine.fair_queue import Flow, Waiting
from app.engine.runners import Runner

Level = Literal["full", "paced", "refusing"]

USUAL = 30e-6  # seconds per unit of work until some is measured
MEMORY = 0.9  # weight of the past, at each measured batch
NOTICED = 1 / 32  # seconds; `REST` times that is the pause in typing after which the page sends
REST = 8.0  # times the wait: a client waits for at most a ninth of its time
LONGEST_REST = 20.0  # seconds
RETRY_SECONDS = 2
LONGEST_RETRY = 30  # seconds; a page that is asked to wait longer gives up


class ServiceLevel:
    """Decides what is given up, given the speed of `runners` runners and the work before them."""

    def __init__(self, runners: int, max_wait: float) -> None:
        self.runners = max(1, runners)
        self.max_wait = max_wait
        self._busy = 0.0
        self._work = 0.0

    def measure(self, seconds: float, work: float) -> None:
        """Note that one runner was busy for some seconds and did this work."""
        self._busy = self._busy * MEMORY + seconds
        self._work = self._work * MEMORY + work

    @property
    def measured(self) -> bool:
        """Whether any work has been measured."""
        return self._work > 0

    def seconds(self, work: float) -> float:
        """Return how long one runner takes for this work."""
        return work * (self._busy / self._work if self.measured else USUAL)

    def wait(self, ahead: float) -> float:
        """Return the expected wait in seconds, given the work that goes first."""
        return self.seconds(ahead) / self.runners

    def level(self, ahead: float) -> Level:
        """Return the level of service of a request, given the work that goes first."""
        wait = self.wait(ahead)
        if wait > self.max_wait:
            return "refusing"
        return "paced" if wait >= NOTICED else "full"

    def pace(self, ahead: float) -> float:
        """Return after how many seconds a client that was answered sends its next request."""
        wait = self.wait(ahead)
        return min(REST * wait, LONGEST_REST) if wait >= NOTICED else 0.0

    def retry(self, ahead: float) -> int:
        """Return after how many seconds a refused client sends its request again."""
        over = self.wait(ahead) - self.max_wait / 2
        return math.ceil(min(max(over, RETRY_SECONDS), LONGEST_RETRY))


LONGER = 2.0  # a running job pauses only if it takes at least this many times as long


@dataclass(frozen=True, eq=False)
class Running:
    """A running batch.

    Requests in a batch run together, so a newcomer waits for all of them. It still interrupts only
    a request that is longer than itself: equal requests that interrupt each other are all later.
    """

    head: Waiting
    price: float  # of its most expensive request
    work: float  # of the whole batch
    urgent: bool


@dataclass(frozen=True)
class Next:
    """The request to run next, and its runner."""

    head: Waiting
    runner: Runner
    urgent: bool  # whether running work on that runner pauses


@dataclass(frozen=True)
class Schedule:
    """The rules of scheduling, given the waiting and the running work."""

    running: Mapping[Runner, Sequence[Running]]
    at_once: int  # models that may run at once on one runner
    order: Callable[[Flow], tuple[float, float]]  # what a client's turn follows from
    home: Callable[[Waiting], Runner | None]  # the runner that must run it; None: any

    def next(self, heads: Iterable[Waiting]) -> Next | None:
        """Return the first of `heads`, in order of fairness, that a runner has room for."""
        ready = [runner for runner in self.running if runner.ready]
        ready.sort(key=lambda runner: len(self.running[runner]))
        for head in heads if ready else ():
            able = [runner for runner in ready if self.home(head) in (None, runner)]
            for runner in able:
                if self._has_room(head, runner):
                    return Next(head, runner, urgent=False)
            for runner in able:
                if self._interrupts(head, self.running[runner]):
                    return Next(head, runner, urgent=True)
        return None

    def _has_room(self, head: Waiting, runner: Runner) -> bool:
        running = self.running[runner]
        busy = any(batch.head.model == head.model for batch in running)
        return len(running) < self.at_once and not busy

    def _interrupts(self, head: Waiting, running: Sequence[Running]) -> bool:
        """Return whether a request precedes running work: longer work, of which it is the turn."""
        of_model = [batch for batch in running if batch.head.model == head.model]
        if len(of_model) != 1 or any(batch.urgent for batch in running):
            return False
        [long] = of_model
        return (
            head.flow != long.head.flow
            and head.price * LONGER <= long.price
            and self.order(head.flow) <= self.order(long.head.flow)
        )
