"""`python -m bench.rooms`: rooms under load, on this machine, over loopback.

crowd    one room of 500, of whom 40 explore: each runs a sentence of their own every 2 seconds
classes  20 rooms of 25, all presented at once
two      500 members of a room on two servers that share a Redis; one of them is killed
same     200 students request the trace of the same new sentence at once
wall     as crowd, with the wall of these 40 open and closed in turn: the processor time of each

Members and servers share the cores.
"""

import argparse
import asyncio
import itertools
import os
import random
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import orjson

from app.rooms.asking import identity_of
from bench.__main__ import machine
from bench.load import sentence
from tests.rooms.room_members import Member, port, until
from tests.scale.stores import running_redis
from tests.servers import AppServer, running_app
from tests.soak.memory import family, usage

CHANGES = 20
ANSWERING = 100  # members
EXPLORERS, EXPLORE_SECONDS = 40, 2.0
# The teacher's page reads the wall this often; small figures come at 0.8 a second after the first.
WALL_SECONDS, FIGURES, WALL_TURNS = 2.0, 2, 3
ASK = {"entry": "choice", "ask": {"kind": "looks", "link": "source=Hi&query=0"}}
# A browser on plain http accepts no other encodings.
HEAD = """POST /api/trace HTTP/1.1\r
Host: 127.0.0.1\r
Headlight-Client: student-{n}\r
Accept: application/octet-stream\r
Accept-Encoding: gzip, deflate\r
Content-Type: application/json\r
Content-Length: {length}\r
\r
"""
SETTINGS = {"zoo": "false", "max_room_members": "2000", "max_rooms_per_minute": "1000"}
SETTINGS |= {"metrics": "true", "max_room_changes_per_second": "1000"}


@dataclass
class Classroom:
    """An open room, its teacher's connection and its members."""

    client: httpx.AsyncClient
    path: str
    owner: dict[str, str]
    members: list[Member]

    async def change(self, n: int) -> list[float]:
        """Present another state; return the seconds until each member had it."""
        began = time.perf_counter()
        link = {"link": f"/?source=Hi&layer={n}"}
        reply = await self.client.put(f"{self.path}/state", json=link, headers=self.owner)
        reply.raise_for_status()
        seq: int = reply.json()["seq"]
        await until(lambda: all(member.seq >= seq for member in self.members), 30)
        return [member.arrived[seq] - began for member in self.members if seq in member.arrived]


@asynccontextmanager
async def classroom(servers: Sequence[AppServer], members: int) -> AsyncIterator[Classroom]:
    """Open a room and let members join: each server has an equal part of them."""
    ports = [port(server) for server in servers]
    async with httpx.AsyncClient(base_url=servers[0].url, trust_env=False, timeout=60) as client:
        created = (await client.post("/api/rooms", json={"state": {"link": "/"}})).json()
        joined = []
        for n in range(members):
            first = n % len(ports)
            joined.append(Member(f"member-{n}", [*ports[first:], *ports[:first]], created["code"]))
        room = f"/api/rooms/{created['code']}"
        owner = {"Authorization": f"Bearer {created['key']}"}
        await until(lambda: all(member.seq for member in joined), 60)
        try:
            yield Classroom(client, room, owner, joined)
        finally:
            await asyncio.gather(*(member.stop() for member in joined))


async def end(tasks: "Sequence[asyncio.Task[None]]") -> None:
    """Cancel tasks and wait for them. Raises what one of them raised before."""
    for task in tasks:
        task.cancel()
    for outcome in await asyncio.gather(*tasks, return_exceptions=True):
        if isinstance(outcome, Exception):
            raise outcome


async def explore(url: str, n: int, took: list[float], pause: float = EXPLORE_SECONDS) -> None:
    """Run sentences of one's own, one every few seconds, until cancelled."""
    headers = {"Headlight-Client": f"student-{n}", "Accept": "application/octet-stream"}
    async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=60) as client:
        await asyncio.sleep(pause * n / EXPLORERS)
        for turn in itertools.count():
            began = time.perf_counter()
            body = {"source": sentence(), "select": ["*.weights"]}
            reply = await client.post("/api/trace", json=body, headers=headers)
            reply.raise_for_status()
            if turn:  # the model was loaded by the first
                took.append(time.perf_counter() - began)
            await asyncio.sleep(max(0.0, began + pause - time.perf_counter()))


