"""A server inside a script or a notebook: ``headlight.serve(model)``.

The server's API without a port, for pages that a notebook's kernel answers.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Coroutine, Mapping, MutableMapping
from concurrent.futures import Future
from dataclasses import dataclass
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, TypeVar
from urllib.parse import unquote

import uvicorn
from fastapi import FastAPI

from app.engine.model_catalog import Catalog
from app.main import create_app
from app.settings import Settings
from headlight.models import is_wrapped, wrap
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


Message = MutableMapping[str, Any]

Result = TypeVar("Result")


@dataclass(frozen=True)
class ApiReply:
    """What the server would send."""

    status: int
    media_type: str
    body: bytes


class InProcessApi:
    """Answers requests to the API of one model; opened at the first of them."""

    def __init__(self, model: Adapter) -> None:
        self._folder = TemporaryDirectory(prefix="headlight-")
        settings = private_settings(self._folder.name)
        self._app: FastAPI = create_app(settings, Catalog.of({model.info.id: model}))
        self._loop = asyncio.new_event_loop()
        self._ended = asyncio.Event()
        started: Future[None] = Future()
        # A daemon, so that a kernel ends without closing its widgets.
        self._thread = threading.Thread(
            target=self._serve, args=[started], name="headlight", daemon=True
        )
        self._thread.start()
        started.result(WAIT_SECONDS)

    def reply(self, method: str, path: str, accept: str, body: str | None) -> ApiReply:
        """Return the reply to a request; a stream is read to its end."""
        return self._run(self._reply(method, path, accept, (body or "").encode()))

    def close(self) -> None:
        """Stop the engine and delete its data; a second time does nothing."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._ended.set)
            self._thread.join(WAIT_SECONDS)

    def _run(self, task: Coroutine[Any, Any, Result]) -> Result:
        return asyncio.run_coroutine_threadsafe(task, self._loop).result()

    def _serve(self, started: Future[None]) -> None:
        async def live() -> None:
            async with self._app.router.lifespan_context(self._app):
                started.set_result(None)
                await self._ended.wait()
            self._folder.cleanup()

        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
                runner.run(live())
        except Exception as error:
            if started.done():
                raise
            started.set_exception(error)

    async def _reply(self, method: str, path: str, accept: str, body: bytes) -> ApiReply:
        """Call the application as a server does."""
        address, _, query = path.partition("?")
        headers = [
            (b"host", LOOPBACK.encode()),
            (b"accept", accept.encode()),
            (b"content-type", b"application/json"),
        ]
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": unquote(address),
            "raw_path": address.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": headers,
            "client": (LOOPBACK, 0),
            "server": (LOOPBACK, 80),
        }
        requests: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]
        sent: list[Message] = []

        async def receive() -> Message:
            if requests:
                return requests.pop()
            await asyncio.Event().wait()  # until the application cancels this: nobody leaves
            raise AssertionError("nothing ends this wait")

        async def send(message: Message) -> None:
            sent.append(message)

        await self._app(scope, receive, send)
        start = next(message for message in sent if message["type"] == "http.response.start")
        media_type = next(
            (value for name, value in start["headers"] if name == b"content-type"), b""
        )
        content = b"".join(message.get("body", b"") for message in sent)
        return ApiReply(start["status"], media_type.decode(), content)
