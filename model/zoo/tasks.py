"""Tasks whose answers say where to look: pure functions of a seeded generator.

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
TRIES = 1000  # a tenth is held out: a length with any has one among so many


@dataclass(frozen=True)
class Example:
    """A source and its answer, in the tokens of both, and where each part of it can be found."""

    source: tuple[str, ...]  # tokens; one that follows a space begins with it
    target: tuple[str, ...]
    cross: tuple[Places, ...]  # for each token of the target, those of the source that decide it
    within: Mapping[int, Places] = field(default_factory=dict)  # for some of the source, the others

    @property
    def source_text(self) -> str:
        """What is typed."""
        return "".join(self.source)

    @property
    def target_text(self) -> str:
        """What is to be written."""
        return "".join(self.target)


def one_in_ten(example: Example) -> bool:
    """Whether an example is kept for tests: a tenth of all sources, by a checksum of their text."""
    return crc32(example.source_text.encode()) % 10 == 0


@dataclass(frozen=True)
class Task:
    """What is asked, as a maker of examples."""

    make: Callable[[Random, int], Example]  # of a length, in the unit that the task counts in
    words: tuple[str, ...]  # texts in which every word is that there is
    shortest: int = 1
    longest: int = 32
    unit: str = "letters"
    held_out: Callable[[Example], bool] = one_in_ten
    # Two examples whose sources differ in one token, which moves the answer.
    twins: Callable[[Random], tuple[Example, Example]] | None = None
    # The same example, looked at from another token of its source.
    instead: Callable[[Example], Example] | None = None

    def draw(self, random: Random, length: int, held_out: bool) -> Example:
        """An example for training, or one that is held out.

        Raises `ValueError` for a length that the task does not have, or of which none is held out.
        """
        if not self.shortest <= length <= self.longest:
            limits = f"{self.shortest} to {self.longest} {self.unit}"
            raise ValueError(f"length must be {limits}, not {length}")
        for _ in range(TRIES):
            if self.held_out(example := self.make(random, length)) is held_out:
                return example
        told = "held out" if held_out else "trained"
        raise ValueError(f"no example of length {length} is {told}, in {TRIES} that were drawn")


def spaced(words: Sequence[str]) -> tuple[str, ...]:
    """Words as the tokens of a text: all but the first begin with a space."""
    return tuple(f" {word}" if place else word for place, word in enumerate(words))


def reordered(letters: Sequence[str], order: Sequence[int]) -> Example:
    """The letters at the places that `order` says, one after the other."""
    answer = spaced([letters[place] for place in order])
    return Example(spaced(letters), answer, tuple(frozenset({place}) for place in order))


def some_letters(random: Random, length: int) -> list[str]:
    """Letters, each as likely as every other."""
    return random.choices(ascii_lowercase, k=length)


def copy(random: Random, length: int) -> Example:
    """The same letters: a diagonal."""
    return copied(some_letters(random, length))


def copied(letters: Sequence[str]) -> Example:
    """What is right for `copy`."""
    return reordered(letters, range(len(letters)))


def reverse(random: Random, length: int) -> Example:
    """The letters backwards: an anti-diagonal."""
    return turned(some_letters(random, length))


def turned(letters: Sequence[str]) -> Example:
    """What is right for `reverse`."""
    return reordered(letters, range(len(letters))[::-1])


SHIFT = 2


def shift(random: Random, length: int) -> Example:
    """The letters from the third on, then the first two: a broken diagonal."""
    return shifted(some_letters(random, length))


def shifted(letters: Sequence[str]) -> Example:
    """What is right for `shift`."""
    length = len(letters)
    return reordered(letters, [(place + SHIFT) % length for place in range(length)])


def sort(random: Random, length: int) -> Example:
    """The letters in the order of the alphabet; of equal ones each may be looked at."""
    return ordered(some_letters(random, length))


def ordered(letters: Sequence[str]) -> Example:
    """What is right for `sort`."""
    answer = sorted(letters)
    alike = {
        one: frozenset(i for i, other in enumerate(letters) if other == one) for one in letters
    }
    return Example(spaced(letters), spaced(answer), tuple(alike[one] for one in answer))


def induction(random: Random, length: int) -> Example:
    """Different letters, then one of them again: the answer is what followed it."""
    letters = random.sample(ascii_lowercase, length - 1)
    return looked_up([*letters, letters[random.randrange(length - 2)]])


def looked_up(letters: Sequence[str]) -> Example:
    """What is right for `induction`.

    Raises `ValueError` where the last letter does not stand once before, with another one after it.
    """
    *before, last = letters
    if before.count(last) != 1 or (asked := before.index(last)) == len(before) - 1:
        raise ValueError("the last letter must stand once before, with another letter after it")
    answer = frozenset({asked + 1})
    return Example(spaced(letters), (before[asked + 1],), (answer,), {len(before): answer})


CLOSING = {"(": ")", "[": "]", "{": "}"}


def brackets(random: Random, length: int) -> Example:
    """Brackets, some of them closed: the answer closes the others, the last one first."""
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
    """What is right for `brackets`. Each bracket that closes looks at the one that it closes.

    Raises `ValueError` where one closes another than the last that is open, or none is left open.
    """
    opened: list[int] = []
    within: dict[int, Places] = {}
    for place, one in enumerate(source):
        if one in CLOSING:
            opened.append(place)
        elif not opened or CLOSING[source[opened[-1]]] != one:
            raise ValueError(f"bracket {place + 1} closes none that is open")
        else:
            within[place] = frozenset({opened.pop()})
    if not opened:
        raise ValueError("one bracket at least must be left open")
    answer = tuple(CLOSING[source[place]] for place in reversed(opened))
    cross = tuple(frozenset({place}) for place in reversed(opened))
    return Example(tuple(source), answer, cross, within)


def addition(random: Random, length: int) -> Example:
    """The sum of two numbers of at most so many digits: each digit looks at its column."""
    first, second = (str(random.randrange(10**length)) for _ in range(2))
    return added(first, second)


def added(first: str, second: str) -> Example:
    """What is right for `addition`: what is carried to the front looks at the first column."""
    answer = str(int(first) + int(second))
    begins = 0, len(first) + 1  # of each number in the source
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
