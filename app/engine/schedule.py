"""Whose turn it is, where, and whether what runs there pauses for it.

The longer of two has paid already when it pauses, so others soon have had as much, and it goes on.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from app.engine.fair_queue import Flow, Waiting
from app.engine.runners import Runner

LONGER = 2.0  # what pauses for another takes at least so many times as long


@dataclass(frozen=True, eq=False)
class Running:
    """A batch that runs."""

    head: Waiting
    price: float  # of all of it
    urgent: bool


@dataclass(frozen=True)
class Next:
    """What runs next."""

    head: Waiting
    runner: Runner
    urgent: bool  # what runs there pauses


@dataclass(frozen=True)
class Schedule:
    """The rules, over what waits and runs now."""

    running: Mapping[Runner, Sequence[Running]]
    at_once: int  # models that may run side by side on one runner
    had: Callable[[Flow], float]  # the work that was done for a client
    home: Callable[[Waiting], Runner | None]  # where it must run; None: anywhere

    def next(self, heads: Iterable[Waiting]) -> Next | None:
        """The first of `heads`, fairest first, that a runner has room for."""
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
        """Whether it goes before what runs: something longer, of a client that has had more."""
        same = [one for one in running if one.head.model == head.model]
        if len(same) != 1 or any(one.urgent for one in running):
            return False
        [long] = same
        return (
            head.flow != long.head.flow
            and head.price * LONGER <= long.price
            and self.had(head.flow) <= self.had(long.head.flow)
        )
