"""Clients, and the queue of their waiting requests, which decides whose request is next.

Clients take turns by work, not by requests: the next client is the one that has been served the
least (start-time fair queuing: Goyal, Vin and Cheng 1996). A client that returns after a while
starts level with the least-served waiting client, so turns cannot be saved up. This needs only one
number per client. A heavy client delays a light one by at most the work that is running.

Twenty heavy clients would delay a light one by the work of twenty. So short requests and long ones
take turns too, by the same rule: while both wait, short ones are `SHARES["short"]` of the work.
"""

import asyncio
import itertools
import math
import time
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Any, Final, Literal, NamedTuple

from cachetools import LRUCache

from app.engine.jobs import ReplyJob, TraceJob
from app.engine.model_thread import Line
from app.http.problems import ProblemError, ReportedError
from model.progress import Progress

KNOWN = 4096  # number of stored budgets; one that is dropped starts full again


@dataclass(frozen=True)
class Client:
    """A client: an address, and one of a limited number of pages at it."""

    address: str
    page: int

    @classmethod
    def of(cls, address: str, token: str, max_clients: int) -> "Client":
        """Return the client of a page's random token, with up to `max_clients` per address."""
        return cls(address, zlib.crc32(token.encode()) % max_clients if token else 0)


NOBODY: Final = Client("", 0)

# The client whose request the current task answers; set when the request arrives.
asking: ContextVar[Client] = ContextVar("asking", default=NOBODY)


class SpentError(ReportedError):
    """A client has requested more work than allowed; it may retry after `retry_after` seconds."""

    def __init__(self, retry_after: float) -> None:
        super().__init__("this client has requested too much work for now")
        self.retry_after = retry_after

    def problem(self) -> ProblemError:
        headers = {"Retry-After": str(max(1, math.ceil(self.retry_after)))}
        return ProblemError(429, "too-many-requests", f"{self}; try again later", headers=headers)


