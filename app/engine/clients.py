"""Who asks: what the engine is fair between, and what work is charged to."""

import time
import zlib
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

from cachetools import LRUCache

KNOWN = 4096  # budgets kept; one that nobody has touched for long is full again


@dataclass(frozen=True)
class Client:
    """An address, and one of a bounded number of pages behind it."""

    address: str
    page: int

    @classmethod
    def of(cls, address: str, token: str, most: int) -> "Client":
        """A page's random token makes it a client of its own, up to `most` an address."""
        return cls(address, zlib.crc32(token.encode()) % most if token else 0)


NOBODY: Final = Client("", 0)

# Whose request this task answers; set where the request comes in.
asking: ContextVar[Client] = ContextVar("asking", default=NOBODY)


class SpentError(Exception):
    """A client has asked for more work than it may; again after `retry_after` seconds."""

    def __init__(self, retry_after: float) -> None:
        super().__init__("this client has asked for more work than it may for now")
        self.retry_after = retry_after


class Budgets:
    """Token buckets: work that each client, and each address, may still ask for.

    A bucket fills by `rate` a second up to `most`; an address's is `pages` times as large. Prices
    as in `app.engine.price`.
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
        """Takes the price from both buckets; raises SpentError where one holds less."""
        now = self.clock()
        buckets: list[tuple[Client | str, int]] = [(client, 1), (client.address, self.pages)]
        left = [self._now(key, times, now) for key, times in buckets]
        lacks = [
            (price - have) / (self.rate * times)
            for have, (_, times) in zip(left, buckets, strict=True)
        ]
        if max(lacks) > 0:
            raise SpentError(max(lacks))
        for have, (key, _) in zip(left, buckets, strict=True):
            self._left[key] = have - price, now

    def _now(self, key: Client | str, times: int, now: float) -> float:
        left, when = self._left.get(key, (self.most * times, now))
        return min(self.most * times, left + (now - when) * self.rate * times)
