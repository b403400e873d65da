"""What only a real socket shows: clients that leave, a server that is told to end."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import uvicorn

from app.assets import Vendor
from app.catalog import Catalog
from app.main import create_app
from app.services import Services
from app.settings import Settings
from tests.app.slow import Slow
from tests.servers import free_port


class Live:
    """A server in this process, its slow model, and a way to speak to it."""

    def __init__(self, data_dir: Path) -> None:
        self.model = Slow()
        self.port = free_port()
        self.app = create_app(Settings(data_dir=data_dir), Catalog({"slow": self.model}))
        config = uvicorn.Config(self.app, port=self.port, log_level="error")
        self.server = uvicorn.Server(config)

    @property
    def waiting(self) -> int:
        services: Services = self.app.state.services
        return services.engine.waiting

    async def send(self, source: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        body = json.dumps({"source": source}).encode()
        head = (
            "POST /api/trace HTTP/1.1\r\nHost: headlight\r\nConnection: close\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        writer.write(head.encode() + body)
        await writer.drain()
        return reader, writer


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.01)


@asynccontextmanager
async def running(data_dir: Path) -> AsyncIterator[Live]:
    live = Live(data_dir)
    serving = asyncio.create_task(live.server.serve())
    await until(lambda: live.server.started)
    try:
        yield live
    finally:
        live.model.go.set()
        live.server.should_exit = True
        await serving


@pytest.fixture
async def live(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Live]:
    monkeypatch.setattr(Vendor, "compress", lambda _: None)
    async with running(tmp_path) as live:
        yield live


async def test_who_hangs_up_gives_up_the_place(live: Live) -> None:
    reader, writer = await live.send("first")
    await until(live.model.started.is_set)
    _, leaver = await live.send("leaver")
    await until(lambda: live.waiting == 1)
    leaver.close()
    await until(lambda: live.waiting == 0)
    live.model.go.set()
    assert b"200 OK" in await reader.readline()
    writer.close()
    assert live.model.batches == [["first"]]


async def test_the_end_waits_for_who_is_being_served(live: Live) -> None:
    reader, writer = await live.send("first")
    await until(live.model.started.is_set)
    live.server.should_exit = True
    await asyncio.sleep(0.2)
    live.model.go.set()
    assert b"200 OK" in await reader.readline()
    writer.close()
    with pytest.raises(OSError, match="Connect call failed"):
        await asyncio.open_connection("127.0.0.1", live.port)
