"""Limits of a connection, with raw sockets against a separate server process."""

import contextlib
import json
import re
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.servers import AppServer, running_app

SECONDS = 1.5
HEAD = 20_000
KEPT_ALIVE = 5  # seconds between requests, uvicorn's default
GET = b"GET /api/health HTTP/1.1\r\nHost: localhost\r\n"
BOUNDS = {
    "max_head_bytes": str(HEAD),
    "max_request_seconds": str(SECONDS),
    "max_stall_seconds": str(SECONDS),
    "max_connections": "40",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, server_cache: Path) -> Iterator[AppServer]:
    """A server with low limits."""
    data_dir = tmp_path_factory.mktemp("connections")
    with running_app(data_dir, BOUNDS, warm=True, cache=server_cache) as server:
        yield server


@contextmanager
def connected(
    server: AppServer, receive_buffer: int = 0, address: str = "127.0.0.1"
) -> Iterator[socket.socket]:
    with socket.socket() as one:
        one.bind((address, 0))
        if receive_buffer:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        one.settimeout(20)
        one.connect(("127.0.0.1", int(server.url.rpartition(":")[2])))
        yield one


def everything(one: socket.socket) -> bytes:
    """Return everything until the server closes the connection."""
    got = bytearray()
    with contextlib.suppress(ConnectionResetError):
        while part := one.recv(1 << 16):
            got += part
    return bytes(got)


def status(reply: bytes) -> int:
    return int(reply.split(b" ", 2)[1])


def problem(reply: bytes) -> str:
    kind: str = json.loads(reply.partition(b"\r\n\r\n")[2])["type"]
    return kind


def memory(server: AppServer) -> int:
    """Return the resident memory of the process, in bytes."""
    text = Path(f"/proc/{server.process.pid}/statm").read_text()
    return int(text.split()[1]) * 4096


def healthy(server: AppServer) -> bool:
    return httpx.get(f"{server.url}/api/health", trust_env=False).is_success


def one_header() -> Iterator[bytes]:
    yield GET + b"X: "
    while True:
        yield b"a" * 65_536


def many_headers() -> Iterator[bytes]:
    yield GET
    while True:
        yield b"X: a\r\n" * 1_000


def long_line() -> Iterator[bytes]:
    yield b"GET /?"
    while True:
        yield b"a" * 65_536


def trailers() -> Iterator[bytes]:
    yield b"POST /api/trace HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
    while True:
        yield b"X: a\r\n" * 1_000


def chunk_extension() -> Iterator[bytes]:
    yield b"POST /api/trace HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1;"
    while True:
        yield b"a" * 65_536


def pipelined() -> Iterator[bytes]:
    while True:
        yield (GET + b"\r\n") * 500


ENDLESS = [one_header, many_headers, long_line, trailers, chunk_extension, pipelined]


@pytest.mark.parametrize("endless", ENDLESS)
def test_an_endless_head_is_refused(
    server: AppServer, endless: Callable[[], Iterator[bytes]]
) -> None:
    before, sent = memory(server), 0
    with connected(server) as one, pytest.raises(OSError, match=r"reset|pipe|timed out"):  # noqa: PT012
        for part in endless():
            one.sendall(part)
            sent += len(part)
            assert sent < 100_000_000, "100 MB were taken"
    assert memory(server) - before < 20_000_000
    assert healthy(server)


