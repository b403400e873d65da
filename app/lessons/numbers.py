"""Numbers and texts that a lesson quotes from models: ``lessons/numbers.toml``.

A lesson writes ``{{name}}`` where a value belongs; the file has a table for each lesson. It is
written by ``make lessons``, which computes every value from the models that are in the repository.
"""

import re
import tomllib
from collections.abc import Mapping
from functools import cache

from app.settings import ROOT

NUMBERS = ROOT / "lessons" / "numbers.toml"
PLACE = re.compile(r"\{\{(\w+)\}\}")


@cache
def numbers() -> Mapping[str, Mapping[str, str]]:
    """Return the values of each lesson, by name."""
    found: dict[str, dict[str, str]] = tomllib.loads(NUMBERS.read_text(encoding="utf-8"))
    return found


def fill(text: str, values: Mapping[str, str]) -> str:
    """Put values into their places. Raises ValueError for a place that has no value."""

    def value(place: re.Match[str]) -> str:
        if place[1] not in values:
            raise ValueError(f"not in {NUMBERS.name}: {place[1]} (run make lessons)")
        return values[place[1]]

    return PLACE.sub(value, text)
