"""What one client may send: how often, how much at once, and its share of what is limited.

One address may hold half of what the others have left free, rounded up. Of nine places a first
address gets five, a second one two, a third and a fourth one each: an address alone never takes
everything, and a place that is free is always somebody's to take.

While the models are busy, clients are told how often to send requests: `Headlight-Pace: 2.5` in the
reply to a request asks its client to send the next one no sooner than 2.5 seconds later
(`app.engine.load_shedding`). A client that does not is served all the same.

A connection has limits too: size of the request head, time, and buffered data. uvicorn does not
limit these with its httptools parser. A connection counts the bytes that it parses
and records when it started to wait; once a second, `sweep` ends those that exceed a limit:

    a head (request line and headers) that is too large             431
    a request that does not arrive in time                          408
    a connection beyond the maximum: it, or one that waits of
    the address that has the most                                   503
    a client that does not read its reply, and the slowest clients
    if all unsent data together is too much                         cut off
"""

import logging
import math
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Network, ip_address
from types import MappingProxyType
from typing import Any

import orjson
from anyio import to_thread
from limits import RateLimitItemPerMinute
from limits.errors import StorageError
from limits.storage import MemoryStorage, storage_from_string
from limits.strategies import FixedWindowRateLimiter
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from app.http.problems import MEDIA_TYPE, ProblemError
from model.errors import Excess

CLIENT_HEADER = "headlight-client"  # a page's random token: identifies a client at an address

SITE_BITS = 48  # of an IPv6 address, that its site has

REDIS_SECONDS = 1.0  # timeout of a reply

Allows = Callable[[FixedWindowRateLimiter, RateLimitItemPerMinute, str], bool]

log = logging.getLogger(__name__)


def client_network(request: Request) -> str:
    """Return the network of a request's client, which limits are counted for; empty if unknown."""
    return network_of(request.client.host if request.client else "")


def network_of(host: str) -> str:
    """Return an IPv4 address as it is, and of an IPv6 address the /48 network.

    A site usually gets a /48, and can change addresses within it at will.
    """
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if isinstance(address, IPv4Address):
        return str(address)
    return str(address.ipv4_mapped or IPv6Network((int(address), SITE_BITS), strict=False))


class PerMinute:
    """Limits how often an address does something per minute, counted from its first time.

    Servers that use the same Redis count together; while it is unavailable, each counts alone.
    `kind` is that of the problem, `counted` names what is counted.
    """

    def __init__(
        self,
        limit: int,
        url: str | None = None,
        *,
        kind: str,
        counted: str,
    ) -> None:
        self.limit = RateLimitItemPerMinute(limit, namespace=kind)
        self.kind, self.counted = kind, counted
        self._own = FixedWindowRateLimiter(MemoryStorage())
        self._shared: FixedWindowRateLimiter | None = None
        if url:
            patience = {"socket_timeout": REDIS_SECONDS, "socket_connect_timeout": REDIS_SECONDS}
            storage = storage_from_string(url, wrap_exceptions=True, **patience)
            self._shared = FixedWindowRateLimiter(storage)

    async def count(self, address: str) -> None:
        """Count one more time. Raises a 429 `ProblemError` beyond the limit."""
        await self._ask(FixedWindowRateLimiter.hit, address)

    async def check(self, address: str) -> None:
        """Raise what `count` would raise, without counting."""
        await self._ask(FixedWindowRateLimiter.test, address)

    async def _ask(self, allows: Allows, address: str) -> None:
        if self._shared:
            try:
                await to_thread.run_sync(self._hold, self._shared, allows, address)
                return
            except StorageError as error:
                log.error("rate limits are not shared: %s", type(error.storage_error).__name__)
        self._hold(self._own, allows, address)

    def _hold(self, counts: FixedWindowRateLimiter, allows: Allows, address: str) -> None:
        if not allows(counts, self.limit, address):
            ends = counts.get_window_stats(self.limit, address).reset_time
            detail = f"at most {self.limit.amount} {self.counted} per minute from one address"
            headers = {"Retry-After": str(max(1, math.ceil(ends - time.time())))}
            raise ProblemError(429, self.kind, detail, headers=headers)


class BodyLimit:
    """Answers 413 to a body whose declared or actual size exceeds `limit` bytes.

    `paths` gives other limits for some paths.
    """

    def __init__(
        self, app: ASGIApp, limit: int, paths: Mapping[str, int] = MappingProxyType({})
    ) -> None:
        self.app = app
        self.limit = limit
        self.paths = paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        limit = self.paths.get(scope.get("path", ""), self.limit)
        declared = Headers(scope=scope).get("content-length", "") if scope["type"] == "http" else ""
        if declared.isdecimal() and int(declared) > limit:
            await _problem(limit).response()(scope, receive, send)
            return
        size = 0

        async def count() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > limit:
                raise _problem(limit)
            return message

        await self.app(scope, count, send)


