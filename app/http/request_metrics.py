"""Request ids in replies and log lines, and the server's metrics in Prometheus's text format.

A request is logged and counted by its route, such as `/s/{id}`: its address, query and body are
never logged. Each application has its own registry, so that two in one process are counted
separately.
"""

import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from secrets import token_hex
from typing import Any

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.http.log_format import REQUEST_ID

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)

SIZES = (1, 2, 4, 8, 16, 32, 64)

NO_ROUTE = "none"  # no route matched, or the request was refused earlier


class Metrics:
    """Counters, which the server increments, and gauges, which are computed when read."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        self._requests = Counter(
            "headlight_requests",
            "Requests, by route and status.",
            ["method", "route", "status"],
            registry=registry,
        )
        self._request_seconds = Histogram(
            "headlight_request_seconds",
            "Seconds from a request's head to the end of the reply.",
            ["route"],
            buckets=SECONDS,
            registry=registry,
        )
        self._batches = Histogram(
            "headlight_batch_size",
            "Requests that a model ran in one batch; 1 for a stream's next line.",
            ["kind"],
            buckets=SIZES,
            registry=registry,
        )
        self._waits = Histogram(
            "headlight_wait_seconds",
            "Seconds that a request, or a stream's next line, waited for a model.",
            ["kind"],
            buckets=SECONDS,
            registry=registry,
        )
        self._lookups = Counter(
            "headlight_cache_lookups",
            "Lookups in a cache.",
            ["cache", "result"],
            registry=registry,
        )
        self._refreshers: list[Callable[[], Awaitable[None]]] = []

    def count_request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request that has been answered."""
        self._requests.labels(method, route or NO_ROUTE, status).inc()
        self._request_seconds.labels(route or NO_ROUTE).observe(seconds)

    def count_batch(self, kind: str, waits: Sequence[float]) -> None:
        """Count a batch, given the seconds that each of its requests has waited."""
        self._batches.labels(kind).observe(len(waits))
        for wait in waits:
            self._waits.labels(kind).observe(wait)

    def count_lookup(self, cache: str, hit: bool) -> None:
        """Count a lookup in a cache."""
        self._lookups.labels(cache, "hit" if hit else "miss").inc()

    def watch(self, name: str, words: str, value: Callable[[], float]) -> None:
        """Register a gauge whose value is computed whenever it is read."""
        Gauge(f"headlight_{name}", words, registry=self.registry).set_function(value)

    def gauge(self, name: str, words: str) -> Gauge:
        """Return a gauge to set."""
        return Gauge(f"headlight_{name}", words, registry=self.registry)

    def refresh(self, set_gauges: Callable[[], Awaitable[None]]) -> None:
        """Register what sets gauges before they are read."""
        self._refreshers.append(set_gauges)

    async def text(self) -> bytes:
        """Return all metrics in the text format."""
        for set_gauges in self._refreshers:
            await set_gauges()
        return generate_latest(self.registry)


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
