"""A server on a real socket, in this process, with a slow model."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import uvicorn

from app.engine.engine import Engine
from app.engine.model_catalog import Catalog
from app.http.route_dependencies import Services
from app.main import create_app
from app.settings import Settings
from tests.servers import PATIENCE, free_port
from tests.serving.slow import Slow


class Live:
    """A server in this process, its slow model, and a client for it."""

    def __init__(self, data_dir: Path) -> None:
        self.model = Slow()
        self.port = free_port()
        self.app = create_app(Settings(data_dir=data_dir), Catalog.of({"slow": self.model}))
        config = uvicorn.Config(self.app, port=self.port, log_level="error")
        self.server = uvicorn.Server(config)

    @property
    def engine(self) -> Engine:
        """The engine in which requests wait."""
        services: Services = self.app.state.services
        return services[Engine]

    async def send(
        self, source: str, path: str = "/api/trace", accept: str = "identity"
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Post a sentence; return the reader and the writer of the connection."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        body = json.dumps({"source": source}).encode()
        head = (
            f"POST {path} HTTP/1.1\r\nHost: headlight\r\nConnection: close\r\n"
            f"Accept-Encoding: {accept}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        writer.write(head.encode() + body)
        await writer.drain()
        return reader, writer


async def until(condition: Callable[[], bool]) -> None:
    """Wait until a condition is true, for at most ten seconds."""
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0.01)


@asynccontextmanager
async def running(data_dir: Path) -> AsyncIterator[Live]:
    """Serve until the block ends."""
    live = Live(data_dir)
    serving = asyncio.create_task(live.server.serve())
    await until(lambda: live.server.started)
    try:
        yield live
    finally:
        live.model.go.set()
        live.server.should_exit = True
        await serving
