"""Decides which request runs next, on which runner, and whether running work pauses for it.

A long job that pauses has already been charged, so the others soon reach the same amount of work
and the job continues.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from app.engine.fair_queue import Flow, Waiting
from app.engine.runners import Runner

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
        ready.sort(key=lambda one: len(self.running[one]))
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
        busy = any(one.head.model == head.model for one in running)
        return len(running) < self.at_once and not busy

    def _interrupts(self, head: Waiting, running: Sequence[Running]) -> bool:
        """Return whether a request precedes running work: longer work, of which it is the turn."""
        same = [one for one in running if one.head.model == head.model]
        if len(same) != 1 or any(one.urgent for one in running):
            return False
        [long] = same
        return (
            head.flow != long.head.flow
            and head.price * LONGER <= long.price
            and self.order(head.flow) <= self.order(long.head.flow)
        )
