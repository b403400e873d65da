"""A room's document: everything that its members see, as one numbered value; and its sums.

Each change produces a new document with the next number (`seq`). Documents are whole: a member that
missed some needs only the last one. Codes of rooms, and the keys that control them, are made here.

What a class answered is summed up. An answer is a list of texts, as the page's predictions have it:
one id of a choice, one number per field, the shares of a whole, the ids of what was put in order,
or a cell as its row and column. Its numbers are bounded (`FAR` in `app.http.request_fields`), so
that no sum of them overflows; what is sent to every member is bounded as well.
"""

import hashlib
import hmac
import re
import secrets
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from math import fsum
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from app.figures.links import CELL, MAX_OPTIONS, Entry
from app.http.request_fields import FAR
from app.rooms.schemas import Picked, Results, RoomReply, Stage, Truth, WallMode
from app.store.documents import ALPHABET, dumped, new_edit_key

NEXT: dict[Stage, tuple[Stage, ...]] = {
    "first": ("discuss", "closed"),
    "discuss": ("second", "closed"),
    "second": ("closed",),
    "closed": ("revealed",),
    "revealed": (),
}

VOTES = ("first", "second")  # stages in which answers are accepted


class Question(BaseModel):
    """A question that the room is asked; its answers are stored outside the document.

    `ask` is for the page only: the kind of the question, and the link that it is about.
    """

    model_config = ConfigDict(frozen=True)

    n: int
    entry: Entry
    ask: dict[str, Any]
    nicknames: bool = False
    stage: Stage = "first"
    ends: float | None = None  # when its timer is over: the vote goes on
    truth: Truth | None = None
    results: dict[str, Results] | None = None
    gallery: list[str] = []  # works that the class sees, by their ids


class Room(BaseModel):
    """The document of a room; `key` and `driver` are hashes, which members do not see."""

    model_config = ConfigDict(frozen=True)

    seq: int = 1
    link: str
    pointer: dict[str, Any] | None = None
    question: Question | None = None
    asked: int = 0
    key: str
    driver: str | None = None
    driving: bool = False  # whether the driver has presented: until then, the teacher does
    closed: bool = False  # to newcomers
    paused: bool = False  # whether nobody explores
    wall: WallMode = "closed"
    picked: Picked | None = None  # whose work is presented
    removals: int = 0  # how often members were removed
    created: float
    over: bool = False

    def then(self, **changes: Any) -> "Room":
        """Return the next document, with these changes."""
        return self.model_copy(update={"seq": self.seq + 1, **changes})

    def dumped(self) -> bytes:
        """Return the document as stored. Raises InputError if it would not load."""
        return dumped(self)

    def seen(self) -> RoomReply:
        """Return what members see."""
        document = self.model_dump(
            exclude={"key", "driver", "driving", "asked", "created", "removals"}
        )
        if self.question and self.question.stage != "revealed":
            document["question"]["ask"] = unanswered(document["question"]["ask"])
        return RoomReply(**document, handed=self.driving)

    @classmethod
    def load(cls, stored: bytes) -> "Room":
        """Return a stored document."""
        return cls.model_validate_json(stored)


