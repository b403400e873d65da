"""Clients, between which the engine divides its time fairly, and the work that they may request."""

import math
import time
import zlib
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

from cachetools import LRUCache

from app.http.problems import ProblemError, ReportedError

KNOWN = 4096  # number of stored budgets; one that is dropped starts full again


@dataclass(frozen=True)
class Client:
    """A client: an address, and one of a limited number of pages at it."""

    address: str
    page: int

    @classmethod
    def of(cls, address: str, token: str, max_clients: int) -> "Client":
        """Return the client of a page's random token, with up to `max_clients` per address."""
        return cls(address, zlib.crc32(token.encode()) % max_clients if token else 0)


NOBODY: Final = Client("", 0)

# The client whose request the current task answers; set when the request arrives.
asking: ContextVar[Client] = ContextVar("asking", default=NOBODY)


class SpentError(ReportedError):
    """A client has requested more work than allowed; it may retry after `retry_after` seconds."""

    def __init__(self, retry_after: float) -> None:
        super().__init__("this client has requested too much work for now")
        self.retry_after = retry_after

    def problem(self) -> ProblemError:
        headers = {"Retry-After": str(max(1, math.ceil(self.retry_after)))}
        return ProblemError(429, "too-many-requests", f"{self}; try again later", headers=headers)


class Budgets:
    """Token buckets: the work that each client, and each address, may still request.

    A bucket fills at `rate` per second up to `most`; an address's is `pages` times as large. Prices
    are those of `app.engine.price`.
    """

    def __init__(
        self,
        rate: float,
        most: float,
        pages: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.rate, self.most, self.pages, self.clock = rate, most, pages, clock
        self._left: LRUCache[Client | str, tuple[float, float]] = LRUCache(KNOWN)

    def charge(self, client: Client, price: float) -> None:
        """Take the price from both buckets. Raises SpentError if either has less."""
        now = self.clock()
        buckets: list[tuple[Client | str, int]] = [(client, 1), (client.address, self.pages)]
        budgets = [self._now(key, times, now) for key, times in buckets]
        lacks = [
            (price - have) / (self.rate * times)
            for have, (_, times) in zip(budgets, buckets, strict=True)
        ]
        if max(lacks) > 0:
            raise SpentError(max(lacks))
        for have, (key, _) in zip(budgets, buckets, strict=True):
            self._left[key] = have - price, now

    def _now(self, key: Client | str, times: int, now: float) -> float:
        budget, charged = self._left.get(key, (self.most * times, now))
        return min(self.most * times, budget + (now - charged) * self.rate * times)