@pytest.mark.parametrize(("size", "answer"), [(HEAD - 200, 200), (HEAD + 200, 431)])
@pytest.mark.parametrize("pieces", [1, 7])
def test_a_head_is_accepted_up_to_the_limit(
    server: AppServer, size: int, answer: int, pieces: int
) -> None:
    head = GET + b"Connection: close\r\nX: " + b"a" * (size - len(GET)) + b"\r\n\r\n"
    with connected(server) as one:
        step = -(-len(head) // pieces)
        with contextlib.suppress(OSError):
            for start in range(0, len(head), step):
                one.sendall(head[start : start + step])
                time.sleep(0.01)
        reply = everything(one)
    assert status(reply) == answer
    if answer == 431:
        assert problem(reply) == "urn:headlight:head-too-large"


LATE = {
    "nothing": b"",
    "head": GET,
    "body": b"POST /api/trace HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{",
    "second head": GET + b"\r\n" + GET,
    "blank lines": GET + b"\r\n" + b"\r\n",
}


def arrives_late(server: AppServer, kind: str, drip: bool) -> tuple[bytes, float]:
    """Send the start of a request, and perhaps a byte now and then; return the reply, seconds."""
    started, got = time.monotonic(), b""
    with connected(server) as one:
        one.sendall(LATE[kind])
        one.settimeout(0.2)
        with contextlib.suppress(ConnectionResetError, BrokenPipeError):
            while time.monotonic() - started < 12:
                try:
                    part = one.recv(1 << 16)
                    got += part
                    if not part:
                        break
                except TimeoutError:
                    if drip:
                        one.sendall(b"\r\n" if kind == "blank lines" else b"a")
    return got, time.monotonic() - started


def test_a_request_that_arrives_too_slowly_is_refused(server: AppServer) -> None:
    cases = [(kind, drip) for kind in LATE for drip in (False, True)]
    with ThreadPoolExecutor(len(cases)) as clients:  # all wait for their end at once
        ends = clients.map(lambda case: arrives_late(server, *case), cases)
        for (kind, drip), (got, took) in zip(cases, ends, strict=True):
            assert took < KEPT_ALIVE + SECONDS + 2, (kind, drip)
            if kind in ("nothing", "head", "body") and not drip:
                assert status(got) == 408, kind
                assert took > SECONDS, kind


LARGE = (
    b"GET /api/models/en-zh/parameters?select=embedding HTTP/1.1\r\nHost: localhost\r\n"
    b"Connection: close\r\nAccept: application/octet-stream\r\n\r\n"
)


def test_a_client_that_does_not_read_is_disconnected(server: AppServer) -> None:
    with connected(server, receive_buffer=4_096) as one:
        one.sendall(LARGE)
        assert one.recv(100)
        time.sleep(SECONDS + 3)
        one.settimeout(5)
        got = everything(one)
    with connected(server) as other:
        other.sendall(LARGE)
        whole = everything(other)
    assert len(got) < len(whole) - 1_000_000


def test_a_slow_reader_gets_the_whole_reply(server: AppServer) -> None:
    """Reading takes longer than the limit for a client that does not read at all."""
    with connected(server, receive_buffer=4_096) as one:
        one.sendall(LARGE)
        got, until = bytearray(), time.monotonic() + 3 * SECONDS
        while time.monotonic() < until:
            got += one.recv(10_000)
            time.sleep(0.05)
        got += everything(one)
    head, _, body = bytes(got).partition(b"\r\n\r\n")
    (length,) = re.findall(rb"content-length: (\d+)", head)
    assert len(body) == int(length) > 1_000_000


def test_connections_are_counted(server: AppServer) -> None:
    with contextlib.ExitStack() as many:
        for _ in range(40):
            many.enter_context(connected(server))
        time.sleep(0.3)
        with connected(server) as one:
            reply = everything(one)
    assert status(reply) == 503
    assert b"Retry-After" in reply
    time.sleep(0.3)
    assert healthy(server)


HALF_SENT = {
    "nothing": b"",
    "half a head": GET,
    "half a body": b"POST /api/trace HTTP/1.1\r\nHost: localhost\r\n"
    b"Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{",
    "a request before": GET + b"\r\n",
}


@pytest.mark.parametrize("sent", HALF_SENT)
def test_an_address_that_keeps_all_connections_waiting_keeps_nobody_out(
    server: AppServer, sent: str
) -> None:
    with contextlib.ExitStack() as many:
        waiting = [many.enter_context(connected(server)) for _ in range(40)]
        for connection in waiting:
            connection.sendall(HALF_SENT[sent])
        time.sleep(0.3)
        for _ in range(3):
            other = many.enter_context(connected(server, address="127.0.0.2"))
            other.sendall(GET + b"\r\n")
            assert status(other.recv(1 << 16)) == 200
        with connected(server) as again:  # it has its share
            assert status(everything(again)) == 503
        for connection in waiting:
            connection.setblocking(False)
        assert sum(_is_refused(connection) for connection in waiting) == 3
    time.sleep(0.3)
    assert healthy(server)


def _is_refused(connection: socket.socket) -> bool:
    with contextlib.suppress(BlockingIOError):
        return b" 503 " in connection.recv(1 << 16)
    return False


@pytest.mark.parametrize("upgrade", [b"websocket", b"h2c"])
def test_an_upgrade_is_refused(server: AppServer, upgrade: bytes) -> None:
    with connected(server) as one:
        one.sendall(GET + b"Connection: Upgrade\r\nUpgrade: " + upgrade + b"\r\n\r\n")
        assert status(one.recv(1 << 16)) == 200
