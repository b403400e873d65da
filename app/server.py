"""The server process: checks the settings, opens the models and listens."""

import asyncio
import gc
import socket
import sys
import tempfile
from concurrent.futures import Future
from functools import partial
from typing import cast

import uvicorn
from fastapi import FastAPI

from app.engine.model_catalog import Catalog
from app.engine.runners import Runners
from app.engine.start_processes import Launcher
from app.http import log_format
from app.http.host_names import ANY_ADDRESS, lan_address
from app.http.limits import Bounds, Connection, sweep
from app.main import create_app, open_models
from app.settings import Settings
from app.store.disk_files import make_private_folder
from app.store.store import open_store

GRACE_SECONDS = 10  # for running requests when the server is told to stop
OTHER_FILES = 200  # besides connections: the database, models, files being sent


class Server(uvicorn.Server):
    """Prints its addresses once it is reachable, and limits its connections."""

    def __init__(self, config: uvicorn.Config, bounds: Bounds) -> None:
        super().__init__(config)
        self.bounds = bounds

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        # A full garbage collection looks at every object, most of which are of the libraries: the
        # server would stand still for some 400 ms.
        gc.freeze()
        if self.started:
            port = self.servers[0].sockets[0].getsockname()[1]
            print(f"\n  Headlight is on\n\n{_addresses(self.config.host, port)}\n", flush=True)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the streams of runs and rooms first: they would last as long as those."""
        if isinstance(self.config.app, FastAPI):
            self.config.app.state.services.hang_up()
        await super().shutdown(sockets)

    async def on_tick(self, counter: int) -> bool:
        """Check the connections once a second; called ten times a second."""
        if counter % 10 == 0:
            connections = cast(set[Connection], self.server_state.connections)
            sweep(list(connections), self.bounds, asyncio.get_running_loop().time())
        return await super().on_tick(counter)


def start(settings: Settings, launching: Future[list[Launcher]] | None = None) -> int:
    """Serve until stopped; return the exit status. `launching` is as in `open_models`."""
    if obstacle := asyncio.run(_obstacle(settings)):
        print(obstacle, file=sys.stderr)
        return 2
    print(f"Loading {', '.join(settings.bundles)}", flush=True)
    try:
        models = open_models(settings, launching)
    except Exception as error:  # a broken bundle or device: its message is enough
        setting = "RAY_ADDRESS" if settings.ray_address else "DEVICE"
        print(f"HEADLIGHT_MODELS, HEADLIGHT_{setting}: {error}", file=sys.stderr)
        return 2
    return serve(settings, models)


async def _obstacle(settings: Settings) -> str | None:
    """Return the reason that the server cannot write its data, in one line; None if it can."""
    try:
        make_private_folder(settings.data_dir)
        with tempfile.TemporaryFile(dir=settings.data_dir):
            pass
    except OSError as error:
        return f"HEADLIGHT_DATA_DIR: {settings.data_dir} cannot be written: {error.strerror}"
    try:
        async with open_store(settings.database):
            return None
    except Exception as error:  # each driver has its own errors; the first line is enough
        (line, *_) = str(error).splitlines() or [type(error).__name__]
        return f"HEADLIGHT_DATABASE_URL: the database cannot be opened: {line}"


def serve(settings: Settings, models: Catalog | Runners) -> int:
    """Serve models that are open."""
    bounds = Bounds(
        settings.max_connections,
        settings.max_head_bytes,
        settings.max_request_seconds,
        settings.max_stall_seconds,
        settings.max_unsent_bytes,
    )
    _allow_files(settings.max_connections)
    config = uvicorn.Config(
        create_app(settings, models),
        host=settings.host,
        port=settings.port,
        log_config=log_format.config(settings.log, settings.log_requests),
        log_level="warning",
        timeout_graceful_shutdown=GRACE_SECONDS,
        server_header=False,
        proxy_headers=bool(settings.proxies),
        forwarded_allow_ips=settings.proxies,
        http=cast(type[asyncio.Protocol], partial(Connection, bounds)),
        ws="none",
    )
    server = Server(config, bounds)
    server.run()  # returns or raises what stopped it, after an orderly shutdown
    return 0 if server.started else 1


def _allow_files(connections: int) -> None:
    """Raise the system's limit on open files to what the connections need, if possible."""
    if sys.platform == "win32":
        return  # it has no such limit
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = connections + OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < needed:
        allowed = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))


def _addresses(host: str, port: int) -> str:
    """Return the addresses to type, one per line."""
    if host not in ANY_ADDRESS:
        return f"    http://{f'[{host}]' if ':' in host else host}:{port}"
    lines = [f"    http://localhost:{port}   on this machine"]
    if lan := lan_address():
        lines.append(f"    http://{lan}:{port}   for others on the network")
    return "\n".join(lines)
