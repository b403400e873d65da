"""`python -m bench.load`: performance of a server under load, on this machine, over loopback.

Clients, server and model share the cores, so each result is a ratio, or is shown next to that of
the bare model in the same minute. Every sentence is new, so that no reply is cached. A student who
types sends the next sentence no sooner than the server asks for, as the page does, and sends again
what was refused.
"""

import argparse
import asyncio
import itertools
import random
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import torch

from bench.__main__ import machine
from model import Request, load
from model.adapters.requests.adapter_interface import Adapter
from tests.servers import running_app

WHO = ("cat", "dog", "bird", "child", "teacher", "student", "neighbour", "doctor", "farmer", "king")
LIKE = ("old", "young", "small", "quiet", "tired", "happy", "clever", "hungry", "friendly", "lazy")
DID = ("saw", "liked", "found", "watched", "remembered", "wanted", "painted", "sold", "visited")
WHAT = ("house", "garden", "river", "book", "picture", "street", "school", "song", "letter", "tree")
WHEN = ("yesterday", "in the morning", "last summer", "after school", "on Monday", "at night")
SELECT = ["*.weights"]
TYPING_SECONDS = 0.5
STUDENT_SECONDS = 2.0
BATCH = 8  # the server's default

_numbers = itertools.count()


def sentence(clauses: int = 1) -> str:
    """Return a new sentence, of about 9 words per clause."""
    chance = random.Random(next(_numbers))
    return f"{' and '.join(_clause(chance) for _ in range(clauses))}.".capitalize()


def _clause(chance: random.Random) -> str:
    who, like, did, what, when = (chance.choice(one) for one in (WHO, LIKE, DID, WHAT, WHEN))
    return f"the {like} {who} {did} the {chance.choice(LIKE)} {what} {when}"


def dearest() -> dict[str, Any]:
    """Return the most expensive request: a sweep of a long sentence with many frozen sentences."""
    freezes = [
        {"at": "encoder.0.self", "head": 0, "do": {"freeze": {"source": sentence(6)}}}
        for _ in range(8)
    ]
    return {"source": sentence(6), "interventions": freezes}


@dataclass
class Seen:
    """The times of requests (seconds), and the number of refused ones."""

    times: list[float] = field(default_factory=list)
    refused: int = 0

    def at(self, share: float) -> float:
        """Return the time in milliseconds within which this share of the requests was answered."""
        return 1e3 * sorted(self.times)[min(len(self.times) - 1, int(share * len(self.times)))]


class Student:
    """A page that sends sentences."""

    def __init__(self, client: httpx.AsyncClient, name: str) -> None:
        self.client = client
        self.headers = {"Accept": "application/octet-stream", "Headlight-Client": name}
        self.rests_until = 0.0

    async def type(self, observed: Seen) -> None:
        """Send one sentence."""
        body = {"source": sentence(), "select": SELECT}
        start = time.perf_counter()
        response = await self.client.post("/api/trace", json=body, headers=self.headers)
        end = time.perf_counter()
        self.rests_until = end + float(response.headers.get("Headlight-Pace", 0))
        if response.status_code == 200:
            observed.times.append(end - start)
        else:
            self.rests_until = max(self.rests_until, end + float(response.headers["Retry-After"]))
            observed.refused += 1

    async def keep_typing(self, observed: Seen, until: float, interval: float = 0.0) -> None:
        """Send one sentence after the other, or one every so many seconds.

        At most that many: of what is typed while the server asks for a rest, the newest is sent.
        """
        due = time.perf_counter() + interval * random.random()
        while (now := time.perf_counter()) < until:
            if now < due:
                await asyncio.sleep(due - now)
            await self.type(observed)
            due = max(due + interval, self.rests_until) if interval else 0.0

    async def loop_the_dearest(self) -> None:
        """Send the most expensive request again and again, and read the whole reply."""
        while True:
            await self.client.post("/api/sweep", json=dearest(), headers=self.headers)


@asynccontextmanager
async def client_of(url: str) -> AsyncIterator[httpx.AsyncClient]:
    """Yield a client of a server, without a limit on connections."""
    # Connections that the server is about to close, after five idle seconds, are not used again.
    limits = httpx.Limits(max_connections=None, keepalive_expiry=2)
    async with httpx.AsyncClient(
        base_url=url, timeout=60, limits=limits, trust_env=False
    ) as client:
        yield client


