"""Compresses large replies off the event loop, and replies with an ETag only once.

This middleware is inside starlette_compress, which compresses small and streamed replies and does
not change compressed ones.
"""

import zlib
from collections.abc import Callable
from typing import Any

import brotli
import zstandard
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.http.file_formats import JSON, SAFETENSORS, preferences
from app.http.tasks_and_caches import SMALL, ByteCache, off_loop

TYPES = {JSON, SAFETENSORS, "text/html", "text/css", "text/javascript", "image/svg+xml"}
LEVEL = 4  # as in starlette_compress, for every encoding
GZIP = 16 + zlib.MAX_WBITS  # makes zlib write a gzip header, here without a date


def _gzip(body: bytes) -> bytes:
    compressing = zlib.compressobj(LEVEL, wbits=GZIP)
    return compressing.compress(body) + compressing.flush()


# In the server's order of preference, the same as in starlette_compress.
ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "zstd": lambda body: zstandard.compress(body, LEVEL),
    "br": lambda body: bytes(brotli.compress(body, quality=LEVEL)),
    "gzip": _gzip,
}


class CompressLarge:
    """Compresses bodies that are sent in one piece, and caches them by address and ETag."""

    def __init__(self, app: ASGIApp, cache: ByteCache[Any]) -> None:
        self.app = app
        self.cache = cache

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        encoding = _encoding(scope)
        if encoding is None:
            await self.app(scope, receive, send)
            return
        start: Message | None = None

        async def compressed(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start":
                start = message
                return
            if start is not None:
                held_start, start = start, None
                if _worth_it(held_start, message):
                    message = await self._compress(scope, held_start, message, encoding)
                await send(held_start)
            await send(message)

        await self.app(scope, receive, compressed)

    async def _compress(
        self, scope: Scope, start: Message, body: Message, encoding: str
    ) -> Message:
        """Return the message with its body compressed; change the headers of `start`."""
        headers = MutableHeaders(scope=start)
        content = body["body"]
        encode = ENCODERS[encoding]

        async def make() -> bytes:
            return await off_loop(encode, content, size=len(content))

        if etag := headers.get("etag"):
            address = scope["path"], scope["query_string"]
            compressed = await self.cache.find(("compressed", address, etag, encoding), make)
        else:
            compressed = await make()
        headers["Content-Encoding"] = encoding
        headers["Content-Length"] = str(len(compressed))
        headers.add_vary_header("Accept-Encoding")
        return {**body, "body": compressed}


def _encoding(scope: Scope) -> str | None:
    """Return the first encoding that the client accepts; None if there is none."""
    if scope["type"] != "http":
        return None
    accepted = preferences(Headers(scope=scope).get("accept-encoding", ""))
    return next((name for name in ENCODERS if name in accepted or "*" in accepted), None)


def _worth_it(start: Message, body: Message) -> bool:
    headers = Headers(raw=start["headers"])
    return (
        body["type"] == "http.response.body"
        and not body.get("more_body")
        and len(body.get("body", b"")) > SMALL
        and "content-encoding" not in headers
        and headers.get("content-type", "").partition(";")[0].strip() in TYPES
    )
