"""`python -m bench.capacity`: compute how many students a server can serve, from measured times.

A discrete-event simulation, not a measurement: a student sends a sentence every two seconds, or
when the last one has been answered if that is later, as those of `bench.load` do; a server works on
each and queues it; a free slot takes what waits, up to eight, to the less busy of two replicas, as
`app.engine` and `app.scale` do. What is measured are the points of docs/bench.md below.
"""

import heapq
import itertools
import math
import random
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial

EVERY = 2.0  # seconds between a student's sentences
BATCH = 8  # HEADLIGHT_MAX_BATCH
QUEUE = 64  # HEADLIGHT_MAX_QUEUE
GOAL = 0.150  # seconds, within which 95 of 100 requests are to be answered
# Measured times of many students are up to so many times the simulated ones: clients and draft
# share the cores, and sentences are not alike. So a goal counts as met where this much is to spare.
FACTOR = 2.1


@dataclass(frozen=True)
class Measured:
    """Points of docs/bench.md, on two cores, in seconds and requests a second."""

    run: float = 0.0177  # the engine's, for one user's sentence
    client: float = 0.0022  # a request's time in the measuring client
    server: float = 0.0030  # a request's time in the server's process, and to the engine and back
    saturated: float = 100.2  # answers to 32 clients who send at once what they can
    alone: float = 0.022  # one user: p50
    students: int = 40
    p50: float = 0.038  # of these students
    p95: float = 0.098


MEASURED = Measured()


@dataclass(frozen=True)
class Times:
    """Seconds that work takes: a batch of n takes `base + n × each`."""

    base: float
    each: float
    server: float = MEASURED.server
    client: float = MEASURED.client
    hop: float = 0.0  # a batch's way to a replica and back, while which that is free

    @classmethod
    def fitted(cls, measured: Measured = MEASURED) -> "Times":
        """The line through a batch of one and a full batch; no other point is used."""
        full = BATCH / measured.saturated
        each = (full - measured.run) / (BATCH - 1)
        return cls(measured.run - each, each, measured.server, measured.client)


@dataclass(frozen=True)
class Site:
    """Servers, what runs their batches, and how many batches each server has there at once."""

    name: str
    times: Times
    servers: int = 1
    replicas: int = 1
    slots: int = 1


@dataclass
class Seen:
    """What students saw, once the first ones had been answered."""

    seconds: float
    times: list[float] = field(default_factory=list)
    refused: int = 0

    def at(self, share: float) -> float:
        """The time that this share of the requests is within."""
        return sorted(self.times)[min(len(self.times) - 1, int(share * len(self.times)))]

    @property
    def rate(self) -> float:
        """Answers a second."""
        return len(self.times) / self.seconds

    @property
    def good(self) -> bool:
        """Whether the goal is met, with the factor to spare, and nobody is refused."""
        return not self.refused and bool(self.times) and FACTOR * self.at(0.95) <= GOAL


class Simulation:
    """A site and its students, from one event to the next."""

    def __init__(self, site: Site, students: int, every: float, seed: int = 0) -> None:
        self.site, self.every = site, every
        self.chance = random.Random(seed)
        self.now = 0.0
        self.numbers = itertools.count()  # what is due together happens in the order of its making
        self.events: list[tuple[float, int, Callable[[], None]]] = []
        self.queues = [deque[Callable[[], None]]() for _ in range(site.servers)]
        self.free_slots = [site.slots] * site.servers
        self.servers_free = [0.0] * site.servers  # when each has done what it has
        self.replicas_free = [0.0] * site.replicas
        self.seen = Seen(0.0)
        for number in range(students):
            due = every * self.chance.random()
            self.at(due, partial(self.ask, number % site.servers, due))

    def at(self, when: float, what: Callable[[], None]) -> None:
        """Lets something happen."""
        heapq.heappush(self.events, (when, next(self.numbers), what))

    def run(self, warm: float, seconds: float) -> Seen:
        """Returns what was seen in so many seconds after the warm ones."""
        for end, seen in ((warm, Seen(warm)), (warm + seconds, Seen(seconds))):
            self.seen = seen
            while self.events and self.events[0][0] <= end:
                self.now, _, what = heapq.heappop(self.events)
                what()
        return self.seen

    def ask(self, server: int, due: float) -> None:
        """A student sends a sentence, which its server works on in turn."""
        begins = max(self.now, self.servers_free[server])
        self.servers_free[server] = begins + self.site.times.server
        answer = partial(self.answer, server, due, self.now)
        self.at(self.servers_free[server], partial(self.join, server, due, answer))

    def join(self, server: int, due: float, answer: Callable[[], None]) -> None:
        """It waits for a slot, or is refused."""
        if len(self.queues[server]) >= QUEUE:
            self.seen.refused += 1
            self.again(server, due, self.now)
            return
        self.queues[server].append(answer)
        self.dispatch(server)

    def dispatch(self, server: int) -> None:
        """A free slot takes what waits to the less busy of two replicas."""
        queue = self.queues[server]
        while queue and self.free_slots[server]:
            batch = [queue.popleft() for _ in range(min(BATCH, len(queue)))]
            pick = min(self.candidates(), key=lambda one: self.replicas_free[one])
            comes = self.now + self.site.times.hop / 2
            ends = max(comes, self.replicas_free[pick]) + self.site.times.base
            ends += self.site.times.each * len(batch)
            self.replicas_free[pick] = ends
            self.free_slots[server] -= 1
            self.at(ends + self.site.times.hop / 2, partial(self.ended, server, batch))

    def candidates(self) -> list[int]:
        """Two replicas; a single server knows which of its own are free."""
        every = range(self.site.replicas)
        return (
            list(every) if self.site.servers == 1 else self.chance.sample(every, min(2, len(every)))
        )

    def ended(self, server: int, batch: list[Callable[[], None]]) -> None:
        """A batch is done."""
        self.free_slots[server] += 1
        for answer in batch:
            answer()
        self.dispatch(server)

    def answer(self, server: int, due: float, sent: float) -> None:
        """A student has its answer."""
        came = self.now + self.site.times.client
        self.seen.times.append(came - sent)
        self.again(server, due, came)

    def again(self, server: int, due: float, free: float) -> None:
        """It types the next."""
        due += self.every
        when = max(due, free)
        self.at(when, partial(self.ask, server, due if self.every else when))


