"""`python -m app`: the server, with its settings from the environment; and what is done beside it.

python -m app                     serve
python -m app shares export FILE  and import, prune
"""

import asyncio
import contextlib
import socket
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Sequence

import uvicorn
from pydantic import ValidationError

from app.engine.catalog import Catalog
from app.engine.runners import Runners
from app.http import log_format
from app.main import create_app
from app.services import open_models
from app.settings import Settings
from app.store.commands import add_arguments, run
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


def main(arguments: Sequence[str] | None = None) -> int:
    """Serves until told to end, or does what the arguments say; returns the exit status."""
    parser = ArgumentParser("python -m app", description="Without a command: the server.")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    add_arguments(commands.add_parser("shares", help="export, import or prune shares"))
    asked = parser.parse_args(arguments)
    try:
        settings = Settings()
    except ValidationError as error:
        for wrong in error.errors():
            name = "HEADLIGHT_" + "_".join(str(step) for step in wrong["loc"]).upper()
            print(f"{name}: {wrong['msg']}", file=sys.stderr)
        return 2
    if asked.command == "shares":
        return asyncio.run(run(asked, settings))
    if obstacle := asyncio.run(_obstacle(settings)):
        print(obstacle, file=sys.stderr)
        return 2
    print(f"Loading {', '.join(settings.bundles)}", flush=True)
    try:
        models = open_models(settings)
    except Exception as error:  # whatever is wrong with a bundle or a device, its words are enough
        print(f"HEADLIGHT_MODELS, HEADLIGHT_DEVICE: {error}", file=sys.stderr)
        return 2
    return serve(settings, models)


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


def serve(settings: Settings, models: Catalog | Runners) -> int:
    """Serves models that are open."""
    config = uvicorn.Config(
        create_app(settings, models),
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


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        sys.exit(main())
