"""`make soak`: a long mixed load on a server, and the memory of its processes.

    python -m tests.soak --seconds 3600

Exits with 1 if memory or open files grow (`tests.soak.memory.is_flat`), if a reply is not
one that a client may get, if the log has an error, or if a process has ended.
"""

import asyncio
import random
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections import Counter
from pathlib import Path

import httpx

from tests.servers import AppServer, running_app
from tests.soak.load import CLIENTS, Client
from tests.soak.memory import MEGABYTE, Usage, family, growth, is_flat, name, usage

SETTINGS = {
    "engines": "1",
    "max_cache_bytes": "32000000",  # full within a minute, so that growth is not the cache
    "max_shares_per_minute": "100000",
    "max_stall_seconds": "5",
    "work_per_second": "1000000000",
    "log_requests": "false",
}
SAMPLES = 60  # per process


class Soak:
    """A server under load, and its measurements."""

    def __init__(self, server: AppServer) -> None:
        self.server = server
        self.processes = family(server.process.pid)
        self.names = {pid: name(pid) for pid in self.processes}
        self.seen: dict[int, list[Usage]] = {pid: [] for pid in self.processes}
        self.statuses: dict[str, Counter[int]] = {one.__name__: Counter() for one in CLIENTS}
        self.errors = list[str]()

    async def run(self, seconds: float) -> None:
        """Run all clients, and sample the processes periodically."""
        end = time.monotonic() + seconds
        limits = httpx.Limits(max_connections=None)
        async with (
            httpx.AsyncClient(
                base_url=self.server.url, timeout=120, limits=limits, trust_env=False
            ) as client,
            asyncio.TaskGroup() as group,
        ):
            group.create_task(self._look(seconds, end))
            for kind, number in CLIENTS.items():
                for n in range(number):
                    chance = random.Random(f"{kind.__name__} {n}")
                    group.create_task(self._client(client, kind, chance, end))

    async def _client(
        self, client: httpx.AsyncClient, kind: Client, chance: random.Random, end: float
    ) -> None:
        while time.monotonic() < end and not self.errors:
            try:
                self.statuses[kind.__name__].update(await kind(client, chance))
            except Exception as error:
                self.errors.append(f"{kind.__name__}: {error!r}")

    async def _look(self, seconds: float, end: float) -> None:
        print("  seconds " + "  ".join(f"{one:>12}" for one in self.names.values()))
        begun = end - seconds
        while time.monotonic() < end and not self.errors:
            try:
                now = {pid: usage(pid) for pid in self.processes}
            except OSError:
                self.errors.append("a process has ended")
                return
            for pid, one in now.items():
                self.seen[pid].append(one)
            told = (f"{one.memory / MEGABYTE:6.0f} MB {one.files:3}" for one in now.values())
            print(f"{time.monotonic() - begun:9.0f} " + "  ".join(told), flush=True)
            await asyncio.sleep(seconds / SAMPLES)

    def report(self) -> bool:
        """Print the results; return whether all is well."""
        for kind, statuses in self.statuses.items():
            told = "  ".join(f"{status}: {times}" for status, times in sorted(statuses.items()))
            print(f"{kind:10} {told}")
        for pid, seen in self.seen.items():
            more = growth([one.memory for one in seen]) / MEGABYTE
            flat = "flat" if is_flat(seen) else "NOT FLAT"
            print(f"{self.names[pid]:10} {more:+.1f} MB from the middle third to the last: {flat}")
        log = self.server.log.read_text().splitlines()
        bad = [line for line in log if "ERROR" in line or "Traceback" in line]
        for line in [*self.errors, *bad][:10]:
            print(line, file=sys.stderr)
        return not self.errors and not bad and all(map(is_flat, self.seen.values()))


def main() -> int:
    """Run the load and print the report."""
    parser = ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=3600)
    asked = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="headlight-soak-") as folder,
        running_app(Path(folder), SETTINGS) as server,
    ):
        soak = Soak(server)
        asyncio.run(soak.run(asked.seconds))
        return 0 if soak.report() else 1


if __name__ == "__main__":
    sys.exit(main())
