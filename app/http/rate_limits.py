"""What one client may send: how often, how much at once, and its share of what is limited.

One address may hold half of what the others have left free, rounded up. Of nine places a first
address gets five, a second one two, a third and a fourth one each: an address alone never takes
everything, and a place that is free is always somebody's to take.

Tells clients how often to send requests while the models are busy.

`Headlight-Pace: 2.5` in the reply to a request asks its client to send the next one no sooner than
2.5 seconds later (`app.engine.load_shedding`). A client that does not is served all the same.
"""

import logging
import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Network, ip_address
from types import MappingProxyType

from anyio import to_thread
from limits import RateLimitItemPerMinute
from limits.errors import StorageError
from limits.storage import MemoryStorage, storage_from_string
from limits.strategies import FixedWindowRateLimiter
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.http.problems import ProblemError
from model.errors import Excess

CLIENT_HEADER = "headlight-client"  # a page's random token: identifies a client at an address
SITE_BITS = 48  # of an IPv6 address, that its site has
REDIS_SECONDS = 1.0  # timeout of a reply

Allows = Callable[[FixedWindowRateLimiter, RateLimitItemPerMinute, str], bool]

log = logging.getLogger(__name__)


def client_network(request: Request) -> str:
    """Return the origin of a request: an IPv4 address, or the /48 network of an IPv6 client.

    A site usually gets a /48, and can change addresses within it at will. Empty if unknown.
    """
    host = request.client.host if request.client else ""
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
