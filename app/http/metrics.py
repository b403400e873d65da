"""The server's metrics in Prometheus's text format.

Each application has its own registry, so that two in one process are counted separately.
"""

from collections.abc import Awaitable, Callable, Sequence

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)

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