def unanswered(about: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a question is about, without what it states of its answer."""
    kept = {name: value for name, value in about.items() if name not in ("value", "right", "cells")}
    if "options" in kept:
        kept["options"] = [{"text": option["text"]} for option in kept["options"]]
    return kept


def part_of(n: int, vote: str) -> str:
    """Return where the answers to question `n` in a vote are, beside the document."""
    return f"answers-{n}-{vote}"


def parts_of(n: int) -> tuple[str, ...]:
    """Return where the answers to question `n` are, of all votes."""
    return tuple(part_of(n, vote) for vote in VOTES)


class Counts(BaseModel):
    """Members of a room that one server serves."""

    following: Annotated[int, Field(ge=0)] = 0
    in_step: Annotated[int, Field(ge=0)] = 0  # of those who follow: sent the document `seq`
    exploring: Annotated[int, Field(ge=0)] = 0
    seq: int = 0
    at: float = 0.0


CODE_LENGTH = 6  # 31 ** 6 = 887 million, and few wrong codes per minute are answered


def new_code() -> str:
    """Return a random code, short enough to type from a projector."""
    return "".join(secrets.choice(ALPHABET) for _ in range(CODE_LENGTH))


def normalised(text: str) -> str:
    """Return a typed code in lower case, without spaces and hyphens."""
    return "".join(sign for sign in text.lower() if sign not in " -\u2010\u2011")


def is_code(text: str) -> bool:
    """Return whether a text has the form of a code."""
    return len(text) == CODE_LENGTH and set(text) <= set(ALPHABET)


def new_key() -> str:
    """Return an unguessable key: slightly more than 128 random bits."""
    return new_edit_key()


def hashed(key: str) -> str:
    """Return the hash under which a key is stored. The key is random, so no salt is needed."""
    return hashlib.sha256(key.encode()).hexdigest()


def opens(key: str, stored: str | None) -> bool:
    """Return whether a key has this hash, in constant time."""
    return stored is not None and hmac.compare_digest(hashed(key), stored)


Answer = Sequence[str]

MAX_ROWS, MAX_NUMBERS = 40, 2_000  # of a vote that are sent to every member

MAX_GIVEN = 20  # different choices or numbers of a vote; of the others, their number is sent

MAX_CELLS = 400  # different cells of a vote: a heat map of the others would have holes

MAX_BYTES = 64_000  # of an answer to a room, and of the answers of one member to an assignment

DIGITS = 3


def check(entry: Entry, answer: Answer) -> bool:
    """Return whether an answer has the form of its kind."""
    if entry in ("choice", "work"):
        return len(answer) == 1
    if entry == "cell":
        return len(answer) == 1 and bool(re.fullmatch(CELL, answer[0]))
    if entry == "text":
        return len(answer) == 1 and bool(answer[0].strip())
    if entry == "order":
        return 1 < len(answer) <= MAX_OPTIONS and set(answer) == set(map(str, range(len(answer))))
    try:
        numbers = [float(text) for text in answer]
    except ValueError:
        return False
    if not numbers or not all(-FAR <= number <= FAR for number in numbers):  # NaN is not within
        return False
    return entry == "numbers" or (min(numbers) >= 0 and sum(numbers) > 0)


def tally(entry: Entry, answers: Sequence[Answer], truth: Truth | None) -> Results:
    """Sum up the answers of a vote, each of which `check` accepts."""
    if entry == "order":
        return _orders(answers, truth)
    if entry in ("choice", "cell", "text", "work"):
        chosen = Counter(choice for (choice,) in answers) if entry != "text" else Counter[str]()
        right_answers = set(truth.right) if truth else set[str]()
        limit = MAX_CELLS if entry == "cell" else MAX_GIVEN
        always = chosen if entry == "work" else right_answers
        frequent, rest_count = _frequent(chosen, always, limit)
        right = (
            sum(chosen[right_answer] for right_answer in right_answers) if right_answers else None
        )
        return Results(
            count=len(answers),
            chosen=frequent,
            others=rest_count,
            mean=[],
            right=right,
            distance=None,
        )
    rows = [[float(text) for text in answer] for answer in answers]
    if entry == "shares":
        rows = [[number / sum(row) for number in row] for row in rows]
    truths = truth.numbers if truth else []
    if truths:
        rows = [row for row in rows if len(row) == len(truths)]
    numbers = [f"{row[0]:.6g}" for row in rows if entry == "numbers" and len(row) == 1]
    frequent_numbers, rest_count = _frequent(Counter(numbers))
    return Results(
        count=len(answers),
        chosen=frequent_numbers,
        others=rest_count,
        mean=_mean(rows),
        right=_right(entry, rows, truth) if truth and truths else None,
        distance=_mean_distance(rows, truths) if entry == "shares" and truths and rows else None,
        rows=_nearest_first(rows, truths) if entry == "shares" and truths else [],
    )


def tally_works(verdicts: Sequence[bool | None]) -> Results:
    """Count works, and how many reach their goal; None: nothing was checked."""
    checked = [does for does in verdicts if does is not None]
    right = sum(checked) if checked else None
    return Results(count=len(verdicts), chosen={}, mean=[], right=right, distance=None)


def _orders(answers: Sequence[Answer], truth: Truth | None) -> Results:
    """Sum up orders: each as its ids in a row, and the mean place of each id from 1."""
    orders = Counter(" ".join(answer) for answer in answers)
    right_order = " ".join(truth.right) if truth and truth.right else None
    frequent, rest_count = _frequent(orders, [right_order] if right_order else ())
    places = [[answer.index(str(n)) + 1.0 for n in range(len(answer))] for answer in answers]
    return Results(
        count=len(answers),
        chosen=frequent,
        others=rest_count,
        mean=_mean(places),
        right=orders[right_order] if right_order else None,
        distance=None,
    )


def is_right(entry: Entry, answer: Answer, truth: Truth | None) -> bool | None:
    """Return whether an answer is right; None if there is nothing to compare it with."""
    right = tally(entry, [answer], truth).right
    return None if right is None else right > 0


def _frequent(
    counts: Counter[str], always: Collection[str] = (), limit: int = MAX_GIVEN
) -> tuple[dict[str, int], int]:
    """Return how often the most frequent answers were given, and how many answers are others.

    Those of `always` that were given are among the former, so that the right one is not left out.
    """
    first = {text: counts[text] for text in always if counts[text]}
    first |= dict(counts.most_common(limit))
    return first, counts.total() - sum(first.values())


def _mean(rows: Sequence[Sequence[float]]) -> list[float]:
    """Return the mean of each column, of the rows of the commonest length.

    The longest would be one member's to choose: its row would be the mean of the class. Of lengths
    that are as common, the shorter.
    """
    lengths = Counter(map(len, rows))
    length = max(lengths, key=lambda each: (lengths[each], -each), default=0)
    whole = [row for row in rows if len(row) == length]
    return [fsum(column) / len(whole) for column in zip(*whole, strict=True)]


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
    max_rows = max(1, min(MAX_ROWS, MAX_NUMBERS // len(truth)))
    if len(ordered) > max_rows:
        step = (len(ordered) - 1) / max(1, max_rows - 1)
        ordered = [ordered[round(n * step)] for n in range(max_rows)]
    return [[round(number, DIGITS) for number in row] for row in ordered]
