"""A replica and a server are killed under load, and no request or share is lost."""

import asyncio
import os
import signal
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from tests.scale.proxy import running_nginx
from tests.scale.stores import running_redis
from tests.servers import AppServer

CLIENTS = 8
KILL = 30  # answers after which something is killed
ANSWERS = 80
SHARES = 5  # every fifth request creates a share
AGAIN_SECONDS = 180


def replicas() -> list[int]:
    """Return the processes of the cluster's replicas: those that have its token."""
    token = f"RAY_AUTH_TOKEN={os.environ['RAY_AUTH_TOKEN']}".encode()
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            named = b"ServeReplica" in (process / "cmdline").read_bytes()
            if named and token in (process / "environ").read_bytes().split(b"\0"):
                found.append(int(process.name))
        except (FileNotFoundError, PermissionError, ProcessLookupError):
            continue  # it has ended, or is another's
    return found


@dataclass
class Load:
    """The requests and replies of clients, at a server or nginx."""

    url: str
    what: str
    asked: int = 0
    answered: int = 0
    lost: list[str] = field(default_factory=list)
    shares: dict[str, str] = field(default_factory=dict)  # sentences by id
    untold: int = 0  # shares without an acknowledgement, which are sent again
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def run(self, kill: Callable[[], None]) -> None:
        """Let clients send requests until there are enough replies; kill something after some."""
        async with httpx.AsyncClient(base_url=self.url, timeout=90, trust_env=False) as self.client:
            clients = [asyncio.create_task(self._send()) for _ in range(CLIENTS)]
            await self._reach(KILL)
            kill()
            await asyncio.gather(*clients)
            assert not self.lost
            assert len(self.shares) == ANSWERS // SHARES
            assert self.untold <= CLIENTS  # at most those in transit

    async def find_shares(self) -> None:
        """Open each share."""
        async with httpx.AsyncClient(base_url=self.url, timeout=90, trust_env=False) as client:
            for share, text in self.shares.items():
                kept = await client.get(f"/api/shares/{share}")
                assert kept.status_code == 200, share
                assert kept.json()["state"]["source"] == text

    async def _send(self) -> None:
        """Run one client."""
        while self.asked < ANSWERS:
            self.asked += 1
            text = f"The {self.what} saw {self.asked} dogs in the garden."
            if self.asked % SHARES:
                await self._trace(text)
            else:
                await self._share(text)
            async with self.changed:
                self.answered += 1
                self.changed.notify_all()

    async def _trace(self, text: str) -> None:
        body = {"source": text, "select": ["*.weights"]}
        reply = await self.client.post("/api/trace", json=body)
        if reply.status_code != 200 or not reply.json()["output"]["text"]:
            self.lost.append(f"{text} {reply.status_code} {reply.text[:200]}")

    async def _share(self, text: str) -> None:
        """Create a share; without a 201, the client sends it again."""
        for _ in range(3):
            reply = await self.client.post("/api/shares", json={"state": {"source": text}})
            if reply.status_code == 201:
                self.shares[reply.json()["id"]] = text
                return
            self.untold += 1
        self.lost.append(f"share: {text} {reply.status_code} {reply.text[:200]}")

    async def _reach(self, number: int) -> None:
        """Wait for so many replies."""
        async with self.changed:
            await self.changed.wait_for(lambda: self.answered >= number)


async def test_nothing_is_lost(
    cluster: str,
    launch: Callable[..., AppServer],
    postgres: Callable[[str], str],
    tmp_path: Path,
) -> None:
    """Kill a server and a replica of two each, with nginx, PostgreSQL and Redis.

    The replica's death is a matter of the server alone, so nginx is not asked meanwhile.
    """
    with ExitStack() as running:
        redis, _ = running.enter_context(running_redis(tmp_path))
        settings = {
            "ray_address": cluster,
            "database_url": postgres("scale"),
            "rates_url": redis,
            "max_shares_per_minute": "1000",
            "work_per_second": "1e9",
            "trusted_proxies": "127.0.0.1",
        }
        servers = [launch(data_dir=tmp_path / str(n), **settings) for n in range(2)]
        backends = [one.url.removeprefix("http://") for one in servers]
        url = running.enter_context(running_nginx(tmp_path, backends))
        before = replicas()
        assert len(before) == 2
        first, second = Load(servers[1].url, "cat"), Load(url, "dog")
        await first.run(lambda: os.kill(before[0], signal.SIGKILL))
        assert not first.untold
        await second.run(servers[0].kill)
        for load in (first, second):
            await load.find_shares()
        async with asyncio.timeout(AGAIN_SECONDS):
            while len(after := replicas()) < 2:
                await asyncio.sleep(0.5)
        assert before[0] not in after