def simulate(site: Site, students: int, every: float = EVERY, seconds: float = 20.0) -> Seen:
    """What so many students see at a site, after four seconds."""
    return Simulation(site, students, every).run(4.0, seconds)


def most(site: Site, highest: int = 1 << 17) -> int:
    """The most students for whom the goal is met, to a twentieth; 0 for none."""
    low, high = 0, 8
    while high < highest and simulate(site, high, seconds=6.0).good:
        low, high = high, high * 2
    while high - low > max(1, low // 20):
        middle = (low + high) // 2
        low, high = (middle, high) if simulate(site, middle, seconds=6.0).good else (low, middle)
    return low


LAPTOP = Site("a laptop: 2 cores", Times.fitted())
# Not measured: a batch on a GPU is taken to cost its launches, and hardly more for more rows.
GPU = Times(base=0.012, each=0.0005)
LOAD = 0.3  # of a cluster: what is left is for clumps, and for the part that has just died
HOP = 0.005  # measured between processes of one busy machine: through Ray, or through a pipe


def over_network(times: Times) -> Times:
    """The same behind Ray."""
    return replace(times, hop=HOP)


SITES = (
    LAPTOP,
    Site("one server: 16 cores, 7 engines", Times.fitted(), 1, 7, 7),
    Site("one server with a GPU (assumed times)", GPU),
    Site("4 servers, 16 replicas", over_network(Times.fitted()), 4, 16, 4),
    Site("4 servers, 4 GPUs (assumed times)", over_network(GPU), 4, 4, 1),
)


def cluster_for(students: int, times: Times, name: str) -> Site:
    """A cluster that full batches would keep busy for three tenths of the time."""
    rate = students / EVERY
    servers = max(2, math.ceil(rate * times.server / LOAD))
    replicas = max(2, math.ceil(rate * (times.base / BATCH + times.each) / LOAD))
    slots = max(1, round(replicas / servers))  # more would take batches before they are full
    return Site(name, times, servers, replicas, slots)


def checked() -> Iterator[str]:
    """What was measured, beside what is simulated of the same."""
    yield "| On two cores | measured | simulated |"
    yield "|---|--:|--:|"
    alone = simulate(LAPTOP, 1, seconds=60.0)
    yield row("one user: p50 (fitted)", 1e3 * MEASURED.alone, 1e3 * alone.at(0.5), "ms")
    full = simulate(LAPTOP, 32, every=0.0)
    yield row("32 clients at once (fitted)", MEASURED.saturated, full.rate, "a second")
    class_ = simulate(LAPTOP, MEASURED.students, seconds=60.0)
    for share, seen in ((0.5, MEASURED.p50), (0.95, MEASURED.p95)):
        name = f"{MEASURED.students} students: p{100 * share:.0f} (not fitted)"
        yield row(name, 1e3 * seen, 1e3 * class_.at(share), "ms")


def row(name: str, measured: float, simulated: float, unit: str) -> str:
    """A line of the table that holds one against the other."""
    return f"| {name} | {measured:.0f} {unit} | {simulated:.0f} {unit} |"


def computed() -> Iterator[str]:
    """What sites serve, and what many students need."""
    yield "| Computed | most students |"
    yield "|---|--:|"
    for site in SITES:
        yield f"| {site.name} | {most(site):,} |"
    yield ""
    yield "| Computed: students | servers | replicas | answers a second | p50 | p95 | goal met |"
    yield "|--:|--:|--:|--:|--:|--:|--:|"
    for students in (1_000, 10_000, 100_000):
        for kind, times in (("CPU", Times.fitted()), ("GPU (assumed times)", GPU)):
            site = cluster_for(students, over_network(times), kind)
            seen = simulate(site, students, seconds=6.0)
            met = "yes" if seen.good else "no"
            yield (
                f"| {students:,} | {site.servers} | {site.replicas} {kind} | {seen.rate:,.0f} "
                f"| {1e3 * seen.at(0.5):.0f} ms | {1e3 * seen.at(0.95):.0f} ms | {met} |"
            )


if __name__ == "__main__":
    for line in itertools.chain(checked(), [""], computed()):
        print(line, flush=True)
