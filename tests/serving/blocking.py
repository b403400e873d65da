"""A client that waits for an app's replies, while the app runs in a loop of another thread."""

from collections.abc import Iterator
from contextlib import contextmanager

import httpx
from anyio.from_thread import BlockingPortal, start_blocking_portal
from fastapi import FastAPI


class _Transport(httpx.BaseTransport):
    def __init__(self, app: FastAPI, portal: BlockingPortal) -> None:
        self._portal = portal
        self._app = httpx.ASGITransport(app, raise_app_exceptions=False)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return self._portal.call(self._reply, request)

    async def _reply(self, request: httpx.Request) -> httpx.Response:
        reply = await self._app.handle_async_request(request)
        assert isinstance(reply.stream, httpx.AsyncByteStream)
        whole = httpx.ByteStream(b"".join([part async for part in reply.stream]))
        return httpx.Response(reply.status_code, headers=reply.headers, stream=whole)


@contextmanager
def client_of(app: FastAPI) -> Iterator[httpx.Client]:
    """Run the app until the block ends."""
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(app.router.lifespan_context(app)),
        httpx.Client(transport=_Transport(app, portal), base_url="http://headlight") as client,
    ):
        yield client
