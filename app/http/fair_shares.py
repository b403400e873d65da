"""Shares of what is limited for everybody: places, and bytes.

One address may hold half of what the others have left free, rounded up. Of nine places a first
address gets five, a second one two, a third and a fourth one each: an address alone never takes
everything, and a place that is free is always somebody's to take.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass


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
