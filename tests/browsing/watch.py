"""Detects errors, policy violations and requests to other hosts."""

import re
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, ConsoleMessage, Request, WebError

LOOPBACK = "127.0.0.1"


class Watch:
    """Listens to all pages of a context."""

    def __init__(self, context: BrowserContext) -> None:
        self.faults: list[str] = []
        self.expected: list[str] = []
        self.requests: list[str] = []
        self.context = context
        context.on("console", self._console)
        context.on("weberror", self._error)
        context.on("request", self._request)

    def end(self) -> None:
        """Stop listening."""
        self.context.remove_listener("console", self._console)
        self.context.remove_listener("weberror", self._error)
        self.context.remove_listener("request", self._request)

    def expect(self, pattern: str) -> None:
        """Allow a fault that is part of the test."""
        self.expected.append(pattern)

    def check(self) -> None:
        """Fail on unexpected faults."""
        strange = [
            fault
            for fault in self.faults
            if not any(re.search(pattern, fault) for pattern in self.expected)
        ]
        assert not strange, "\n".join(strange)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error" or "Content Security Policy" in message.text:
            self.faults.append(f"console: {message.text}")

    def _error(self, error: WebError) -> None:
        self.faults.append(f"error: {error.error.stack or error.error}")

    def _request(self, request: Request) -> None:
        self.requests.append(request.url)
        url = urlsplit(request.url)
        if url.scheme not in ("data", "blob") and url.hostname != LOOPBACK:
            self.faults.append(f"request to elsewhere: {request.url}")
