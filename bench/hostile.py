"""`python -m bench.hostile`: a typing user beside a client that means harm, over loopback.

Each attack is sent from one address and from twenty, at a fixed rate, and compared with a client
that asks for `/api/health` at the same rate, in turns. Limits, budgets and queues are the defaults.
The whole run takes some fifteen minutes.
"""

import argparse
import asyncio
import itertools
import multiprocessing
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import httpx

from bench.__main__ import machine
from bench.load import Seen, Student, client_of, sentence
from tests.servers import running_app

PER_SECOND = 10.0  # requests of an attack
AT_ONCE = 40  # requests of an attack without a reply; more are not sent
ADDRESSES = (1, 20)
SETTLE_SECONDS = 0.5
TYPING_SECONDS = 0.2
SENTENCES_OF_USER = 100_000  # more than it types

_numbers = itertools.count()


@dataclass(frozen=True)
class Attacker:
    """A client that sends requests from other addresses than the typing user's."""

    client: httpx.AsyncClient
    assignment: Mapping[str, str]  # one whose answers are hard to write as a table

    async def send(self, method: str, path: str, n: int, **options: Any) -> int:
        """Send a request from the n-th address; return the status of the reply."""
        headers = {"X-Forwarded-For": f"10.0.0.{n + 1}", **options.pop("headers", {})}
        try:
            reply = await self.client.request(method, path, headers=headers, **options)
        except httpx.HTTPError:
            return 0
        return reply.status_code

    async def trace(self, n: int, *select: str) -> int:
        """Request a trace of a new sentence."""
        return await self.send(
            "POST", "/api/trace", n, json={"source": sentence(4), "select": select}
        )


Attack = Callable[[Attacker, int], Awaitable[int]]


async def health(attacker: Attacker, n: int) -> int:
    """Do no harm."""
    return await attacker.send("GET", "/api/health", n)


async def gradients(attacker: Attacker, n: int) -> int:
    """Request integrated gradients, which cost more than is allowed."""
    return await attacker.trace(n, "inside.integrated-gradients")


async def relevance(attacker: Attacker, n: int) -> int:
    """Request a backward pass for each row of each attention."""
    return await attacker.trace(n, "inside.relevance.*")


async def spelled(attacker: Attacker, n: int) -> int:
    """Request the same by a pattern that is spelled otherwise."""
    return await attacker.trace(n, "inside.rel*")


async def patterns(attacker: Attacker, n: int) -> int:
    """Request names by 64 new patterns, the last of which matches none."""
    fresh = next(_numbers)
    hurting = (f"*[!abc{fresh}]*?*?*?[!cba{i}X]*s" for i in range(64))
    return await attacker.trace(n, *hurting, "*zzz")


async def edges(attacker: Attacker, n: int) -> int:
    """Cut 4,000 edges, then change a place that is none."""
    cut = {"at": "encoder.0.self", "do": {"cut": [[0, 0]] * 100}}
    changes = [*[cut] * 40, {"at": "nowhere", "do": "zero"}]
    body = {"source": sentence(4), "interventions": changes}
    return await attacker.send("POST", "/api/trace", n, json=body)


async def punctuation(attacker: Attacker, n: int) -> int:
    """Request the overview of a long text that is nearly all punctuation."""
    body = {"source": f"AB {next(_numbers)} CD " + "! " * 10_000, "select": []}
    return await attacker.send("POST", "/api/overview", n, json=body)


async def host(attacker: Attacker, n: int) -> int:
    """Send a host name with 40,000 labels."""
    return await attacker.send("GET", "/", n, headers={"Host": "a." * 40_000})


async def table(attacker: Attacker, n: int) -> int:
    """Read answers that a pattern with a nested repetition takes long to match."""
    created = attacker.assignment
    key = {"Authorization": f"Bearer {created['key']}"}
    path = f"/api/assignments/{created['id']}/answers.csv"
    return await attacker.send("GET", path, n, headers=key)


async def rooms(attacker: Attacker, n: int) -> int:
    """Open rooms."""
    return await attacker.send("POST", "/api/rooms", n, json={"state": {"link": "/"}})


async def runs(attacker: Attacker, n: int) -> int:
    """Start training runs."""
    headers = {"Headlight-Client": str(next(_numbers))}
    return await attacker.send("POST", "/api/runs", n, json={"steps": 1_000}, headers=headers)


async def texts(attacker: Attacker, n: int) -> int:
    """Have texts indexed."""
    headers = {"Headlight-Client": str(next(_numbers))}
    text = "\n".join(sentence() for _ in range(500))
    body = {"model": "en-zh", "text": text}
    return await attacker.send("POST", "/api/corpora", n, json=body, headers=headers)


ATTACKS: dict[str, Attack] = {
    "integrated gradients": gradients,
    "relevance": relevance,
    "relevance, by another pattern": spelled,
    "patterns of no name": patterns,
    "edges and no place": edges,
    "an overview of punctuation": punctuation,
    "a host name of 80,000 bytes": host,
    "a table of hostile answers": table,
    "rooms": rooms,
    "training runs": runs,
    "texts to index": texts,
}


