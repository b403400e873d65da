"""What waits, and whose turn it is.

Clients take turns by work and not by requests: the next is whoever has had the least (start-time
fair queuing: Goyal, Vin and Cheng 1996). Someone who comes after a while begins where the
least-served of those who wait is, so nobody saves turns up. It needs one number a client, where
deficit round robin needs a ring and a deficit; a heavy client delays a light one by at most what is
running.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.engine.clients import Client
from app.engine.jobs import AnswerJob, TraceJob
from app.engine.worker import Line

Flow = tuple[str, Client]  # a model's requests of a client
WASTE = 2.0  # a row that joins a batch adds at most so many times its own tokens, with padding
FREE = 64.0  # tokens that cost less than another batch
KNOWN = 4096  # clients remembered; beyond that, the first who do not wait are forgotten


@dataclass(eq=False)
class Waiting:
    """What waits or runs: a job, or a stream's next line; and where the result goes."""

    work: TraceJob | AnswerJob | Line
    flow: Flow
    price: float
    size: float  # tokens of its row in a batch
    answer: asyncio.Future[Any]
    askers: int = 0
    tries: int = 0
    stop: Callable[[], None] | None = None  # while it runs
    since: float = field(default_factory=time.monotonic)

    @property
    def model(self) -> str:
        """An id of the catalog."""
        return self.flow[0]

    @property
    def kind(self) -> str:
        """A stream's next line, or a request that has one reply."""
        return "line" if isinstance(self.work, Line) else "trace"


@dataclass
class FairQueue:
    """Requests by model and client, each client's in the order in which they came."""

    flows: dict[Flow, deque[Waiting]] = field(default_factory=dict)
    served: dict[Flow, float] = field(default_factory=dict)  # work that each has had
    now: float = 0.0  # what the one last served had had

    def __len__(self) -> int:
        return sum(map(len, self.flows.values()))

    def __iter__(self) -> Iterator[Waiting]:
        return (one for flow in self.flows.values() for one in flow)

    def count(self, model: str) -> int:
        """How many wait for a model."""
        return sum(len(some) for (name, _), some in self.flows.items() if name == model)

    def add(self, one: Waiting, *, first: bool = False) -> None:
        """Puts it behind its client's others, or before them."""
        flow = self.flows.get(one.flow)
        if flow is None:
            flow = self.flows[one.flow] = deque()
            self.served[one.flow] = max(self.served.get(one.flow, 0.0), self.now)
        if first:
            flow.appendleft(one)
        else:
            flow.append(one)

    def remove(self, one: Waiting) -> None:
        """Takes one out that waits; does nothing where it does not."""
        flow = self.flows.get(one.flow)
        if flow and one in flow:
            flow.remove(one)
            if not flow:
                del self.flows[one.flow]

    def had(self, flow: Flow) -> float:
        """The work that a client has had, with what it runs now."""
        return self.served.get(flow, self.now)

    def displaced(self, by: Flow) -> Waiting | None:
        """Who gives a place up in a full queue: the last of whoever has the most; None: nobody.

        Only one who has at least two more than the newcomer does.
        """
        model, _ = by
        rivals = [flow for flow in self.flows if flow[0] == model]
        most = max(rivals, key=lambda flow: len(self.flows[flow]), default=by)
        if len(self.flows.get(most, ())) < len(self.flows.get(by, ())) + 2:
            return None
        return self.flows[most][-1]

    def heads(self) -> list[Waiting]:
        """The first of each client, who has had the least first."""
        flows = sorted(self.flows, key=lambda flow: self.served[flow])
        return [self.flows[flow][0] for flow in flows]

    def take(self, head: Waiting, most: int) -> list[Waiting]:
        """Takes `head` out and, if it is a trace, others of its model that fit its batch."""
        batch = [head]
        if isinstance(head.work, TraceJob) and not head.tries:
            batch += fitting(head, self._others(head), most - 1)
        self.now = max(self.now, self.served[head.flow])
        for one in batch:
            self.served[one.flow] += one.price
            self.remove(one)
        self._forget()
        return batch

    def _others(self, head: Waiting) -> list[Waiting]:
        """Traces for the same model: first the first of each client, then the second."""
        flows = sorted(
            (flow for flow in self.flows if flow[0] == head.model),
            key=lambda flow: self.served[flow],
        )
        ranked = [
            (rank, place, one)
            for place, flow in enumerate(flows)
            for rank, one in enumerate(self.flows[flow])
            if one is not head and isinstance(one.work, TraceJob) and not one.tries
        ]
        return [one for *_, one in sorted(ranked, key=lambda entry: entry[:2])]

    def _forget(self) -> None:
        """Those whom the others have overtaken begin anew when they come again.

        So do the earliest of very many: who comes once is overtaken by nobody who comes once too.
        """
        for flow in [one for one in self.served if one not in self.flows]:
            if self.served[flow] <= self.now or len(self.served) > KNOWN:
                del self.served[flow]


def fitting(head: Waiting, others: Sequence[Waiting], most: int) -> list[Waiting]:
    """Of the others, those that join a batch: the nearest in length, while padding is little."""
    nearest = sorted(others, key=lambda one: abs(one.size - head.size))
    chosen: list[Waiting] = []
    longest = head.size
    for one in nearest:
        if len(chosen) == most:
            break
        longer = max(longest, one.size)
        added = longer * (len(chosen) + 2) - longest * (len(chosen) + 1)
        if added <= WASTE * one.size + FREE:
            chosen.append(one)
            longest = longer
    kept = set(map(id, chosen))
    return [one for one in others if id(one) in kept]
