"""Limits of the numbers that a request may hold, as types.

    temperature: Temperature = 1.0

The type is read by whoever checks a value (`model.adapters.validate`) and by whoever describes it
(`app.schemas`), so that a limit is written once.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, get_args, get_type_hints

from annotated_types import Interval

Probability = Annotated[float, Interval(ge=0, le=1)]
Seed = Annotated[int, Interval(ge=0, le=2**31 - 1)]
Temperature = Annotated[float, Interval(ge=0.01, le=100.0)]


def interval(hint: Any) -> Interval | None:
    """The interval that a type names, alone or beside None; None for a type without."""
    for part in (hint, *get_args(hint)):
        for limits in getattr(part, "__metadata__", ()):
            if isinstance(limits, Interval):
                return limits
    return None


@cache
def intervals(kind: type) -> Mapping[str, Interval]:
    """The intervals of a dataclass's fields, by name; without those that have none."""
    hints = get_type_hints(kind, include_extras=True)
    found = {name: interval(hint) for name, hint in hints.items()}
    return {name: limits for name, limits in found.items() if limits}
