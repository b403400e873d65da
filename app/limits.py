"""A limit on how often one address may do something."""

import time
from collections import Counter
from collections.abc import Callable

from app.problems import ProblemError

MINUTE = 60


class PerMinute:
    """Counts by the minute of the clock; each replica counts for itself."""

    def __init__(self, limit: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.limit = limit
        self.clock = clock
        self._minute = 0
        self._counts: Counter[str] = Counter()

    def count(self, address: str) -> None:
        """Counts one more; raises a 429 ProblemError beyond the limit."""
        minute, second = divmod(int(self.clock()), MINUTE)
        if minute != self._minute:
            self._minute = minute
            self._counts.clear()
        if self._counts[address] >= self.limit:
            detail = f"at most {self.limit} shares a minute from one address"
            headers = {"Retry-After": str(MINUTE - second)}
            raise ProblemError(429, "too-many-shares", detail, headers=headers)
        self._counts[address] += 1
