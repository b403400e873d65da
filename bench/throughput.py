"""`python -m bench.throughput`: throughput of this checkout, another one, and a Gradio app.

Each server runs alone, with the same number of clients over loopback, which send a new sentence as
soon as the previous one is answered. The result is a ratio.
"""

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import httpx

from bench.__main__ import machine
from bench.load import Seen, Student, client_of, sentence
from tests.servers import ROOT, free_port, running_app

OPEN = {"work_per_second": "1e9", "max_work": "1e9", "max_queue": "1000"}
APP = Path(__file__).with_name("gradio_app.py")


async def served(url: str, clients: int, seconds: float, gradio: bool) -> float:
    """Return the replies per second."""
    async with client_of(url) as client:
        users = [GradioUser(client) if gradio else Student(client, str(n)) for n in range(clients)]
        for pause in (3.0, seconds):  # warm, then measured
            observed = Seen()
            end = time.perf_counter() + pause
            start = time.perf_counter()
            await asyncio.gather(*(user.keep_typing(observed, end) for user in users))
            rate = len(observed.times) / (time.perf_counter() - start)
            if observed.refused:
                print(f"{observed.refused} refused", file=sys.stderr)
        return rate


class GradioUser(Student):
    """Sends requests like Gradio's own page: a call, then its events."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        super().__init__(client, "")

    async def type(self, observed: Seen) -> None:
        start = time.perf_counter()
        called = await self.client.post("/gradio_api/call/see", json={"data": [sentence()]})
        events = await self.client.get(f"/gradio_api/call/see/{called.json()['event_id']}")
        if "event: complete" in events.text:
            observed.times.append(time.perf_counter() - start)
        else:
            observed.refused += 1


@asynccontextmanager
async def gradio_app(python: str) -> AsyncIterator[str]:
    """Start the Gradio app; yield its address once it replies."""
    port = free_port()
    environment = os.environ | {"PYTHONPATH": str(ROOT), "GRADIO_ANALYTICS_ENABLED": "False"}
    process = subprocess.Popen([python, str(APP), str(port)], cwd=ROOT, env=environment)
    url = f"http://127.0.0.1:{port}"
    try:
        async with client_of(url) as client:
            while process.poll() is None:
                try:
                    if (await client.get("/")).status_code == 200:
                        break
                except httpx.TransportError:
                    await asyncio.sleep(0.2)
        yield url
    finally:
        process.terminate()
        process.wait()


async def measure(against: Path | None, python: str | None, clients: int, seconds: float) -> None:
    """Print a row for each server."""
    figures: dict[str, float] = {}
    for name, root in {"this checkout": ROOT, "the other checkout": against}.items():
        if root:
            with (
                tempfile.TemporaryDirectory() as folder,
                running_app(Path(folder), OPEN, root) as server,
            ):
                figures[name] = await served(server.url, clients, seconds, gradio=False)
    if python:
        async with gradio_app(python) as url:
            figures["a Gradio app"] = await served(url, clients, seconds, gradio=True)
    print("\n| Served by | replies per second | this checkout / it |\n|---|--:|--:|")
    for name, rate in figures.items():
        print(f"| {name} | {rate:.1f} | **{figures['this checkout'] / rate:.2f}** |")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.throughput", description=__doc__)
    parser.add_argument("--against", type=Path, help="the root of another checkout")
    parser.add_argument("--gradio", metavar="PYTHON", help="an interpreter that has Gradio")
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=15.0, help="time for each (15)")
    options = parser.parse_args(arguments)
    print(machine())
    asyncio.run(measure(options.against, options.gradio, options.clients, options.seconds))


if __name__ == "__main__":
    main()
