"""The server as a process: from settings to the addresses that it answers at."""

import asyncio
import socket
import sys
import tempfile

import uvicorn

from app.engine.catalog import Catalog
from app.http import log_format
from app.main import create_app
from app.services import load_catalog
from app.settings import Settings
from app.store.private_files import make_private_folder
from app.store.store import open_store

GRACE_SECONDS = 10  # for requests that are running when the server is told to end


class Server(uvicorn.Server):
    """Says where it can be reached once it can be."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            port = self.servers[0].sockets[0].getsockname()[1]
            print(f"\n  Headlight is on\n\n{_addresses(self.config.host, port)}\n", flush=True)


def start(settings: Settings) -> int:
    """Loads the models and serves until told to end; returns the exit status."""
    if obstacle := asyncio.run(_obstacle(settings)):
        print(obstacle, file=sys.stderr)
        return 2
    print(f"Loading {', '.join(settings.bundles)}", flush=True)
    try:
        catalog = load_catalog(settings)
    except Exception as error:  # whatever is wrong with a bundle or a device, its words are enough
        print(f"HEADLIGHT_MODELS, HEADLIGHT_DEVICE: {error}", file=sys.stderr)
        return 2
    return serve(settings, catalog)


async def _obstacle(settings: Settings) -> str | None:
    """What keeps the server from writing, in one line; None if it can."""
    try:
        make_private_folder(settings.data_dir)
        with tempfile.TemporaryFile(dir=settings.data_dir):
            pass
    except OSError as error:
        return f"HEADLIGHT_DATA_DIR: {settings.data_dir} cannot be written: {error.strerror}"
    try:
        async with open_store(settings.database):
            return None
    except Exception as error:  # each driver has its own; its first line is enough
        (line, *_) = str(error).splitlines() or [type(error).__name__]
        return f"HEADLIGHT_DATABASE_URL: the database cannot be opened: {line}"


def serve(settings: Settings, catalog: Catalog) -> int:
    """Serves models that are loaded."""
    config = uvicorn.Config(
        create_app(settings, catalog),
        host=settings.host,
        port=settings.port,
        log_config=log_format.CONFIG,
        log_level="warning",
        timeout_graceful_shutdown=GRACE_SECONDS,
        server_header=False,
    )
    server = Server(config)
    server.run()  # returns or raises what ended it, after an orderly end
    return 0 if server.started else 1


def _addresses(host: str, port: int) -> str:
    """The addresses to type, a line each."""
    if host not in ("0.0.0.0", "::"):
        return f"    http://{f'[{host}]' if ':' in host else host}:{port}"
    lines = [f"    http://localhost:{port}   on this machine"]
    if lan := _lan_address():
        lines.append(f"    http://{lan}:{port}   for others on the network")
    return "\n".join(lines)


def _lan_address() -> str | None:
    """Finds this machine's address as others see it; None without a network. Sends nothing."""
    for anywhere in ("192.0.2.1", "224.0.0.1"):  # the default route, or else any network
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.connect((anywhere, 9))
            except OSError:
                continue
            address: str = probe.getsockname()[0]
            if not address.startswith("127."):
                return address
    return None
