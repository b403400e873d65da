"""What is told of each request: an id, in its reply and in what is logged meanwhile; its count.

A request is named by its route, `/s/{id}`: what was in its address, its query or its body is told
to nobody.
"""

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from secrets import token_hex
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.http.log_format import REQUEST_ID
from app.http.metrics import NO_ROUTE, Metrics

HEADER = "X-Request-Id"
SEEN = "headlight.seen"  # key of a scope; copies of the scope hold the same `Seen`

log = logging.getLogger(__name__)


@dataclass
class Seen:
    """What comes to be known of a request on its way."""

    route: str = ""
    status: int = 0
    size: int = 0  # bytes of the reply's body, as sent


class Observed:
    """The outermost: gives a request its id, and counts it when it has been answered."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        # A request runs in a task of its own, so nobody else sees its id; it stays for errors that
        # are logged further out.
        identity = token_hex(8)
        REQUEST_ID.set(identity)
        seen = scope[SEEN] = Seen()

        async def send_seen(message: Message) -> None:
            if message["type"] == "http.response.start":
                seen.status = message["status"]
                MutableHeaders(scope=message)[HEADER] = identity
            seen.size += len(message.get("body", b""))
            await send(message)

        started = time.perf_counter()
        try:
            await self.app(scope, receive, send_seen)
        finally:
            self._tell(scope["method"], seen, time.perf_counter() - started)

    def _tell(self, method: str, seen: Seen, seconds: float) -> None:
        status = seen.status or 500  # an error that is answered further out
        self.metrics.count_request(method, seen.route, status, seconds)
        told = {
            "method": method,
            "route": seen.route or NO_ROUTE,
            "status": status,
            "milliseconds": round(1000 * seconds),
            "bytes": seen.size,
        }
        log.info("%(method)s %(route)s %(status)s %(milliseconds)s ms", told, extra={"told": told})


class RouteSeen:
    """The innermost: notes the route that was found. Others on the way copy the scope.

    `paths` are those of the routes, by their functions.
    """

    def __init__(self, app: ASGIApp, paths: Mapping[Callable[..., Any] | None, str]) -> None:
        self.app = app
        self.paths = paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self.app(scope, receive, send)
        finally:
            if SEEN in scope:
                scope[SEEN].route = self.paths.get(scope.get("endpoint"), "")
