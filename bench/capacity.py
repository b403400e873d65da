"""`python -m bench.capacity`: compute how many students a server can serve, from measured times.

A discrete-event simulation, not a measurement. As in `bench.load`, a student sends a sentence every
two seconds, or later, when the previous one has been answered. A server processes and queues each
sentence. As in `app.engine` and `app.scale`, a free slot sends up to eight waiting sentences to the
less busy of two replicas. Only the points of docs/bench.md in `Measured` are measured.
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
GOAL = 0.150  # seconds within which 95 % of requests should be answered
# With many students, measured times are up to this factor above simulated ones, since clients and
# drafts share the cores and sentences differ. The goal counts as met with this margin.
FACTOR = 2.1


@dataclass(frozen=True)
class Measured:
    """Measurements of docs/bench.md on two cores, in seconds and requests per second."""

    run: float = 0.0177  # time of one user's sentence in the engine
    client: float = 0.0022  # time of a request in the measuring client
    server: float = 0.0030  # time of a request in the server's process and the pipe to the engine
    saturated: float = 100.2  # replies to 32 clients that send their next sentence at once
    alone: float = 0.022  # one user: p50
    students: int = 40
    p50: float = 0.038  # of this many students
    p95: float = 0.098


MEASURED = Measured()


@dataclass(frozen=True)
class Times:
    """Seconds that work takes; a batch of n takes `base + n × each`."""

    base: float
    each: float
    server: float = MEASURED.server
    client: float = MEASURED.client
    hop: float = 0.0  # transfer of a batch to a replica and back, during which the replica is free

    @classmethod
    def fitted(cls, measured: Measured = MEASURED) -> "Times":
        """Fit the times to a batch of one and a full batch; no other measurement is used."""
        full = BATCH / measured.saturated
        per_sentence = (full - measured.run) / (BATCH - 1)
        return cls(measured.run - per_sentence, per_sentence, measured.server, measured.client)


@dataclass(frozen=True)
class Site:
    """Servers, the replicas that run their batches, and batches per server at once."""

    name: str
    times: Times
    servers: int = 1
    replicas: int = 1
    slots: int = 1


@dataclass
class Seen:
    """The response times of students, after the warm-up."""

    seconds: float
    times: list[float] = field(default_factory=list)
    refused: int = 0

    def at(self, share: float) -> float:
        """Return the time within which this share of the requests was answered."""
        return sorted(self.times)[min(len(self.times) - 1, int(share * len(self.times)))]

    @property
    def rate(self) -> float:
        """Replies per second."""
        return len(self.times) / self.seconds

    @property
    def good(self) -> bool:
        """Whether the goal is met with the margin, and no request is refused."""
        return not self.refused and bool(self.times) and FACTOR * self.at(0.95) <= GOAL


class Simulation:
    """A discrete-event simulation of a site and its students."""

    def __init__(self, site: Site, students: int, interval: float, seed: int = 0) -> None:
        self.site, self.every = site, interval
        self.chance = random.Random(seed)
        self.now = 0.0
        self.numbers = itertools.count()  # events at the same time happen in order of creation
        self.events: list[tuple[float, int, Callable[[], None]]] = []
        self.queues = [deque[Callable[[], None]]() for _ in range(site.servers)]
        self.free_slots = [site.slots] * site.servers
        self.servers_free = [0.0] * site.servers  # when each server has finished its work
        self.replicas_free = [0.0] * site.replicas
        self.seen = Seen(0.0)
        for number in range(students):
            due = interval * self.chance.random()
            self.at(due, partial(self.ask, number % site.servers, due))

    def at(self, time: float, action: Callable[[], None]) -> None:
        """Schedule an event."""
        heapq.heappush(self.events, (time, next(self.numbers), action))

    def run(self, warm: float, seconds: float) -> Seen:
        """Simulate; return the response times in so many seconds after the warm-up."""
        for end, observed in ((warm, Seen(warm)), (warm + seconds, Seen(seconds))):
            self.seen = observed
            while self.events and self.events[0][0] <= end:
                self.now, _, action = heapq.heappop(self.events)
                action()
        return self.seen

    def ask(self, server: int, due: float) -> None:
        """Let a student send a sentence, which waits for its server."""
        begins = max(self.now, self.servers_free[server])
        self.servers_free[server] = begins + self.site.times.server
        answer = partial(self.answer, server, due, self.now)
        self.at(self.servers_free[server], partial(self.join, server, due, answer))

    def join(self, server: int, due: float, answer: Callable[[], None]) -> None:
        """Add a sentence to the queue, or refuse it if the queue is full."""
        if len(self.queues[server]) >= QUEUE:
            self.seen.refused += 1
            self.again(server, due, self.now)
            return
        self.queues[server].append(answer)
        self.dispatch(server)

    def dispatch(self, server: int) -> None:
        """Send waiting sentences through a free slot to the less busy of two replicas."""
        queue = self.queues[server]
        while queue and self.free_slots[server]:
            batch = [queue.popleft() for _ in range(min(BATCH, len(queue)))]
            pick = min(self.candidates(), key=lambda replica: self.replicas_free[replica])
            comes = self.now + self.site.times.hop / 2
            ends = max(comes, self.replicas_free[pick]) + self.site.times.base
            ends += self.site.times.each * len(batch)
            self.replicas_free[pick] = ends
            self.free_slots[server] -= 1
            self.at(ends + self.site.times.hop / 2, partial(self.ended, server, batch))

    def candidates(self) -> list[int]:
        """Draw two replicas; a single server knows which of its replicas are free."""
        replicas = range(self.site.replicas)
        return (
            list(replicas)
            if self.site.servers == 1
            else self.chance.sample(replicas, min(2, len(replicas)))
        )

    def ended(self, server: int, batch: list[Callable[[], None]]) -> None:
        """Finish a batch."""
        self.free_slots[server] += 1
        for answer in batch:
            answer()
        self.dispatch(server)

    def answer(self, server: int, due: float, sent: float) -> None:
        """Deliver a reply to a student."""
        came = self.now + self.site.times.client
        self.seen.times.append(came - sent)
        self.again(server, due, came)

    def again(self, server: int, due: float, free: float) -> None:
        """Let the student send the next sentence."""
        due += self.every
        next_time = max(due, free)
        self.at(next_time, partial(self.ask, server, due if self.every else next_time))


def simulate(site: Site, students: int, interval: float = EVERY, seconds: float = 20.0) -> Seen:
    """Simulate so many students at a site, after four seconds of warm-up."""
    return Simulation(site, students, interval).run(4.0, seconds)


def most(site: Site, highest: int = 1 << 17) -> int:
    """Return the most students for whom the goal is met, to within 5 %; 0 for none."""
    low, high = 0, 8
    while high < highest and simulate(site, high, seconds=6.0).good:
        low, high = high, high * 2
    while high - low > max(1, low // 20):
        middle = (low + high) // 2
        low, high = (middle, high) if simulate(site, middle, seconds=6.0).good else (low, middle)
    return low


LAPTOP = Site("a laptop: 2 cores", Times.fitted())
# Not measured: a batch on a GPU is assumed to take the time of its kernel launches, almost
# independent of the number of rows.
GPU = Times(base=0.012, each=0.0005)
LOAD = 0.3  # target load of a cluster: the rest is for bursts, and for failed machines
HOP = 0.005  # seconds through Ray instead of a pipe, measured on one busy machine


def over_network(times: Times) -> Times:
    """Return the times with Ray between server and replica."""
    return replace(times, hop=HOP)


SITES = (
    LAPTOP,
    Site("one server: 16 cores, 7 engines", Times.fitted(), 1, 7, 7),
    Site("one server with a GPU (assumed times)", GPU),
    Site("4 servers, 16 replicas", over_network(Times.fitted()), 4, 16, 4),
    Site("4 servers, 4 GPUs (assumed times)", over_network(GPU), 4, 4, 1),
)


def cluster_for(students: int, times: Times, name: str) -> Site:
    """Return a cluster that full batches keep busy for 30 % of the time."""
    rate = students / EVERY
    servers = max(2, math.ceil(rate * times.server / LOAD))
    replicas = max(2, math.ceil(rate * (times.base / BATCH + times.each) / LOAD))
    slots = max(1, round(replicas / servers))  # with more slots, batches would not be full
    return Site(name, times, servers, replicas, slots)


def checked() -> Iterator[str]:
    """Yield a table of measured and simulated values."""
    yield "| On two cores | measured | simulated |"
    yield "|---|--:|--:|"
    alone = simulate(LAPTOP, 1, seconds=60.0)
    yield row("one user: p50 (fitted)", 1e3 * MEASURED.alone, 1e3 * alone.at(0.5), "ms")
    full = simulate(LAPTOP, 32, interval=0.0)
    yield row("32 clients at once (fitted)", MEASURED.saturated, full.rate, "a second")
    class_ = simulate(LAPTOP, MEASURED.students, seconds=60.0)
    for share, measured in ((0.5, MEASURED.p50), (0.95, MEASURED.p95)):
        name = f"{MEASURED.students} students: p{100 * share:.0f} (not fitted)"
        yield row(name, 1e3 * measured, 1e3 * class_.at(share), "ms")


def row(name: str, measured: float, simulated: float, unit: str) -> str:
    """Return a row of the table of measured and simulated values."""
    return f"| {name} | {measured:.0f} {unit} | {simulated:.0f} {unit} |"


def computed() -> Iterator[str]:
    """Yield tables of the capacity of sites, and of the clusters that many students need."""
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
            observed = simulate(site, students, seconds=6.0)
            met = "yes" if observed.good else "no"
            yield (
                f"| {students:,} | {site.servers} | {site.replicas} {kind} | {observed.rate:,.0f} "
                f"| {1e3 * observed.at(0.5):.0f} ms | {1e3 * observed.at(0.95):.0f} ms | {met} |"
            )


if __name__ == "__main__":
    for line in itertools.chain(checked(), [""], computed()):
        print(line, flush=True)