class Budgets:
    """Token buckets: the work that each client, and each address, may still request.

    A bucket fills at `rate` per second up to `most`; an address's is `pages` times as large. Prices
    are those of `app.engine.jobs`.
    """

    def __init__(
        self,
        rate: float,
        most: float,
        pages: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.rate, self.most, self.pages, self.clock = rate, most, pages, clock
        self._left: LRUCache[Client | str, tuple[float, float]] = LRUCache(KNOWN)

    def charge(self, client: Client, price: float) -> None:
        """Take the price from both buckets. Raises SpentError if either has less."""
        now = self.clock()
        buckets: list[tuple[Client | str, int]] = [(client, 1), (client.address, self.pages)]
        budgets = [self._now(key, times, now) for key, times in buckets]
        lacks = [
            (price - have) / (self.rate * times)
            for have, (_, times) in zip(budgets, buckets, strict=True)
        ]
        if max(lacks) > 0:
            raise SpentError(max(lacks))
        for have, (key, _) in zip(budgets, buckets, strict=True):
            self._left[key] = have - price, now

    def _now(self, key: Client | str, times: int, now: float) -> float:
        budget, charged = self._left.get(key, (self.most * times, now))
        return min(self.most * times, budget + (now - charged) * self.rate * times)


Length = Literal["short", "long"]
SHARES: dict[Length, float] = {"short": 0.8, "long": 0.2}  # of the work, while both wait
WASTE = 2.0  # a row may join a batch if, with padding, it adds less than this many times its tokens
FREE = 64.0  # extra tokens that cost less than another batch


class Flow(NamedTuple):
    """A client's requests to a model, the short ones or the long ones."""

    model: str
    client: Client
    length: Length = "short"


@dataclass(eq=False)
class Waiting:
    """A job, or a stream's next line, that waits or runs, with the future of its result."""

    work: TraceJob | ReplyJob | Line
    flow: Flow
    price: float
    size: float  # tokens of its row in a batch
    reply: asyncio.Future[Any]
    askers: int = 0
    tries: int = 0
    stop: Callable[[], None] | None = None  # set while it runs
    progress: Progress | None = None  # of long work; None until it runs
    since: float = field(default_factory=time.monotonic)

    @property
    def model(self) -> str:
        """The model's id in the catalog."""
        return self.flow.model

    @property
    def kind(self) -> str:
        """Kind of work: "line" for a stream's next line, "trace" for any other request."""
        return "line" if isinstance(self.work, Line) else "trace"


class Idle(NamedTuple):
    """A client without a waiting request, until it waits again: then it is out of date."""

    served: float
    number: int
    flow: Flow


@dataclass
class FairQueue:
    """Requests by model and client; each client's are in order of arrival."""

    flows: dict[Flow, deque[Waiting]] = field(default_factory=dict)
    served: dict[Flow, float] = field(default_factory=dict)  # work done for each
    # Of each length, a heap of clients that do not wait: first the one that others overtake next.
    idle: dict[Length, list[Idle]] = field(
        default_factory=lambda: {length: [] for length in SHARES}
    )
    numbers: Iterator[int] = field(default_factory=itertools.count)
    # Of each length: the work done for the client served last, and that for all, by its share.
    now: dict[Length, float] = field(default_factory=lambda: dict.fromkeys(SHARES, 0.0))
    done: dict[Length, float] = field(default_factory=lambda: dict.fromkeys(SHARES, 0.0))
    turn: float = 0.0  # of the length served last, what was done before

    def __len__(self) -> int:
        return sum(map(len, self.flows.values()))

    def __iter__(self) -> Iterator[Waiting]:
        return (waiting for flow in self.flows.values() for waiting in flow)

    def count(self, model: str) -> int:
        """Return how many requests wait for a model."""
        return sum(len(entries) for flow, entries in self.flows.items() if flow.model == model)

    def add(self, waiting: Waiting, *, first: bool = False) -> None:
        """Add a request behind its client's others, or in front of them."""
        flow, length = self.flows.get(waiting.flow), waiting.flow.length
        if flow is None:
            if not any(flow_queued.length == length for flow_queued in self.flows):
                self.done[length] = max(self.done[length], self.turn)
            flow = self.flows[waiting.flow] = deque()
            self.served[waiting.flow] = max(self.served.get(waiting.flow, 0.0), self.now[length])
        if first:
            flow.appendleft(waiting)
        else:
            flow.append(waiting)

    def remove(self, waiting: Waiting) -> bool:
        """Remove a request; return whether it was waiting."""
        flow = self.flows.get(waiting.flow)
        if not flow or waiting not in flow:
            return False
        flow.remove(waiting)
        if not flow:
            del self.flows[waiting.flow]
            self._keep(waiting.flow)
        return True

    def ahead(self, flow: Flow, cost: float) -> float:
        """Return the work that is done before a new request of a client that costs so much.

        All that the client has waiting, and of every other client as much as the new request: the
        turns are fair, so a client with a long queue does not delay the others for its length. Of
        requests of the other length, as much as they are served in the meantime.
        """
        waits = {
            client: sum(one.price for one in entries) for client, entries in self.flows.items()
        }
        own_wait = waits.pop(flow, 0.0)
        alike = own_wait + sum(
            min(waits[client_alike], cost)
            for client_alike in waits
            if client_alike.length == flow.length
        )
        wait_of_other_lengths = sum(
            waits[client_other] for client_other in waits if client_other.length != flow.length
        )
        share = SHARES[flow.length]
        return alike + min(wait_of_other_lengths, (alike + cost) * (1 - share) / share)

    def had(self, flow: Flow) -> float:
        """Return the work done for a client, including running work."""
        return self.served.get(flow, self.now[flow.length])

    def order(self, flow: Flow) -> tuple[float, float]:
        """Return what its turn follows from, the lowest first; running work is included."""
        return self.done[flow.length], self.had(flow)

    def displaced(self, by: Flow) -> Waiting | None:
        """Return the request to remove from a full queue for a newcomer's; None if there is none.

        It is the last request of the client with the most, if that client has at least two more
        than the newcomer.
        """
        rivals = [flow for flow in self.flows if flow.model == by.model]
        longest = max(rivals, key=lambda flow: len(self.flows[flow]), default=by)
        if len(self.flows.get(longest, ())) < len(self.flows.get(by, ())) + 2:
            return None
        return self.flows[longest][-1]

    def heads(self) -> list[Waiting]:
        """Return the first request of each client, in the order of their turns."""
        flows = sorted(self.flows, key=self.order)
        return [self.flows[flow][0] for flow in flows]

    def take(self, head: Waiting, limit: int) -> list[Waiting]:
        """Remove `head` and, if it is a trace, others for its model that fit its batch."""
        length = head.flow.length
        batch = [head]
        if isinstance(head.work, TraceJob) and not head.tries:
            batch += fitting(head, self._others(head), limit - 1)
        self.turn = max(self.turn, self.done[length])
        self.now[length] = max(self.now[length], self.served[head.flow])
        for waiting in batch:
            self.done[length] += waiting.price / SHARES[length]
            self.served[waiting.flow] += waiting.price
            self.remove(waiting)
        self._forget(length)
        return batch

    def _others(self, head: Waiting) -> list[Waiting]:
        """Return traces of the same length and model: the first of each client, then the second."""
        model, _, length = head.flow
        alike = [
            flow_alike
            for flow_alike in self.flows
            if (flow_alike.model, flow_alike.length) == (model, length)
        ]
        flows = sorted(alike, key=lambda flow: self.served[flow])
        ranked = [
            (rank, place, waiting)
            for place, flow in enumerate(flows)
            for rank, waiting in enumerate(self.flows[flow])
            if waiting is not head and isinstance(waiting.work, TraceJob) and not waiting.tries
        ]
        return [waiting for *_, waiting in sorted(ranked, key=lambda entry: entry[:2])]

    def _keep(self, flow: Flow) -> None:
        """Remember a client that does not wait any more.

        If there are very many, drop the next that would be overtaken, since clients that send only
        one request never are.
        """
        idle = self.idle[flow.length]
        heappush(idle, Idle(self.served[flow], next(self.numbers), flow))
        if len(idle) > KNOWN:
            self._drop(heappop(idle))

    def _forget(self, length: Length) -> None:
        """Drop clients that others have overtaken; they start afresh when they return."""
        idle = self.idle[length]
        while idle and idle[0].served <= self.now[length]:
            self._drop(heappop(idle))

    def _drop(self, idle: Idle) -> None:
        if idle.flow not in self.flows and self.served.get(idle.flow) == idle.served:
            del self.served[idle.flow]


def fitting(head: Waiting, candidates: Sequence[Waiting], limit: int) -> list[Waiting]:
    """Return the requests that join a batch: the nearest in length, with little padding."""
    nearest = sorted(candidates, key=lambda waiting: abs(waiting.size - head.size))
    chosen: list[Waiting] = []
    longest = head.size
    for waiting in nearest:
        if len(chosen) == limit:
            break
        longer = max(longest, waiting.size)
        added = longer * (len(chosen) + 2) - longest * (len(chosen) + 1)
        if added < WASTE * waiting.size + FREE:  # never of an infinite size
            chosen.append(waiting)
            longest = longer
    chosen_ids = set(map(id, chosen))
    return [waiting for waiting in candidates if id(waiting) in chosen_ids]
