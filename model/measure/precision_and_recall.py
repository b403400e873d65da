"""What marking values up to a threshold is worth: thresholds, precision and recall."""

from __future__ import annotations

import math
from collections.abc import Sequence

RECALL = 2 / 3  # share of what is wrong that a threshold marks


def threshold(values: Sequence[float], wrong: Sequence[bool], recall: float = RECALL) -> float:
    """Return the smallest value such that this share of what is wrong has at most this value."""
    ordered = sorted(value for value, is_wrong in zip(values, wrong, strict=True) if is_wrong)
    return ordered[math.ceil(len(ordered) * recall) - 1]


def marked(values: Sequence[float], wrong: Sequence[bool], limit: float) -> dict[str, float]:
    """Return precision and recall of marking values up to a limit, and the share of marks."""
    marks = [value <= limit for value in values]
    hits = sum(mark and bad for mark, bad in zip(marks, wrong, strict=True))
    return {
        "count": len(values),
        "wrong": round(sum(wrong) / max(1, len(values)), 3),
        "marked": round(sum(marks) / max(1, len(values)), 3),
        "precision": round(hits / max(1, sum(marks)), 3),
        "recall": round(hits / max(1, sum(wrong)), 3),
    }
