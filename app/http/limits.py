"""Limits on what one client may ask of the server: how often, and how much at once."""

import math
import time
from collections import Counter
from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.http.problems import ProblemError
from model.errors import Excess

MINUTE = 60


class PerMinute:
    """Counts by minutes that begin with a first share; each replica counts for itself."""

    def __init__(self, limit: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.limit = limit
        self.clock = clock
        self._began = -math.inf
        self._counts: Counter[str] = Counter()

    def count(self, address: str) -> None:
        """Counts one more; raises a 429 ProblemError beyond the limit."""
        now = self.clock()
        if now - self._began >= MINUTE:
            self._began = now
            self._counts.clear()
        if self._counts[address] >= self.limit:
            detail = f"at most {self.limit} shares a minute from one address"
            headers = {"Retry-After": str(math.ceil(self._began + MINUTE - now))}
            raise ProblemError(429, "too-many-shares", detail, headers=headers)
        self._counts[address] += 1


class BodyLimit:
    """Answers 413 to a body that is declared, or turns out, to be larger than `limit` bytes."""

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self.app = app
        self.limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        declared = Headers(scope=scope).get("content-length", "") if scope["type"] == "http" else ""
        if declared.isdecimal() and int(declared) > self.limit:
            await self._problem().response()(scope, receive, send)
            return
        size = 0

        async def count() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > self.limit:
                raise self._problem()
            return message

        await self.app(scope, count, send)

    def _problem(self) -> ProblemError:
        detail = f"the body may have at most {self.limit} bytes"
        return ProblemError(413, "body-too-large", detail, excess=Excess(self.limit, "bytes"))
