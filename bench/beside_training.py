"""`python -m bench.beside_training`: how much a training run slows down typing, and how it learns.

One user types while the default run trains and while it is paused, in turns, on the same server.
The time until 99 % of the held-out answers are right is printed too.
"""

import argparse
import asyncio
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx

from bench.__main__ import machine
from bench.load import TYPING_SECONDS, Seen, Student, client_of
from tests.servers import running_app

LEARNED = 0.99
ROUNDS = 4


async def beside(client: httpx.AsyncClient, seconds: float) -> str:
    """Compare a typing user's p95 while a run trains and while it is paused."""
    run = (await client.post("/api/runs", json={"steps": 5000})).json()
    student, trains, rests = Student(client, "typing"), Seen(), Seen()
    await until(client, run, lambda now: now["step"] > 0)
    await student.keep_typing(Seen(), time.perf_counter() + 2)
    for _ in range(ROUNDS):
        for paused, observed in ((False, trains), (True, rests)):
            await change(client, run, {"paused": paused})
            await asyncio.sleep(1)
            part = seconds / (2 * ROUNDS)
            await student.keep_typing(observed, time.perf_counter() + part, TYPING_SECONDS)
    now = (await client.get(f"/api/runs/{run['id']}")).json()
    await change(client, run, {"stop": True})
    return (
        f"| typing while a run trains / while it is paused: p95 | {trains.at(0.95):.0f} ms "
        f"| {rests.at(0.95):.0f} ms | **{trains.at(0.95) / rests.at(0.95):.2f}** |\n"
        f"| the same: p50 | {trains.at(0.5):.0f} ms | {rests.at(0.5):.0f} ms "
        f"| **{trains.at(0.5) / rests.at(0.5):.2f}** |\n\n"
        f"The run took {now['step']} steps in this time."
    )


async def learned(client: httpx.AsyncClient) -> str:
    """Measure the time from the request to the default run's first snapshot that is right."""
    start = time.perf_counter()
    run = (await client.post("/api/runs", json={})).json()

    def over(now: dict[str, Any]) -> bool:
        last = now["snapshots"][-1:] or [{"accuracy": 0}]
        return last[0]["accuracy"] >= LEARNED or now["state"] in ("finished", "stopped", "failed")

    now = await until(client, run, over)
    seconds = time.perf_counter() - start
    last = now["snapshots"][-1]
    await change(client, run, {"stop": True})
    return (
        f"The default run: {last['accuracy']:.1%} of the held-out answers right at step "
        f"{last['step']}, {seconds:.0f} s after the request."
    )


async def until(client: httpx.AsyncClient, run: dict[str, Any], condition: Any) -> dict[str, Any]:
    """Poll until the run is in the wanted state."""
    while True:
        now: dict[str, Any] = (await client.get(f"/api/runs/{run['id']}")).json()
        if condition(now):
            return now
        await asyncio.sleep(0.5)


async def change(client: httpx.AsyncClient, run: dict[str, Any], fields: dict[str, Any]) -> None:
    """Change a run, unless it has ended."""
    headers = {"Run-Key": run["key"]}
    await client.patch(f"/api/runs/{run['id']}", json=fields, headers=headers)


async def measure(url: str, seconds: float) -> None:
    """Print both tables."""
    async with client_of(url) as client:
        print("\n| What | first | second | first / second |\n|---|--:|--:|--:|")
        print(await beside(client, seconds), flush=True)
        print(await learned(client), flush=True)


def main() -> None:
    """Start a server, measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.beside_training", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="time to type (60)")
    options = parser.parse_args()
    load = ", ".join(f"{load_average:.1f}" for load_average in os.getloadavg())
    print(f"{machine()}; load before: {load}")
    with tempfile.TemporaryDirectory() as folder, running_app(Path(folder)) as server:
        asyncio.run(measure(server.url, options.seconds))


if __name__ == "__main__":
    main()