def _problem(limit: int) -> ProblemError:
    detail = f"the body may have at most {limit} bytes"
    return ProblemError(413, "body-too-large", detail, excess=Excess(limit, "bytes"))


def fair_share(limit: int, theirs: int) -> int:
    """Return how much of `limit` one address may hold while other addresses hold `theirs`."""
    return (max(0, limit - theirs) + 1) // 2


@dataclass(frozen=True)
class Shared:
    """A limit that all addresses share; `unit` names what is counted, in the plural."""

    most: int
    unit: str

    def refusal(self, holders: Iterable[str], address: str) -> str | None:
        """Return why an address cannot have one more, worded for a problem; None if it can.

        `holders` are the addresses that hold one each.
        """
        counts = Counter(holders)
        return self.refusal_of(counts[address], counts.total() - counts[address])

    def refusal_of(self, mine: int, theirs: int, added: int = 1) -> str | None:
        """Return the same for an address that holds `mine` and asks for `added` more."""
        share = fair_share(self.most, theirs)
        if mine + added <= share:
            return None
        if mine + theirs + added > self.most:
            return f"of at most {self.most} {self.unit}, {mine + theirs} are in use"
        return (
            f"one address may have half of the {self.unit} that others leave free, which is "
            f"{share} of {self.most}; this address has {mine}"
        )


PACE = "Headlight-Pace"  # seconds


class Paced:
    """Adds the pace, in seconds, to replies to POST requests of the API, unless it is 0."""

    def __init__(self, app: ASGIApp, pace: Callable[[], float]) -> None:
        self.app = app
        self.pace = pace

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await self.app(scope, receive, send)
            return

        async def paced(message: Message) -> None:
            if message["type"] == "http.response.start" and (seconds := self.pace()):
                MutableHeaders(scope=message)[PACE] = f"{seconds:.1f}"
            await send(message)

        await self.app(scope, receive, paced)


MIN_BYTES_A_SECOND = 4_096  # a client that reads more slowly is stalled

KERNEL_BYTES = 131_072  # of a reply that the kernel buffers before sending

MAX_PIPELINED = 16  # requests sent before the reply to the first


@dataclass(frozen=True)
class Bounds:
    """The limits of connections, in seconds and bytes."""

    connections: int
    head_bytes: int
    request_seconds: float  # from the first byte (or the start of the connection) to the last
    stall_seconds: float  # without progress of the client that reads
    unsent_bytes: int  # of all connections together


class _StopError(Exception):
    """Raised to stop the parser."""


