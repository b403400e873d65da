"""The tasks by name, their languages and tokens, and the right answers to typed texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from string import ascii_lowercase, digits

from model.text.tokens import Tokenizer
from model.zoo import tasks, who_is_it
from model.zoo.tasks import Example, Task

# An encoder–decoder translates between two languages; these are the tasks'.
LANGUAGES = ("in", "out")
DIRECTION = "-".join(LANGUAGES)
LETTERS = (" ".join(ascii_lowercase),)
TASKS = {
    "copy": Task(tasks.copy, LETTERS),
    "reverse": Task(tasks.reverse, LETTERS),
    "shift": Task(tasks.shift, LETTERS),
    "sort": Task(tasks.sort, LETTERS),
    "brackets": Task(tasks.brackets, ("([{}])",), shortest=3, unit="brackets"),
    "addition": Task(tasks.addition, (f"{digits}+",), longest=9, usual=2, most=4, unit="digits"),
    "induction": Task(tasks.induction, LETTERS, shortest=3, longest=27),
    "who": Task(
        *(who_is_it.who, who_is_it.every_text()),
        shortest=0,
        longest=2,
        usual=2,
        most=2,
        unit="nouns",
        held_out=who_is_it.held_out,
        twins=who_is_it.twins,
        instead=who_is_it.from_property,
    ),
}


def tokenizer_of(task: Task) -> Tokenizer:
    """Return a tokenizer with one token per word of the task."""
    return Tokenizer.of_words(task.words, LANGUAGES)


ONLY_LETTERS = re.compile(r"[a-z]*")
BRACKETS = re.compile(r"[()\[\]{}]*")
SUM = re.compile(r"(\d+)\+(\d+)")

Solver = Callable[[str], tuple[Example, int]]  # text -> example, and its length in the task's unit


def solve(task: str, text: str) -> Example:
    """Return a typed text as an example: its tokens, the right answer and the right attention.

    Spaces are ignored, except between words. Raises `ValueError`, whose message says what the task
    takes, if the text does not fit the task, and `KeyError` for an unknown task.
    """
    chosen = TASKS[task]
    example, length = SOLVERS[task](text)
    if not chosen.shortest <= length <= chosen.longest:
        limits = f"{chosen.shortest} to {chosen.longest} {chosen.unit}"
        raise ValueError(f"this task takes {limits}, not {length}")
    return example


def _letters(answer: Callable[[Sequence[str]], Example]) -> Solver:
    def solver(text: str) -> tuple[Example, int]:
        letters = _compact(text).lower()
        if not letters or not ONLY_LETTERS.fullmatch(letters):
            raise ValueError("this task takes letters from a to z")
        return answer(letters), len(letters)

    return solver


def _brackets(text: str) -> tuple[Example, int]:
    brackets = _compact(text)
    if not BRACKETS.fullmatch(brackets):
        raise ValueError("this task takes brackets: ( ) [ ] { }")
    return tasks.closed(brackets), len(brackets)


def _sum(text: str) -> tuple[Example, int]:
    match = SUM.fullmatch(_compact(text))
    if not match:
        raise ValueError("this task takes two numbers with a plus sign between them, such as 27+58")
    first, second = (number.lstrip("0") or "0" for number in match.groups())
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
