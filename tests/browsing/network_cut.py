"""A network connection between a page and a server that a test can cut.

`BrowserContext.set_offline` refuses new requests, but does not cut a reply that is being read;
a failing network cuts both.
"""

import contextlib
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext

CHUNK = 65_536


class Cable:
    """Forwards bytes between its own port and a server's, until it is cut."""

    def __init__(self, server: str) -> None:
        self._to = ("127.0.0.1", urlsplit(server).port or 80)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._ends: list[socket.socket] = []
        self._passing: list[Thread] = []
        self._plugged = True
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        Thread(target=self._accept, daemon=True).start()

    @contextmanager
    def pulled(self, context: BrowserContext) -> Iterator[None]:
        """Cut all connections and refuse new ones, and tell the browser that it is offline."""
        context.set_offline(True)
        self._cut()
        try:
            yield
        finally:
            self._plugged = True
            context.set_offline(False)

    def close(self) -> None:
        """Cut all connections for good."""
        self._listener.close()
        self._cut()

    def _cut(self) -> None:
        self._plugged = False
        for end in self._ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        for thread in self._passing:
            thread.join()
        for end in self._ends:
            end.close()
        self._ends.clear()
        self._passing.clear()

    def _accept(self) -> None:
        while True:
            try:
                here, _ = self._listener.accept()
            except OSError:
                return
            if not self._plugged:
                here.close()
                continue
            there = socket.create_connection(self._to)
            self._ends += (here, there)
            for source, sink in ((here, there), (there, here)):
                thread = Thread(target=_pass, args=(source, sink), daemon=True)
                thread.start()
                self._passing.append(thread)


def _pass(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while chunk := source.recv(CHUNK):
            sink.sendall(chunk)
        sink.shutdown(socket.SHUT_WR)