class Connection(HttpToolsProtocol):
    """One client's connection."""

    def __init__(self, bounds: Bounds, **options: Any) -> None:
        super().__init__(**options)
        self.bounds = bounds
        self._head_bytes = 0  # parsed so far of this request
        self._unparsed = 0  # bytes since the parser last called back
        self._arriving: float | None = None  # since when a request is awaited or arriving
        self._unsent = 0  # bytes, when the reader last made progress
        self._progress = 0.0  # time of that
        self._refusal: ProblemError | None = None
        self._network = ""  # of the client

    def connection_made(self, transport: Any) -> None:
        """Refuse a connection beyond the limit at once, without waiting for its first byte."""
        super().connection_made(transport)
        self._network = network_of(self.client[0]) if self.client else ""
        self._arriving = self.loop.time()
        # A reply counts as sent when the kernel has taken all of it. The kernel buffers little
        # ahead; otherwise a reader's progress would show only once every few megabytes.
        transport.set_write_buffer_limits(high=0)
        if hasattr(socket, "TCP_NOTSENT_LOWAT"):
            connection = transport.get_extra_info("socket")
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, KERNEL_BYTES)
        if len(self.connections) > self.bounds.connections:
            self._make_place()

    def _make_place(self) -> None:
        """Refuse a connection that waits, of the address that has the most; this one, if it has.

        An address that keeps all connections waiting therefore keeps nobody out.
        """
        connections = [other for other in self.connections if isinstance(other, Connection)]
        present = [other for other in connections if not other.transport.is_closing()]
        if len(present) <= self.bounds.connections:
            return
        counts = Counter(other._network for other in present)
        waiting = [other for other in present if other.waits()]
        most = max(waiting, key=lambda other: (counts[other._network], -(other._arriving or 0.0)))
        refused = most if counts[most._network] > counts[self._network] else self
        detail = f"the server already has {self.bounds.connections} connections"
        refused.refuse(ProblemError(503, "busy", detail, headers={"Retry-After": "5"}))

    def waits(self) -> bool:
        """Return whether the client has asked for nothing yet, or not for a whole request."""
        cycle = self.cycle
        is_answering = cycle is not None and not (cycle.response_complete or cycle.more_body)
        return not (is_answering or self.pipeline)

    def data_received(self, data: bytes) -> None:
        """Parse the data; refuse a request head that is too large."""
        if self.transport.is_closing():
            return
        if self._arriving is None and (self.cycle is None or self.cycle.response_complete):
            self._arriving = self.loop.time()
        self._unparsed += len(data)
        super().data_received(data)
        if self._unparsed > self.bounds.head_bytes and not self.transport.is_closing():
            self.refuse(self._too_large())

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._head_bytes = self._unparsed = 0
        self._arriving = self.loop.time()

    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Count trailers too."""
        self._count(len(name) + len(value) + 4)
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        super().on_headers_complete()
        if len(self.pipeline) > MAX_PIPELINED:
            self._stop(ProblemError(400, "bad-request", "too many requests sent before a reply"))

    def on_body(self, body: bytes) -> None:
        self._unparsed = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._unparsed = 0
        self._arriving = None

    def on_response_complete(self) -> None:
        """Start the clock for a request that was sent ahead of this reply."""
        super().on_response_complete()
        if self._arriving is not None:
            self._arriving = self.loop.time()

    def send_400_response(self, msg: str) -> None:
        """Handle a stopped parser, whether it failed or a limit stopped it."""
        problem = self._refusal or ProblemError(400, "bad-request", "the request cannot be read")
        self.refuse(problem)

    def refuse(self, problem: ProblemError) -> None:
        """Answer with a problem and close; abort the connection if a reply has begun."""
        cycle = self.cycle
        if cycle is not None and not cycle.response_complete:
            cycle.disconnected = True
            cycle.message_event.set()
            if cycle.response_started or not cycle.more_body or self.pipeline:
                self.transport.abort()  # otherwise read as the reply to an earlier request
                return
        content = orjson.dumps(problem.document)
        headers = {
            "content-type": MEDIA_TYPE,
            "content-length": str(len(content)),
            "connection": "close",
            **(problem.headers or {}),
        }
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self.transport.write(
            b"".join([STATUS_LINE[problem.status_code], lines.encode(), b"\r\n", content])
        )
        self.transport.close()

    def check_arrival(self, now: float) -> None:
        """Refuse a request that takes too long to arrive."""
        if self._arriving is None or self.transport.is_closing() or self.pipeline:
            return
        if now - self._arriving > self.bounds.request_seconds:
            seconds = f"{self.bounds.request_seconds:g}"
            detail = f"the request did not arrive within {seconds} seconds"
            self.refuse(ProblemError(408, "too-slow", detail))

    def unsent(self, now: float) -> int:
        """Return the number of bytes that the client has not taken; record its progress."""
        size: int = self.transport.get_write_buffer_size()
        least = MIN_BYTES_A_SECOND * self.bounds.stall_seconds
        if not size or size > self._unsent or size <= self._unsent - least:
            self._unsent, self._progress = size, now
        return size

    def stalled(self, now: float) -> float:
        """Return the seconds since the reader last made progress; call after `unsent`."""
        return now - self._progress

    def _count(self, size: int) -> None:
        self._unparsed = 0
        self._head_bytes += size
        if self._head_bytes > self.bounds.head_bytes:
            self._stop(self._too_large())

    def _stop(self, problem: ProblemError) -> None:
        self._refusal = problem
        raise _StopError

    def _too_large(self) -> ProblemError:
        detail = f"the request line and headers may have at most {self.bounds.head_bytes} bytes"
        return ProblemError(431, "head-too-large", detail)


def sweep(connections: Iterable[Connection], bounds: Bounds, now: float) -> None:
    """End the connections that exceed a limit."""
    unsent = {}
    for connection in connections:
        connection.check_arrival(now)
        if size := connection.unsent(now):
            unsent[connection] = size
    total = sum(unsent.values())
    for connection in sorted(unsent, key=lambda candidate: candidate.stalled(now), reverse=True):
        if total <= bounds.unsent_bytes and connection.stalled(now) <= bounds.stall_seconds:
            return
        total -= unsent[connection]
        connection.transport.abort()
