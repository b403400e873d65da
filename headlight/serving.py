"""A server inside a script or a notebook: ``headlight.serve(model)``."""

from __future__ import annotations

import socket
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any

import uvicorn

from app.engine.catalog import Catalog
from app.main import create_app
from app.settings import Settings
from headlight.models import wrap
from headlight.unwrapping import is_wrapped
from model.adapters.requests.adapter_interface import Adapter

LOOPBACK = "127.0.0.1"  # a server in a notebook is only for its user
WAIT_SECONDS = 60.0


@dataclass
class Serving:
    """A running server of the page; `stop()`, or leaving a `with` block, ends it."""

    url: str
    _server: uvicorn.Server
    _thread: threading.Thread
    _folder: TemporaryDirectory[str]

    def stop(self) -> None:
        """End the server and delete its data."""
        self._server.should_exit = True
        self._thread.join(WAIT_SECONDS)
        self._folder.cleanup()

    def __enter__(self) -> Serving:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"Headlight at {self.url}"

    def _repr_html_(self) -> str:
        address = escape(self.url, quote=True)
        return f'<a href="{address}" target="_blank" rel="noopener">{address}</a>'


def private_settings(folder: str, port: int = 0) -> Settings:
    """Return the settings of a server for the user of this process, with its data in a folder."""
    return Settings(
        host=LOOPBACK,
        port=port,
        data_dir=Path(folder),
        database_url=None,  # not that of another server, from the environment
        rates_url=None,
        zoo=False,
        max_runs=0,
    )


def serve(
    model: Adapter | Mapping[str, Adapter] | Any, tokenizer: Any = None, *, port: int = 0
) -> Serving:
    """Serve the page for one model or several, by the name in its menu, on this machine.

    `model` is from `load` or `wrap`, a mapping of names to such models, or a model of
    `transformers`, with its tokenizer, or a pipeline, which is not changed. Returns once it
    answers; `port` 0 takes a free one. The server runs on a thread of this process and ends with
    it. Raises `OSError` if the port is taken, and what `wrap` raises.
    """
    if tokenizer is not None or is_wrapped(model):
        model = wrap(model, tokenizer)
    models = model if isinstance(model, Mapping) else {model.info.id: model}
    folder = TemporaryDirectory(prefix="headlight-")
    settings = private_settings(folder.name, port)
    listening = socket.create_server((LOOPBACK, port))
    config = uvicorn.Config(
        create_app(settings, Catalog.of(models)), log_level="warning", ws="none"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listening],), name="headlight", daemon=True)
    thread.start()
    while not server.started and thread.is_alive():
        thread.join(0.02)
    if not server.started:
        folder.cleanup()
        raise RuntimeError("the server did not start; its error is above")
    address = f"http://{LOOPBACK}:{listening.getsockname()[1]}"
    return Serving(address, server, thread, folder)
