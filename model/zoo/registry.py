"""The tasks by name, and the languages and tokens that they use."""

from __future__ import annotations

from string import ascii_lowercase, digits

from model.text.tokens import Tokenizer
from model.zoo import tasks, who_is_it
from model.zoo.tasks import Task

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
    "addition": Task(tasks.addition, (f"{digits}+",), longest=9, unit="digits"),
    "induction": Task(tasks.induction, LETTERS, shortest=3, longest=27),
    "who": Task(
        *(who_is_it.who, who_is_it.every_text()),
        shortest=0,
        longest=2,
        unit="nouns",
        held_out=who_is_it.held_out,
        twins=who_is_it.twins,
        instead=who_is_it.from_property,
    ),
}


def tokenizer_of(task: Task) -> Tokenizer:
    """Return a tokenizer with one token per word of the task."""
    return Tokenizer.of_words(task.words, LANGUAGES)
