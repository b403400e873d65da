"""The limits on what is stored."""

from dataclasses import dataclass
from typing import Self

from app.http.rate_limits import PerMinute
from app.settings import Settings


@dataclass(frozen=True)
class Limits:
    """Bytes in total and per address; days for which is kept what changes no more.

    None means no limit.
    """

    total: int | None = None
    by_address: int | None = None
    days: float | None = None
    assignment_days: float | None = None

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Return the limits that the operator has set."""
        return cls(
            total=settings.max_shares_bytes,
            by_address=settings.max_shares_bytes_per_address,
            days=settings.keep_shares_days,
            assignment_days=settings.keep_assignments_days,
        )


class CreationRate(PerMinute):
    """Counts what an address stores: shares, collections and assignments together."""

    def __init__(self, settings: Settings) -> None:
        limit, url = settings.max_shares_per_minute, settings.rates_url
        super().__init__(limit, url, kind="too-many-shares", counted="shares")