async def crowd(server: AppServer, members: int) -> None:
    """Measure a full room, alone and while some of it explore."""
    async with classroom([server], 20) as room:
        await room.change(0)
    before = await settled(server)
    async with classroom([server], members) as room:
        grown = usage(server.process.pid).memory - before
        alone = [late for n in range(CHANGES) for late in await room.change(n)]
        traces = list[float]()
        students = [asyncio.create_task(explore(server.url, n, traces)) for n in range(EXPLORERS)]
        await until(lambda: len(traces) >= EXPLORERS, 120)
        traces.clear()
        late = list[float]()
        for n in range(2 * CHANGES):
            late += await room.change(1_000 + n)
            await asyncio.sleep(0.5)
        broken = sum(len(member.lost) for member in room.members)
        await end(students)
    print(f"{members} members: {of(alone)}; {grown / members / 1000:.0f} kB more per member")
    print(f"… while {EXPLORERS} explore: {of(late)}; their {len(traces)} traces: {of(traces)}")
    print(f"connections that broke off: {broken}")


async def explore_seen(
    server: AppServer, room: Classroom, n: int, sentences: list[str], took: list[float]
) -> None:
    """Explore, and send what is on the screen, as a page does, while the wall is open."""
    headers = {"Headlight-Client": f"student-{n}", "Accept": "application/octet-stream"}
    async with httpx.AsyncClient(base_url=server.url, trust_env=False, timeout=60) as client:
        await asyncio.sleep(EXPLORE_SECONDS * n / EXPLORERS)
        for turn in itertools.count():
            began = time.perf_counter()
            sentences[n] = sentence()
            await patient(client, {"source": sentences[n], "select": ["*.weights"]}, headers)
            if turn:
                took.append(time.perf_counter() - began)
            if room.members[n].state["wall"] != "closed":
                work = {"member": room.members[n].name, "link": f"/?source={quote(sentences[n])}"}
                reply = await client.put(f"{room.path}/work", json=work)
                assert reply.status_code in (200, 409), reply.text  # 409: just closed
            await asyncio.sleep(max(0.0, began + EXPLORE_SECONDS - time.perf_counter()))


async def patient(client: httpx.AsyncClient, body: Any, headers: dict[str, str]) -> None:
    """Request a trace; while the model is busy, wait as long as it says, as a page does."""
    while True:
        reply = await client.post("/api/trace", json=body, headers=headers)
        if reply.status_code != 503:
            reply.raise_for_status()
            return
        await asyncio.sleep(float(reply.headers["Retry-After"]))


async def watch(server: AppServer, room: Classroom, sentences: Sequence[str]) -> None:
    """Read the wall and request its small figures as the teacher's page does, until cancelled."""
    headers = {"Headlight-Client": "teacher", "Accept": "application/octet-stream"}
    async with httpx.AsyncClient(base_url=server.url, trust_env=False, timeout=60) as client:
        for turn in itertools.count():
            began = time.perf_counter()
            (await client.get(f"{room.path}/work", headers=room.owner)).raise_for_status()
            for n in random.sample(range(EXPLORERS), EXPLORERS if turn == 0 else FIGURES):
                select = ["decoder.*.cross.weights"]
                body = {"source": sentences[n], "select": select, "dtype": "uint8"}
                await client.post("/api/trace", json=body, headers=headers)
            await asyncio.sleep(max(0.0, began + WALL_SECONDS - time.perf_counter()))


def busy_seconds() -> float:
    """Return the processor time that everything on this machine has used, on all cores."""
    user, nice, system, *_ = map(int, Path("/proc/stat").read_text().split()[1:5])
    return (user + nice + system) / os.sysconf("SC_CLK_TCK")


def processor_seconds(pid: int) -> float:
    """Return the processor time that a server and its processes have used."""
    ticks = 0
    for process in family(pid):
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2].split()
        ticks += int(fields[11]) + int(fields[12])  # utime and stime
    return ticks / os.sysconf("SC_CLK_TCK")


