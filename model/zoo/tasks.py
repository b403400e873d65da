"""Tasks in which the right attention is known: pure functions of a seeded random generator.

example = reverse(Random(1), 4)
example.source_text, example.target_text     # "r i c d", "d c i r"
example.cross                                # ({3}, {2}, {1}, {0})
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from string import ascii_lowercase
from zlib import crc32

Places = frozenset[int]
TRIES = 1000  # draws; a tenth of the examples is held out, so a held-out one is among them


@dataclass(frozen=True)
class Example:
    """A source, its answer, and the positions that right attention looks at."""

    source: tuple[str, ...]  # tokens; one that follows a space begins with it
    target: tuple[str, ...]
    cross: tuple[Places, ...]  # by target position: source positions that determine the token
    within: Mapping[int, Places] = field(default_factory=dict)  # by source position: other ones

    @property
    def source_text(self) -> str:
        """The source as text."""
        return "".join(self.source)

    @property
    def target_text(self) -> str:
        """The right answer as text."""
        return "".join(self.target)


def one_in_ten(example: Example) -> bool:
    """Return whether an example is held out: a tenth of all sources, by a checksum of the text."""
    return crc32(example.source_text.encode()) % 10 == 0


@dataclass(frozen=True)
class Task:
    """A task: how to make its examples."""

    make: Callable[[Random, int], Example]  # an example of a length, counted in `unit`
    words: tuple[str, ...]  # texts that together contain every word of the task
    shortest: int = 1
    longest: int = 32
    usual: int = 10  # the longest example of a live training run, by default
    most: int = 16  # and at most
    unit: str = "letters"
    held_out: Callable[[Example], bool] = one_in_ten
    # Makes two examples whose sources differ in one token and whose answers differ.
    twins: Callable[[Random], tuple[Example, Example]] | None = None
    # Returns the example with the known attention of another query.
    instead: Callable[[Example], Example] | None = None

    def draw(self, random: Random, length: int, held_out: bool) -> Example:
        """Draw an example for training, or a held-out one.

        Raises `ValueError` if the length is out of range, or no such example of it is found.
        """
        if not self.shortest <= length <= self.longest:
            limits = f"{self.shortest} to {self.longest} {self.unit}"
            raise ValueError(f"length must be {limits}, not {length}")
        for _ in range(TRIES):
            if self.held_out(example := self.make(random, length)) is held_out:
                return example
        kind = "held out" if held_out else "trained"
        raise ValueError(f"none of {TRIES} examples of length {length} is {kind}")


def spaced(words: Sequence[str]) -> tuple[str, ...]:
    """Return words as the tokens of a text: all but the first begin with a space."""
    return tuple(f" {word}" if place else word for place, word in enumerate(words))


def reordered(letters: Sequence[str], order: Sequence[int]) -> Example:
    """Make the example whose answer is the letters at the positions `order`."""
    answer = spaced([letters[place] for place in order])
    return Example(spaced(letters), answer, tuple(frozenset({place}) for place in order))


def some_letters(random: Random, length: int) -> list[str]:
    """Draw letters uniformly."""
    return random.choices(ascii_lowercase, k=length)


def copy(random: Random, length: int) -> Example:
    """Ask for the same letters: right attention is a diagonal."""
    return copied(some_letters(random, length))


def copied(letters: Sequence[str]) -> Example:
    """Solve `copy`."""
    return reordered(letters, range(len(letters)))


def reverse(random: Random, length: int) -> Example:
    """Ask for the letters in reverse order: right attention is an antidiagonal."""
    return turned(some_letters(random, length))


def turned(letters: Sequence[str]) -> Example:
    """Solve `reverse`."""
    return reordered(letters, range(len(letters))[::-1])


SHIFT = 2


def shift(random: Random, length: int) -> Example:
    """Ask for the letters from the third on, then the first two: a broken diagonal."""
    return shifted(some_letters(random, length))


def shifted(letters: Sequence[str]) -> Example:
    """Solve `shift`."""
    length = len(letters)
    return reordered(letters, [(place + SHIFT) % length for place in range(length)])


def sort(random: Random, length: int) -> Example:
    """Ask for the letters in alphabetical order; equal letters are all right keys."""
    return ordered(some_letters(random, length))


def ordered(letters: Sequence[str]) -> Example:
    """Solve `sort`."""
    answer = sorted(letters)
    alike = {
        letter: frozenset(i for i, other_letter in enumerate(letters) if other_letter == letter)
        for letter in letters
    }
    return Example(spaced(letters), spaced(answer), tuple(alike[letter] for letter in answer))


def induction(random: Random, length: int) -> Example:
    """Ask for the letter that followed the last letter where it occurred before."""
    letters = random.sample(ascii_lowercase, length - 1)
    return looked_up([*letters, letters[random.randrange(length - 2)]])


def looked_up(letters: Sequence[str]) -> Example:
    """Solve `induction`.

    Raises `ValueError` unless the last letter occurs exactly once before, followed by another one.
    """
    *before, last = letters
    if before.count(last) != 1 or (earlier := before.index(last)) == len(before) - 1:
        raise ValueError("the last letter must occur once before, with another letter after it")
    answer = frozenset({earlier + 1})
    return Example(spaced(letters), (before[earlier + 1],), (answer,), {len(before): answer})


CLOSING = {"(": ")", "[": "]", "{": "}"}


def brackets(random: Random, length: int) -> Example:
    """Ask for the brackets that close those left open, the last one first."""
    source: list[str] = []
    opened: list[str] = []
    for place in range(length):
        last = place == length - 1
        if opened and random.random() < 0.5 and not (last and len(opened) == 1):
            source.append(CLOSING[opened.pop()])
        else:
            opened.append(random.choice([*CLOSING]))
            source.append(opened[-1])
    return closed(source)


def closed(source: Sequence[str]) -> Example:
    """Solve `brackets`. The right key of a closing bracket is the bracket that it closes.

    Raises `ValueError` if a bracket does not close the last open one, or if none is left open.
    """
    opened: list[int] = []
    within: dict[int, Places] = {}
    for place, bracket in enumerate(source):
        if bracket in CLOSING:
            opened.append(place)
        elif not opened or CLOSING[source[opened[-1]]] != bracket:
            raise ValueError(f"bracket {place + 1} does not close the last open one")
        else:
            within[place] = frozenset({opened.pop()})
    if not opened:
        raise ValueError("at least one bracket must be left open")
    answer = tuple(CLOSING[source[place]] for place in reversed(opened))
    cross = tuple(frozenset({place}) for place in reversed(opened))
    return Example(tuple(source), answer, cross, within)


def addition(random: Random, length: int) -> Example:
    """Ask for the sum of two numbers of at most so many digits; right keys are in its column."""
    first, second = (str(random.randrange(10**length)) for _ in range(2))
    return added(first, second)


def added(first: str, second: str) -> Example:
    """Solve `addition`. The right keys of a carry in front are the digits of the first column."""
    answer = str(int(first) + int(second))
    begins = 0, len(first) + 1  # source position of each number
    columns = [
        frozenset(
            begin + len(number) - 1 - column
            for begin, number in zip(begins, (first, second), strict=True)
            if column < len(number)
        )
        for column in range(max(len(first), len(second)))
    ]
    cross = tuple(columns[min(column, len(columns) - 1)] for column in range(len(answer)))
    return Example((*first, "+", *second), (*answer,), cross[::-1])
