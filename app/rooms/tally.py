"""What a class answered, summed up.

An answer is a list of texts, as the page's predictions have it: one id of a choice, one number per
field, or the shares of a whole.
"""

from collections import Counter
from collections.abc import Sequence
from math import isfinite

from app.schemas.rooms import Entry, Results, Truth

Answer = Sequence[str]

MAX_ROWS, MAX_NUMBERS = 40, 2_000  # of a vote that are sent to every member
MAX_GIVEN = 24  # different numbers of a vote
DIGITS = 3


def check(entry: Entry, answer: Answer) -> bool:
    """Return whether an answer has the form of its kind."""
    if entry == "choice":
        return len(answer) == 1
    if entry == "text":
        return len(answer) == 1 and bool(answer[0].strip())
    try:
        numbers = [float(one) for one in answer]
    except ValueError:
        return False
    if not numbers or not all(map(isfinite, numbers)):
        return False
    return entry == "numbers" or (min(numbers) >= 0 and sum(numbers) > 0)


def tally(entry: Entry, answers: Sequence[Answer], truth: Truth | None) -> Results:
    """Sum up the answers of a vote, each of which `check` accepts."""
    if entry in ("choice", "text"):
        chosen = Counter(one for (one,) in answers) if entry == "choice" else Counter[str]()
        right = sum(chosen[one] for one in set(truth.right)) if truth and truth.right else None
        return Results(count=len(answers), chosen=dict(chosen), mean=[], right=right, distance=None)
    rows = [[float(one) for one in answer] for answer in answers]
    if entry == "shares":
        rows = [[one / sum(row) for one in row] for row in rows]
    truths = truth.numbers if truth else []
    if truths:
        rows = [row for row in rows if len(row) == len(truths)]
    return Results(
        count=len(answers),
        chosen=_given(rows) if entry == "numbers" else {},
        mean=_mean(rows),
        right=_right(entry, rows, truth) if truth and truths else None,
        distance=_mean_distance(rows, truths) if entry == "shares" and truths and rows else None,
        rows=_nearest_first(rows, truths) if entry == "shares" and truths else [],
    )


def _given(rows: Sequence[Sequence[float]]) -> dict[str, int]:
    """Return how often each number was given, where one was asked for; the most frequent ones."""
    given = Counter(f"{row[0]:.6g}" for row in rows if len(row) == 1)
    return dict(given.most_common(MAX_GIVEN))


def _mean(rows: Sequence[Sequence[float]]) -> list[float]:
    length = max(map(len, rows), default=0)
    whole = [row for row in rows if len(row) == length]
    return [sum(column) / len(whole) for column in zip(*whole, strict=True)]


def _right(entry: Entry, rows: Sequence[Sequence[float]], truth: Truth) -> int:
    if entry == "shares":
        best = truth.numbers.index(max(truth.numbers))
        return sum(row[best] == max(row) for row in rows)
    pairs = (zip(row, truth.numbers, strict=True) for row in rows)
    return sum(all(abs(a - b) <= truth.within + 1e-9 for a, b in pair) for pair in pairs)


def _mean_distance(rows: Sequence[Sequence[float]], truth: Sequence[float]) -> float:
    return sum(_distance(row, truth) for row in rows) / len(rows)


def _distance(row: Sequence[float], truth: Sequence[float]) -> float:
    whole = sum(truth) or 1.0
    return sum(abs(a - b / whole) for a, b in zip(row, truth, strict=True)) / 2


def _nearest_first(rows: Sequence[Sequence[float]], truth: Sequence[float]) -> list[list[float]]:
    """Return rows from the nearest to the farthest, at most as many as every member is sent."""
    ordered = sorted(rows, key=lambda row: _distance(row, truth))
    most = max(1, min(MAX_ROWS, MAX_NUMBERS // len(truth)))
    if len(ordered) > most:
        step = (len(ordered) - 1) / max(1, most - 1)
        ordered = [ordered[round(n * step)] for n in range(most)]
    return [[round(one, DIGITS) for one in row] for row in ordered]
