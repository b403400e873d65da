"""Request ids in replies and log lines, and the count of requests.

A request is logged by its route, such as `/s/{id}`: its address, query and body are never
logged.
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
    """Data about a request, collected while it is processed."""

    route: str = ""
    status: int = 0
    size: int = 0  # bytes of the reply's body, as sent


class Observed:
    """Outermost middleware: gives each request an id, and counts it once it has been answered."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        # Each request runs in its own task, so no other request sees its id. It is not reset, so
        # that errors logged by outer middleware have it too.
        identity = token_hex(8)
        REQUEST_ID.set(identity)
        observed = scope[SEEN] = Seen()

        async def send_seen(message: Message) -> None:
            if message["type"] == "http.response.start":
                observed.status = message["status"]
                MutableHeaders(scope=message)[HEADER] = identity
            observed.size += len(message.get("body", b""))
            await send(message)

        started = time.perf_counter()
        try:
            await self.app(scope, receive, send_seen)
        finally:
            self._tell(scope["method"], observed, time.perf_counter() - started)

    def _tell(self, method: str, observed: Seen, seconds: float) -> None:
        status = observed.status or 500  # an error that outer middleware answers
        self.metrics.count_request(method, observed.route, status, seconds)
        record = {
            "method": method,
            "route": observed.route or NO_ROUTE,
            "status": status,
            "milliseconds": round(1000 * seconds),
            "bytes": observed.size,
        }
        log.info(
            "%(method)s %(route)s %(status)s %(milliseconds)s ms", record, extra={"told": record}
        )


class RouteSeen:
    """Innermost middleware: records the matched route, since outer middleware has other scopes.

    `paths` are the routes' paths by function.
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