async def wall(server: AppServer, members: int) -> None:
    """Measure what the wall of the explorers adds, in turns of the same length."""
    times = {mode: list[float]() for mode in ("closed", "open")}
    began, busy, used_before = time.perf_counter(), busy_seconds(), processor_seconds(os.getpid())
    late = {mode: list[float]() for mode in times}
    sentences, traces = [sentence() for _ in range(EXPLORERS)], list[float]()
    async with classroom([server], members) as room:
        await room.change(0)
        students = [
            asyncio.create_task(explore_seen(server, room, n, sentences, traces))
            for n in range(EXPLORERS)
        ]
        await until(lambda: len(traces) >= EXPLORERS, 120)
        for turn in range(2 * WALL_TURNS):
            mode = ("closed", "open")[turn % 2]
            await room.client.patch(room.path, json={"wall": mode}, headers=room.owner)
            teacher = asyncio.create_task(watch(server, room, sentences)) if turn % 2 else None
            await asyncio.sleep(2)
            before, done = processor_seconds(server.process.pid), len(traces)
            for n in range(CHANGES):
                late[mode] += await room.change(1_000 + 100 * turn + n)
                await asyncio.sleep(0.5)
            used = processor_seconds(server.process.pid) - before
            times[mode].append(used / max(1, len(traces) - done))
            if teacher:
                await end([teacher])
        await end(students)
    closed, opened = (statistics.median(times[mode]) for mode in times)
    print(f"{members} members, {EXPLORERS} explore: wall closed {of(late['closed'])}")
    print(f"… wall open {of(late['open'])}")
    each = ", ".join(f"{b / a:.2f}" for a, b in zip(*times.values(), strict=True))
    ours = processor_seconds(os.getpid()) - used_before  # the members' and the server's
    rest = (busy_seconds() - busy - ours) / (time.perf_counter() - began) / (os.cpu_count() or 1)
    print(f"other work took {100 * max(0.0, rest):.0f} % of the cores meanwhile")
    print(
        f"processor time for each trace of a student: {1000 * closed:.0f} ms closed, "
        f"{1000 * opened:.0f} ms open: {opened / closed:.3f} ({each} turn by turn)"
    )


async def classes(server: AppServer, rooms: int, members: int) -> None:
    """Measure many rooms at once, each of which changes about once a second."""
    late = list[float]()

    async def teach(room: Classroom) -> None:
        for n in range(CHANGES):
            await asyncio.sleep(random.uniform(0, 2))
            late.extend(await room.change(n))

    async with AsyncExitStack() as stack:
        opened = [
            await stack.enter_async_context(classroom([server], members)) for _ in range(rooms)
        ]
        await asyncio.gather(*map(teach, opened))
    print(f"{rooms} rooms of {members} at once: {of(late)}")


async def two(servers: Sequence[AppServer], members: int) -> None:
    """Measure two servers on one Redis, and kill one of them while the class answers."""
    async with classroom(servers, members) as room:
        late = [late for n in range(CHANGES) for late in await room.change(n)]
        print(f"{members} members on two servers: {of(late)}")
        reply = await room.client.put(f"{room.path}/question", json=ASK, headers=room.owner)
        seq: int = reply.json()["seq"]
        answers = dict[str, int]()
        writers = [
            asyncio.create_task(answer(room.client, member, room.path, answers))
            for member in room.members[:ANSWERING]
        ]
        await asyncio.sleep(3)
        lost = [member for member in room.members if member.connected[-1][0] == port(servers[1])]
        began = time.perf_counter()
        servers[1].kill()
        before = sum(answers.values())
        back = port(servers[0])
        await until(lambda: all(member.connected[-1][0] == back for member in room.members), 60)
        times = [member.connected[-1][1] - began for member in lost]
        behind = sum(member.state["seq"] < seq for member in lost)
        await asyncio.sleep(1)
        await end(writers)
        moved = await room.change(5_000)
        answers_reply = await room.client.get(f"{room.path}/answers", headers=room.owner)
        stored = {
            answer_stored["id"]: int(answer_stored["answer"][0])
            for answer_stored in answers_reply.json()["answers"]
        }
        missing = [name for name, n in answers.items() if stored.get(identity_of(1, name), -1) < n]
        print(
            f"killed one: {len(lost)} members back on the other within {max(times):.2f} s "
            f"(half {statistics.median(times):.2f} s), {behind} with an older state; "
            f"{before} answers before and {sum(answers.values()) - before} after, "
            f"{len(missing)} acknowledged ones lost; the next change: {of(moved)}"
        )


