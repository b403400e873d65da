"""Limits per connection: size of the request head, time, and buffered data.

uvicorn does not limit these with its httptools parser. A connection counts the bytes that it parses
and records when it started to wait; once a second, `sweep` ends those that exceed a limit:

    a head (request line and headers) that is too large             431
    a request that does not arrive in time                          408
    a connection beyond the maximum                                 503
    a client that does not read its reply, and the slowest clients
    if all unsent data together is too much                         cut off
"""

import socket
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import orjson
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from app.http.problems import MEDIA_TYPE, ProblemError

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

    def connection_made(self, transport: Any) -> None:
        """Refuse a connection beyond the limit at once, without waiting for its first byte."""
        super().connection_made(transport)
        self._arriving = self.loop.time()
        # A reply counts as sent when the kernel has taken all of it. The kernel buffers little
        # ahead; otherwise a reader's progress would show only once every few megabytes.
        transport.set_write_buffer_limits(high=0)
        if hasattr(socket, "TCP_NOTSENT_LOWAT"):
            connection = transport.get_extra_info("socket")
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, KERNEL_BYTES)
        if len(self.connections) > self.bounds.connections:
            detail = f"the server already has {self.bounds.connections} connections"
            self.refuse(ProblemError(503, "busy", detail, headers={"Retry-After": "5"}))

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
