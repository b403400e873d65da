"""Synthetic examples of inputs that people type but corpora lack.

`KINDS` are functions of an example, a function that draws others of its direction, and a random
generator; they return a new example, or None if the kind does not apply.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from functools import partial

from model.text.tokens import normalise
from model.train.clean import MARKS
from model.train.pairs import TrainingExample

Chance = random.Random
Draw = Callable[[], TrainingExample]
Kind = Callable[[TrainingExample, Draw, Chance], TrainingExample | None]

FINAL = re.compile(r"[.。!！]+$")
WORDS = re.compile(r"[A-Za-z’']+|\d+|[一-鿿]")  # for Chinese, characters
DIGITS = re.compile(r"(?<![\d.,])\d+(?!\d|[.,]\d)")
# A name that occurs in thousands of sentences and can be replaced by another one.
NAMES = (re.compile(r"\bTom\b"), re.compile("汤姆"))
NARROW = str.maketrans("，。！？；：（）“”", ',.!?;:()""')
CURLY = str.maketrans("'", "’")
ONSETS = ("", *"bcdfghjklmnprstvwz", "br", "ch", "cl", "dr", "fr", "gr", "kh", "sh", "st", "th")
VOWELS = (*"aeiou", "ai", "ee", "ia", "oo", "ou")
CODAS = ("", "", *"dklmnrst", "ck", "nd", "ng", "rt")
EMOJI = "😀😂🙂😉😍😎🤔😢😭😡👍👎🙏👏💪🎉❤💔🔥⭐✨☀🌧🐱🐶🌸🍎🍕☕🍜🚗✈🏠📚💡🎵⚽🎂"


def spaced(a: str, b: str) -> str:
    """Join two sentences, with a space unless a Chinese mark ends the first."""
    return normalise(a + b if a[-1:] in MARKS else f"{a} {b}")


def followed(one: TrainingExample, draw: Draw, more: int) -> TrainingExample:
    """Return an example followed by `more` others."""
    source, target = one.source, one.target
    for _ in range(more):
        two = draw()
        source, target = spaced(source, two.source), spaced(target, two.target)
    return TrainingExample(source, target, one.language)


def joined(one: TrainingExample, draw: Draw, chance: Chance) -> TrainingExample | None:
    """Join two to four sentences into one input; fewer are more likely."""
    return followed(one, draw, chance.choice((1, 1, 1, 2, 2, 3)))


def paragraph(one: TrainingExample, draw: Draw, chance: Chance) -> TrainingExample | None:
    """Join five to eight sentences into one input."""
    return followed(one, draw, chance.randint(4, 7))


def unmarked(one: TrainingExample, draw: Draw, chance: Chance) -> TrainingExample | None:
    """Remove the final punctuation mark of the source."""
    return without_mark(one)


def without_mark(one: TrainingExample) -> TrainingExample | None:
    """Remove the final mark of the source; return None if there is none, or nothing else."""
    source = FINAL.sub("", one.source)
    return (
        TrainingExample(source, one.target, one.language)
        if source not in ("", one.source)
        else None
    )


def lower(one: TrainingExample, draw: Draw, chance: Chance) -> TrainingExample | None:
    """Convert the source to lower case, half of the time without its final mark."""
    source = one.source.lower()
    if source == one.source:
        return None
    made = TrainingExample(source, one.target, one.language)
    return (unmarked(made, draw, chance) if chance.random() < 0.5 else None) or made


def short(one: TrainingExample, draw: Draw, chance: Chance) -> TrainingExample | None:
    """Keep inputs of one to three words: corpora have few, and people type them first."""
    if len(WORDS.findall(one.source)) > 3:
        return None
    return chance.choice((unmarked, lower))(one, draw, chance) or one


def capitals(one: TrainingExample, draw: Draw, chance: Chance) -> TrainingExample | None:
    """Convert the source to capitals."""
    source = one.source.upper()
    return TrainingExample(source, one.target, one.language) if source != one.source else None


def marks(one: TrainingExample, draw: Draw, chance: Chance) -> TrainingExample | None:
    """Use half-width marks in a Chinese source, typographic ones in an English source."""
    other = one.source.translate(CURLY if one.source.isascii() else NARROW)
    return TrainingExample(other, one.target, one.language) if other != one.source else None


def name(chance: Chance) -> str:
    """Return an invented name: two or three syllables, in Latin letters."""
    count = chance.choice((2, 2, 3))
    syllables = (chance.choice(part) for _ in range(count) for part in (ONSETS, VOWELS, CODAS))
    return "".join(syllables).capitalize()


def named(one: TrainingExample, draw: Draw, chance: Chance) -> TrainingExample | None:
    """Insert an invented name, spelt alike on both sides, so that the model learns to copy."""
    made = name(chance)
    sides = []
    for text in (one.source, one.target):
        for pattern in NAMES:
            found = pattern.sub(made, text)
            if found != text:
                sides.append(found)
                break
    return TrainingExample(sides[0], sides[1], one.language) if len(sides) == 2 else None


def numbered(one: TrainingExample, draw: Draw, chance: Chance) -> TrainingExample | None:
    """Replace the digits on both sides, if they are the same."""
    numbers = DIGITS.findall(one.source)
    if not numbers or sorted(numbers) != sorted(DIGITS.findall(one.target)):
        return None
    others = {
        number: str(chance.randint(1, 9)) + "".join(str(chance.randint(0, 9)) for _ in number[1:])
        for number in sorted({*numbers})
    }
    source, target = (
        DIGITS.sub(lambda found: others[found[0]], text) for text in (one.source, one.target)
    )
    return TrainingExample(source, target, one.language)


def with_emoji(one: TrainingExample, draw: Draw, chance: Chance) -> TrainingExample | None:
    """Append one to three emoji to both sides, so that the model learns to copy them."""
    tail = chance.choice(EMOJI) * chance.choice((1, 1, 1, 2, 3))
    gap = chance.choice(("", " "))
    source, target = normalise(one.source + gap + tail), normalise(one.target + gap + tail)
    return TrainingExample(source, target, one.language)


KINDS: dict[Kind, int] = {  # relative frequencies
    joined: 12,
    paragraph: 4,
    unmarked: 3,
    lower: 3,
    short: 5,
    capitals: 2,
    marks: 2,
    named: 4,
    numbered: 1,
    with_emoji: 2,
}


def augment(examples: Sequence[TrainingExample], share: float, seed: int) -> list[TrainingExample]:
    """Return the examples with new ones, `share` times as many, of kinds drawn from `KINDS`.

    Seeded: the same examples give the same result.
    """
    chance = random.Random(seed)
    by_language: dict[str, list[TrainingExample]] = {}
    for example in examples:
        by_language.setdefault(example.language, []).append(example)
    draws = {code: partial(chance.choice, mine) for code, mine in by_language.items()}
    kinds, tickets = [*KINDS], [*KINDS.values()]
    made: list[TrainingExample] = []
    for _ in range(round(share * len(examples))):
        [kind] = chance.choices(kinds, tickets)
        for _ in range(200):  # a kind that applies to none of these is skipped
            one = chance.choice(examples)
            new = kind(one, draws[one.language], chance)
            if new is not None:
                made.append(new)
                break
    return made


def unmark(examples: Sequence[TrainingExample], share: float, seed: int) -> list[TrainingExample]:
    """Return the examples with `share` of the sources' final marks removed; seeded."""
    chance = random.Random(seed)
    return [(without_mark(one) if chance.random() < share else None) or one for one in examples]
