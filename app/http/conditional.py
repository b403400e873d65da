"""Conditional requests: replies to GET have ETags, and 304 if the client already has them.

HEAD is answered like GET, without the body.
"""

import hashlib

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.http.worker_threads import off_loop


class Conditional:
    """Gives every 200 reply to a GET a weak ETag of its body, unless it has one or is streamed."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
            await self.app(scope, receive, send)
            return
        reply = _Reply(scope, send)
        # uvicorn removes the body of a reply to HEAD according to the scope that it keeps.
        await self.app({**scope, "method": "GET"}, receive, reply.send)


class _Reply:
    """Holds back the start of a reply until its body is known."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self.known = Headers(scope=scope).get("if-none-match", "")
        self.head = scope["method"] == "HEAD"
        self.forward = send
        self.start: Message | None = None

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.start = message
            return
        if self.start is not None:
            start, self.start = self.start, None
            if message["type"] == "http.response.body" and await self._matches(start, message):
                start["status"] = 304
                message = {"type": "http.response.body"}
                for name in ("content-length", "content-type"):
                    del MutableHeaders(scope=start)[name]
            await self.forward(start)
        if self.head and message["type"] == "http.response.body":
            message = {**message, "body": b""}
        await self.forward(message)

    async def _matches(self, start: Message, message: Message) -> bool:
        headers = MutableHeaders(scope=start)
        if start["status"] != 200:
            return False
        if "etag" not in headers and not message.get("more_body"):
            body = message.get("body", b"")
            headers["etag"] = await off_loop(_tag, body, size=len(body))
        if "etag" not in headers or message.get("more_body"):
            return False
        tags = {tag.strip().removeprefix("W/") for tag in self.known.split(",")}
        return "*" in tags or headers["etag"].removeprefix("W/") in tags


def _tag(body: bytes) -> str:
    return f'W/"{hashlib.sha256(body).hexdigest()[:32]}"'