async def answer(
    client: httpx.AsyncClient, member: Member, path: str, answers: dict[str, int]
) -> None:
    """Answer again and again, until cancelled; note what was acknowledged last."""
    for n in itertools.count(1):
        await asyncio.sleep(random.uniform(0, 2))
        body = {"member": member.name, "n": 1, "answer": [str(n)]}
        for address in member.ports:
            url = f"http://127.0.0.1:{address}{path}/answers"
            try:
                reply = await client.post(url, json=body)
            except httpx.TransportError:
                continue
            if reply.status_code == 204:
                answers[member.name] = n
                break


async def same(server: AppServer, students: int) -> None:
    """Let everyone request the same new trace at once, as after a change of the teacher."""
    took, alone, runs = list[float](), list[float](), 0.0
    async with httpx.AsyncClient(base_url=server.url, trust_env=False) as client:
        await requested(server, 1)
        for _ in range(5):
            alone += (await requested(server, 1))[0]
            before = await computed(client)
            times, size = await requested(server, students)
            runs += await computed(client) - before
            took += times
    print(
        f"{students} students, the same new sentence, 5 times: {runs:.0f} computations, "
        f"{of(took)}; one alone {1000 * statistics.median(alone):.0f} ms; {size / 1000:.0f} kB each"
    )


async def requested(server: AppServer, students: int) -> tuple[list[float], int]:
    """Let students request the same new sentence at once, each on a connection that is open.

    Returns the seconds of each, and the bytes of a reply.
    """
    opened = [
        await asyncio.open_connection("127.0.0.1", port(server), limit=1 << 20)
        for _ in range(students)
    ]
    body = orjson.dumps({"source": sentence(), "select": ["*.weights"]})
    began = time.perf_counter()

    async def ask(n: int) -> tuple[float, int]:
        reader, writer = opened[n]
        writer.write(HEAD.format(n=n, length=len(body)).encode() + body)
        status, _, head = (await reader.readuntil(b"\r\n\r\n")).lower().partition(b"\r\n")
        assert status.endswith(b" 200 ok"), status
        size = int(head.split(b"content-length: ")[1].split(b"\r\n")[0])
        await reader.readexactly(size)
        took = time.perf_counter() - began
        writer.close()
        return took, size

    results = await asyncio.gather(*map(ask, range(students)))
    return [took for took, _ in results], results[0][1]


async def computed(client: httpx.AsyncClient) -> float:
    """Return how many traces the models have computed."""
    lines = (await client.get("/metrics")).text.splitlines()
    name = "headlight_batch_size_sum"
    return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(name))


def of(seconds: Sequence[float]) -> str:
    """Return the median and the 95th percentile in words."""
    cut = statistics.quantiles(seconds, n=20)
    return f"p50 {1000 * cut[9]:.0f} ms, p95 {1000 * cut[18]:.0f} ms"


async def settled(server: AppServer) -> int:
    """Return the bytes of a server in memory, once it has done what it does after its start."""
    counts = list[int]()
    while len(counts) < 4 or max(counts[-4:]) > counts[-4]:
        await asyncio.sleep(1)
        counts.append(usage(server.process.pid).memory)
    return counts[-1]


@contextmanager
def started(number: int = 1) -> Iterator[list[AppServer]]:
    """Start servers; several share a Redis."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        settings = dict(SETTINGS)
        if number > 1:
            settings["rooms_url"], _ = stack.enter_context(running_redis(folder))
        yield [stack.enter_context(running_app(folder / str(n), settings)) for n in range(number)]


def main() -> None:
    """Measure what is named, by default everything."""
    parser = argparse.ArgumentParser(prog="python -m bench.rooms", description=__doc__)
    parser.add_argument("what", nargs="*", help="crowd, classes, two, same, wall (all)")
    parser.add_argument("--members", type=int, default=500)
    options = parser.parse_args()
    print(machine())
    parts: dict[str, Callable[[list[AppServer]], Coroutine[Any, Any, None]]] = {
        "crowd": lambda servers: crowd(servers[0], options.members),
        "classes": lambda servers: classes(servers[0], 20, 25),
        "two": lambda servers: two(servers, options.members),
        "same": lambda servers: same(servers[0], 200),
        "wall": lambda servers: wall(servers[0], options.members),
    }
    for name in options.what or parts:
        with started(2 if name == "two" else 1) as servers:
            asyncio.run(parts[name](servers))


if __name__ == "__main__":
    main()