@dataclass
class Flood:
    """Sends an attack at a fixed rate, in turn from each address, until cancelled."""

    attacker: Attacker
    attack: Attack
    addresses: int
    statuses: Counter[int] = field(default_factory=Counter)
    _open: set[asyncio.Task[None]] = field(default_factory=set)

    async def run(self) -> None:
        """Send, whether or not earlier requests have been answered."""
        try:
            for turn in itertools.count():
                if len(self._open) < AT_ONCE:
                    task = asyncio.create_task(self._once(turn % self.addresses))
                    self._open.add(task)
                    task.add_done_callback(self._open.discard)
                await asyncio.sleep(1 / PER_SECOND)
        finally:
            for task in self._open:
                task.cancel()
            await asyncio.gather(*self._open, return_exceptions=True)

    async def _once(self, n: int) -> None:
        self.statuses[await self.attack(self.attacker, n)] += 1


def attack_on_request(url: str, created: Mapping[str, str], requests: Connection) -> None:
    """Be the client that means harm, in a process of its own, so that it delays only the server.

    Of `requests` it receives an attack's name and a number of addresses, floods until it receives
    anything else, and sends the statuses of the replies.
    """
    asyncio.run(_attack_on_request(url, created, requests))


async def _attack_on_request(url: str, created: Mapping[str, str], requests: Connection) -> None:
    for _ in range(SENTENCES_OF_USER):
        sentence()  # no attack sends what the typing user sends, whose reply would be cached
    async with client_of(url) as client:
        attacker = Attacker(client, created)
        while asked := await asyncio.to_thread(requests.recv):
            name, addresses = asked
            flood = Flood(attacker, ATTACKS.get(name, health), addresses)
            flooding = asyncio.create_task(flood.run())
            await asyncio.to_thread(requests.recv)
            flooding.cancel()
            await asyncio.gather(flooding, return_exceptions=True)
            requests.send(flood.statuses)


async def typing(
    student: Student, attacker: Connection, attack: str, addresses: int, seconds: float, typed: Seen
) -> Counter[int]:
    """Add the times of a typing user beside a flood; return the statuses of the flood's replies."""
    attacker.send((attack, addresses))
    await asyncio.sleep(SETTLE_SECONDS)
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        await student.type(typed)
        await asyncio.sleep(TYPING_SECONDS)
    attacker.send("stop")
    statuses: Counter[int] = await asyncio.to_thread(attacker.recv)
    return statuses


async def measure(url: str, names: Sequence[str], seconds: float, turns: int) -> None:
    """Print a row for each attack: the 95th percentiles over all turns."""
    async with client_of(url) as client:
        student = Student(client, "typing")
        await student.keep_typing(Seen(), time.perf_counter() + 2)
        attacker, other_end = multiprocessing.Pipe()
        spawn = multiprocessing.get_context("spawn")
        created = await assignment(client)
        # A daemon: it ends with this process, also if a measurement fails.
        process = spawn.Process(
            target=attack_on_request, args=(url, created, other_end), daemon=True
        )
        process.start()
        print("\n| Beside | addresses | p95 | p95 beside an idle client | ratio | replies |")
        print("|---|--:|--:|--:|--:|---|")
        for name, addresses in itertools.product(names, ADDRESSES):
            quiet, beside, statuses = Seen(), Seen(), Counter[int]()
            for _ in range(turns):
                await typing(student, attacker, "health", addresses, seconds, quiet)
                statuses += await typing(student, attacker, name, addresses, seconds, beside)
            replies = ", ".join(f"{n} × {status}" for status, n in sorted(statuses.items()))
            if not beside.times:
                print(f"| {name} | {addresses} | none answered | | | {replies} |", flush=True)
                continue
            ratio = beside.at(0.95) / quiet.at(0.95)
            print(
                f"| {name} | {addresses} | {beside.at(0.95):.0f} ms | {quiet.at(0.95):.0f} ms "
                f"| **{ratio:.2f}** | {replies or 'none yet'} |",
                flush=True,
            )
        attacker.send(None)
        process.join()


async def assignment(client: httpx.AsyncClient) -> dict[str, str]:
    """Create an assignment with an answer of many numbers and a letter."""
    question = {"entry": "text", "ask": {"kind": "sentence", "link": "", "words": "Why?"}}
    body = {"title": "A", "questions": [question]}
    created: dict[str, str] = (await client.post("/api/assignments", json=body)).json()
    answer = {"member": "k2m4n6p8q3r5", "answers": [["11 " * 45 + "x"]]}
    reply = await client.post(f"/api/assignments/{created['id']}/answers", json=answer)
    reply.raise_for_status()
    return created


def main(arguments: Sequence[str] | None = None) -> None:
    """Start a server, measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.hostile", description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0, help="time for each half (5)")
    parser.add_argument("--turns", type=int, default=4, help="turns of both halves (4)")
    parser.add_argument("attacks", nargs="*", help=f"some of: {', '.join(ATTACKS)} (all)")
    options = parser.parse_args(arguments)
    names = options.attacks or list(ATTACKS)
    if unknown := set(names) - set(ATTACKS):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    print(machine())
    settings = {
        "trusted_proxies": "127.0.0.0/8",
        "max_rooms_per_minute": "10",
        "max_shares_per_minute": "60",
    }
    with tempfile.TemporaryDirectory() as folder, running_app(Path(folder), settings) as server:
        asyncio.run(measure(server.url, names, options.seconds, options.turns))


if __name__ == "__main__":
    main()
