"""Limits of the numbers in a request, as types.

    temperature: Temperature = 1.0

The type is read both by validation (`model.adapters.requests.validate`) and by the API reference
(`app.schemas`), so that each limit is written once.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, get_args, get_type_hints

from annotated_types import Interval

Probability = Annotated[float, Interval(ge=0, le=1)]
Seed = Annotated[int, Interval(ge=0, le=2**31 - 1)]
Temperature = Annotated[float, Interval(ge=0.01, le=100.0)]
Factor = Annotated[float, Interval(ge=-100.0, le=100.0)]
Value = Annotated[float, Interval(ge=-10_000.0, le=10_000.0)]  # of a hidden unit or a feature


def interval(hint: Any) -> Interval | None:
    """Return the range of a type, alone or in a union with None; None for a type without one."""
    for part in (hint, *get_args(hint)):
        for limits in getattr(part, "__metadata__", ()):
            if isinstance(limits, Interval):
                return limits
    return None


@cache
def intervals(kind: type) -> Mapping[str, Interval]:
    """Return the ranges of a dataclass's fields, by name; fields without a range are left out."""
    hints = get_type_hints(kind, include_extras=True)
    by_name = {name: interval(hint) for name, hint in hints.items()}
    return {name: limits for name, limits in by_name.items() if limits}
