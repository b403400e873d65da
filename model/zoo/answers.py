"""The right answer to a typed text, for each task of the zoo."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from model.zoo import tasks, who_is_it
from model.zoo.registry import TASKS
from model.zoo.tasks import Example

LETTERS = re.compile(r"[a-z]*")
BRACKETS = re.compile(r"[()\[\]{}]*")
SUM = re.compile(r"(\d+)\+(\d+)")

Solver = Callable[[str], tuple[Example, int]]  # text -> example, and its length in the task's unit


def solve(task: str, text: str) -> Example:
    """Return a typed text as an example: its tokens, the right answer and the right attention.

    Spaces are ignored, except between words. Raises `ValueError`, whose message says what the task
    takes, if the text does not fit the task, and `KeyError` for an unknown task.
    """
    known = TASKS[task]
    example, length = SOLVERS[task](text)
    if not known.shortest <= length <= known.longest:
        limits = f"{known.shortest} to {known.longest} {known.unit}"
        raise ValueError(f"this task takes {limits}, not {length}")
    return example


def _letters(answer: Callable[[Sequence[str]], Example]) -> Solver:
    def solver(text: str) -> tuple[Example, int]:
        letters = _compact(text).lower()
        if not letters or not LETTERS.fullmatch(letters):
            raise ValueError("this task takes letters from a to z")
        return answer(letters), len(letters)

    return solver


def _brackets(text: str) -> tuple[Example, int]:
    brackets = _compact(text)
    if not BRACKETS.fullmatch(brackets):
        raise ValueError("this task takes brackets: ( ) [ ] { }")
    return tasks.closed(brackets), len(brackets)


def _sum(text: str) -> tuple[Example, int]:
    found = SUM.fullmatch(_compact(text))
    if not found:
        raise ValueError("this task takes two numbers with a plus sign between them, such as 27+58")
    first, second = (number.lstrip("0") or "0" for number in found.groups())
    return tasks.added(first, second), max(len(first), len(second))


def _who(text: str) -> tuple[Example, int]:
    example = who_is_it.solved(" ".join(text.split()))
    return example, len(who_is_it.nouns_of(example)) if " it" in example.source else 0


def _compact(text: str) -> str:
    return "".join(text.split())


SOLVERS: Mapping[str, Solver] = {
    "copy": _letters(tasks.copied),
    "reverse": _letters(tasks.turned),
    "shift": _letters(tasks.shifted),
    "sort": _letters(tasks.ordered),
    "induction": _letters(tasks.looked_up),
    "brackets": _brackets,
    "addition": _sum,
    "who": _who,
}
