"""Members of a room as light connections, for benchmarks and for tests with several servers."""

import asyncio
import json
import random
import time
from collections.abc import Callable, Sequence
from typing import Any

from tests.servers import AppServer

HELLO = b'data: {"seq":'
RETRY_SECONDS = 0.5  # on average, as the page waits


class Member:
    """Follows a room over server-sent events, and again if the stream breaks off.

    A new connection goes to the first of the `ports` on which a server listens, as behind a load
    balancer. `arrived` has the time at which each state came, `state` the last one.
    """

    def __init__(self, name: str, ports: Sequence[int], code: str) -> None:
        self.name, self.ports, self.code = name, ports, code
        self.arrived: dict[int, float] = {}
        self.connected: list[tuple[int, float]] = []  # port and time of each first state
        self.lost: list[float] = []
        self.state: dict[str, Any] = {}
        self._following = asyncio.create_task(self._follow())

    @property
    def seq(self) -> int:
        """Number of the newest state; 0: none yet."""
        return max(self.arrived, default=0)

    async def stop(self) -> None:
        """Close the connection."""
        self._following.cancel()
        await asyncio.gather(self._following, return_exceptions=True)

    async def _follow(self) -> None:
        while True:
            for port in self.ports:
                try:
                    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 20)
                except OSError:
                    continue
                try:
                    await self._read(port, reader, writer)
                except (OSError, ValueError):
                    pass  # broken off
                finally:
                    writer.close()
                break
            self.lost.append(time.perf_counter())
            await asyncio.sleep(RETRY_SECONDS * random.uniform(0.5, 1.5))

    async def _read(
        self, port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        path = f"/api/rooms/{self.code}/events?member={self.name}"
        writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        fresh = True
        while line := await reader.readline():
            if not line.startswith(HELLO):
                continue
            now = time.perf_counter()
            seq = int(line[len(HELLO) : line.index(b",", len(HELLO))])
            self.arrived.setdefault(seq, now)
            if fresh or seq > self.state["seq"]:
                self.state = json.loads(line[6:]) if fresh else {**self.state, "seq": seq}
            if fresh:
                self.connected.append((port, now))
                fresh = False


async def until(done: Callable[[], bool], seconds: float) -> None:
    """Wait until something is so. Raises TimeoutError."""
    async with asyncio.timeout(seconds):
        while not done():
            await asyncio.sleep(0.02)


def port(server: AppServer) -> int:
    """Return the port that a server listens on."""
    return int(server.url.rsplit(":", 1)[-1])