async def alone(client: httpx.AsyncClient, model: Adapter, seconds: float) -> str:
    """Compare one typing user with a traced pass of the bare model over the same sentence."""
    student, typed, passes = Student(client, "one"), Seen(), Seen()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        await student.type(typed)
        source = sentence()
        target = model.trace(source, select=()).output.text
        passes.times.append(timed(partial(model.trace, source, target=target)))
    ratio = typed.at(0.5) / passes.at(0.5)
    return (
        f"| one user: p50 / a traced pass alone | {typed.at(0.5):.0f} ms | {passes.at(0.5):.0f} ms "
        f"| **{ratio:.2f}** |"
    )


async def saturated(client: httpx.AsyncClient, model: Adapter, clients: int, seconds: float) -> str:
    """Compare clients that send without pauses with batches of the bare model."""
    observed = Seen()
    end = time.perf_counter() + seconds
    students = [Student(client, str(n)) for n in range(clients)]
    await asyncio.gather(*(student.keep_typing(observed, end) for student in students))
    served = len(observed.times) / seconds
    done, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        model.run([Request(sentence(), select=tuple(SELECT)) for _ in range(BATCH)])
        done += BATCH
    raw = done / (time.perf_counter() - start)
    return (
        f"| {clients} clients at once: served / the model's batches of {BATCH} alone "
        f"| {served:.1f} per second | {raw:.1f} per second | **{served / raw:.2f}** |"
    )


async def classroom(
    client: httpx.AsyncClient, model: Adapter, students: int, seconds: float
) -> str:
    """Measure a class of students who each send a sentence every two seconds."""
    typed = Seen()
    end = time.perf_counter() + seconds
    typing = [Student(client, str(n)) for n in range(students)]
    await asyncio.gather(*(student.keep_typing(typed, end, STUDENT_SECONDS) for student in typing))
    source = sentence()
    target = model.trace(source, select=()).output.text
    passes = Seen([timed(partial(model.trace, source, target=target)) for _ in range(30)])
    between = students * seconds / max(1, len(typed.times))
    return (
        f"| {students} students, a sentence each every {STUDENT_SECONDS:g} s: p50, p95 "
        f"| {typed.at(0.5):.0f} ms | {typed.at(0.95):.0f} ms "
        f"| **{typed.at(0.95) / passes.at(0.5):.1f}** passes at the 95th percentile; "
        f"{len(typed.times)} answered, one each every {between:.1f} s; {typed.refused} refused |"
    )


async def beside(client: httpx.AsyncClient, seconds: float) -> str:
    """Compare a typing user with and without a client that loops the most expensive request."""
    student = Student(client, "typing")
    quiet, disturbed = Seen(), Seen()
    for _ in range(3):
        await student.keep_typing(quiet, time.perf_counter() + seconds / 6, TYPING_SECONDS)
        looping = asyncio.create_task(Student(client, "looping").loop_the_dearest())
        await asyncio.sleep(1)
        await student.keep_typing(disturbed, time.perf_counter() + seconds / 6, TYPING_SECONDS)
        looping.cancel()
        await asyncio.gather(looping, return_exceptions=True)
        await asyncio.sleep(1)
    ratio = disturbed.at(0.95) / quiet.at(0.95)
    return (
        f"| a typing user's p95 beside a loop of the most expensive sweep / without "
        f"| {disturbed.at(0.95):.0f} ms | {quiet.at(0.95):.0f} ms | **{ratio:.2f}** |"
    )


def timed(work: Callable[[], object]) -> float:
    """Return the seconds that one run takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


async def measure(url: str, model: Adapter, seconds: float) -> None:
    """Print a row for each case."""
    async with client_of(url) as client:
        warm = Seen()
        await Student(client, "warm").keep_typing(warm, time.perf_counter() + 2)
        print("\n| What | first | second | first / second |\n|---|--:|--:|--:|")
        print(await alone(client, model, seconds), flush=True)
        print(await saturated(client, model, 32, seconds), flush=True)
        print(await classroom(client, model, 40, seconds), flush=True)
        print(await classroom(client, model, 200, seconds), flush=True)
        print(await beside(client, seconds), flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Start a server, measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.load", description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0, help="time for each case (20)")
    parser.add_argument("--engines", default="", help="the server's HEADLIGHT_ENGINES")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    # Without budgets, so that only the queue makes the server fair.
    settings = {"engines": options.engines, "work_per_second": "1e9", "max_work": "1e9"}
    print(f"{machine()}; engines: {options.engines or 'by default'}")
    with tempfile.TemporaryDirectory() as folder, running_app(Path(folder), settings) as server:
        # It drafts as the server does.
        model = load("en-zh", "cpu", drafts=Path(folder) / "cache" / "drafts")
        asyncio.run(measure(server.url, model, options.seconds))


if __name__ == "__main__":
    main()
