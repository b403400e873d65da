"""Finds the cross-attention head that is closest to human word alignment.

The head is chosen on the first half of the pairs; its error is reported on the second.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model.adapters.encoder_decoder.adapter import EncoderDecoder
from model.bundle.measurements import READS, WRITES
from model.measure.word_alignment import (
    JOINED,
    AlignedPair,
    Link,
    Looked,
    aligned,
    error_rate,
    fitting,
    grown,
    kept,
    mirrored,
    read_aligned_pairs,
)

LEAST = [step / 20 for step in range(13)]  # thresholds to try for the weight of a link


@dataclass(frozen=True)
class Half:
    """Hand-aligned pairs, and the links found for each pair in both directions, by place."""

    pairs: list[AlignedPair]
    there: dict[Looked, list[dict[Link, float]]]
    back: dict[Looked, list[dict[Link, float]]]

    def rates(self, key: Looked, least: float = 0.0) -> list[float]:
        """Return error rates in each direction and with both joined, for links above a weight."""
        there = [kept(links, least) for links in self.there[key]]
        back = [mirrored(kept(links, least)) for links in self.back[key]]
        both = [grown(*links) for links in zip(there, back, strict=True)]
        return [error_rate(found, self.pairs) for found in (there, back, both)]


def alignment(adapter: EncoderDecoder, folder: Path, languages: Sequence[str]) -> dict[str, Any]:
    """Return error rates on both halves, and the heads chosen on the first half."""
    pairs = read_aligned_pairs(folder)
    middle = len(pairs) // 2
    first, second = languages
    there, back = f"{second}-{first}", f"{first}-{second}"
    halves = []
    for part in (pairs[:middle], pairs[middle:]):
        fit = fitting(adapter, part, there)
        fit = [pair.swapped() for pair in fitting(adapter, [p.swapped() for p in fit], back)]
        turned = [pair.swapped() for pair in fit]
        halves.append(Half(fit, aligned(adapter, fit, there), aligned(adapter, turned, back)))
    ways = there, back, JOINED
    measured = {key: [half.rates(key) for half in halves] for key in halves[0].there}
    rates = {
        way: {key: [told[index] for told in both] for key, both in measured.items()}
        for index, way in enumerate(ways)
    }
    best = best_heads([rates[there], rates[back]])
    return {
        "pairs": len(pairs),
        "used": [len(half.pairs) for half in halves],
        "directions": {
            direction: [
                {"weights": key, "rows": row, "chosen on": chosen, "reported on": told}
                for (key, row), (chosen, told) in found.items()
            ]
            for direction, found in rates.items()
        },
        "best": [one | {"firm": firm(halves, one, ways)} for one in best],
    }


def firm(halves: Sequence[Half], head: Mapping[str, Any], ways: Sequence[str]) -> dict[str, Any]:
    """Return the threshold of link weights with the lowest error on the first half.

    The error is the mean of both directions. Also returns its error rates on the second half.
    """
    key = f"{head['layer']}.{head['head']}", head["rows"]
    one, other = halves
    least = min(LEAST, key=lambda least: sum(one.rates(key, least)[:2]))
    told = dict(zip(ways, other.rates(key, least), strict=True))
    return {"least": least, "chosen on": sum(one.rates(key, least)[:2]) / 2, "reported on": told}


def best_heads(
    rates: Sequence[Mapping[Looked, Sequence[float]]],
) -> list[dict[str, Any]]:
    """Return, for each kind of rows, the head with the lowest error on the first half.

    The error is the mean of both directions. The better of the two heads comes first.
    """

    def mean(half: int, key: Looked) -> float:
        return sum(found[key][half] for found in rates) / len(rates)

    best = []
    for rows in (WRITES, READS):
        single = [key for key in rates[0] if "." in key[0] and key[1] == rows]
        key = min(single, key=lambda key: mean(0, key))
        layer, head = (int(part) for part in key[0].split("."))
        place = {"layer": layer, "head": head, "rows": rows}
        best.append(place | {"chosen on": mean(0, key), "reported on": mean(1, key)})
    return sorted(best, key=lambda one: one["chosen on"])
