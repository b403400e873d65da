"""Synthetic examples of inputs that people type but corpora lack.

`KINDS` are functions of an example, a function that draws others of its direction, and a random
generator; they return a new example, or None if the kind does not apply.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from model.text.tokens import normalise
from model.train.data import TrainingExample
from model.train.pair_cleaning import MARKS

Chance = random.Random
Draw = Callable[[], TrainingExample]
Kind = Callable[[TrainingExample, Draw, Chance], TrainingExample | None]

FINAL = re.compile(r"[.。!！]+$")
WORDS = re.compile(r"[A-Za-z’']+|\d+|[一-鿿]")  # for Chinese, characters
DIGITS = re.compile(r"(?<![\d.,])\d+(?!\d|[.,]\d)")
# A name that occurs in thousands of sentences and can be replaced by another one.
NAMES = (re.compile(r"\bTom\b"), re.compile("汤姆"))
# Words that have a capital only at the start of a sentence.
STARTS = re.compile(
    r"(a|all|and|are|at|but|can|come|do|don't|for|from|go|he|her|here|his|how|if|in|is|it|it's|keep|"
    r"let's|look|my|no|not|of|on|our|please|she|so|take|that|that's|the|there|these|they|this|"
    r"those|to|very|wait|we|what|when|where|who|why|with|yes|you|your)\b",
    re.IGNORECASE,
)
ASIDE = 6  # words in English, characters in Chinese: the longest text in brackets
ROUND = {"en": ("()",), "zh": ("（）", "()")}  # brackets of each language, the usual ones first
SQUARE = {"en": ("[]",), "zh": ("[]", "【】")}
NARROW = str.maketrans("，。！？；：（）“”", ',.!?;:()""')
CURLY = str.maketrans("'", "’")
ONSETS = ("", *"bcdfghjklmnprstvwz", "br", "ch", "cl", "dr", "fr", "gr", "kh", "sh", "st", "th")
VOWELS = (*"aeiou", "ai", "ee", "ia", "oo", "ou")
CODAS = ("", "", *"dklmnrst", "ck", "nd", "ng", "rt")
EMOJI = "😀😂🙂😉😍😎🤔😢😭😡👍👎🙏👏💪🎉❤💔🔥⭐✨☀🌧🐱🐶🌸🍎🍕☕🍜🚗✈🏠📚💡🎵⚽🎂"


def spaced(a: str, b: str) -> str:
    """Join two sentences, with a space unless a Chinese mark ends the first."""
    return normalise(a + b if a[-1:] in MARKS else f"{a} {b}")


def followed(base: TrainingExample, draw: Draw, count: int) -> TrainingExample:
    """Return an example followed by `count` others."""
    source, target = base.source, base.target
    for _ in range(count):
        two = draw()
        source, target = spaced(source, two.source), spaced(target, two.target)
    return TrainingExample(source, target, base.language)


def joined(base: TrainingExample, draw: Draw, chance: Chance) -> TrainingExample | None:
    """Join two to four sentences into one input; fewer are more likely."""
    return followed(base, draw, chance.choice((1, 1, 1, 2, 2, 3)))


def paragraph(base: TrainingExample, draw: Draw, chance: Chance) -> TrainingExample | None:
    """Join five to eight sentences into one input."""
    return followed(base, draw, chance.randint(4, 7))


def unmarked(base: TrainingExample, draw: Draw, chance: Chance) -> TrainingExample | None:
    """Remove the final punctuation mark of the source."""
    return without_mark(base)


def without_mark(base: TrainingExample) -> TrainingExample | None:
    """Remove the final mark of the source; return None if there is none, or nothing else."""
    source = FINAL.sub("", base.source)
    return replace(base, source=source) if source not in ("", base.source) else None


def lower(base: TrainingExample, draw: Draw, chance: Chance) -> TrainingExample | None:
    """Convert the source to lower case, half of the time without its final mark."""
    source = base.source.lower()
    if source == base.source:
        return None
    lowered = TrainingExample(source, base.target, base.language)
    return (unmarked(lowered, draw, chance) if chance.random() < 0.5 else None) or lowered


def short(base: TrainingExample, draw: Draw, chance: Chance) -> TrainingExample | None:
    """Keep inputs of one to three words: corpora have few, and people type them first."""
    if len(WORDS.findall(base.source)) > 3:
        return None
    return chance.choice((unmarked, lower))(base, draw, chance) or base


def capitals(base: TrainingExample, draw: Draw, chance: Chance) -> TrainingExample | None:
    """Convert the source to capitals."""
    source = base.source.upper()
    return TrainingExample(source, base.target, base.language) if source != base.source else None


def marks(base: TrainingExample, draw: Draw, chance: Chance) -> TrainingExample | None:
    """Use half-width marks in a Chinese source, typographic ones in an English source."""
    source = base.source.translate(CURLY if base.source.isascii() else NARROW)
    return TrainingExample(source, base.target, base.language) if source != base.source else None


def name(chance: Chance) -> str:
    """Return an invented name: two or three syllables, in Latin letters."""
    count = chance.choice((2, 2, 3))
    syllables = (chance.choice(part) for _ in range(count) for part in (ONSETS, VOWELS, CODAS))
    return "".join(syllables).capitalize()


def named(base: TrainingExample, draw: Draw, chance: Chance) -> TrainingExample | None:
    """Insert an invented name, spelt alike on both sides, so that the model learns to copy."""
    new = name(chance)
    sides = []
    for text in (base.source, base.target):
        for pattern in NAMES:
            source = pattern.sub(new, text)
            if source != text:
                sides.append(source)
                break
    return TrainingExample(sides[0], sides[1], base.language) if len(sides) == 2 else None


def numbered(base: TrainingExample, draw: Draw, chance: Chance) -> TrainingExample | None:
    """Replace the digits on both sides, if they are the same."""
    numbers = DIGITS.findall(base.source)
    if not numbers or sorted(numbers) != sorted(DIGITS.findall(base.target)):
        return None
    digits = {
        number: str(chance.randint(1, 9)) + "".join(str(chance.randint(0, 9)) for _ in number[1:])
        for number in sorted({*numbers})
    }
    source, target = (
        DIGITS.sub(lambda match: digits[match[0]], text) for text in (base.source, base.target)
    )
    return TrainingExample(source, target, base.language)


def with_emoji(base: TrainingExample, draw: Draw, chance: Chance) -> TrainingExample | None:
    """Append one to three emoji to both sides, so that the model learns to copy them."""
    tail = chance.choice(EMOJI) * chance.choice((1, 1, 1, 2, 3))
    gap = chance.choice(("", " "))
    source, target = normalise(base.source + gap + tail), normalise(base.target + gap + tail)
    return TrainingExample(source, target, base.language)


def inner(text: str) -> str | None:
    """Return a short text as it stands inside a sentence: without its full stop, in lower case.

    None if it is not short, or starts with a capital that may be a name's.
    """
    text = FINAL.sub("", text)
    if not 0 < len(WORDS.findall(text)) <= ASIDE:
        return None
    if STARTS.match(text):
        return text[0].lower() + text[1:]
    return None if "A" <= text[0] <= "Z" and not re.match(r"I\b", text) else text


def bracketed(base: TrainingExample, draw: Draw, chance: Chance) -> TrainingExample | None:
    """Put a short text into brackets, before the final mark of a sentence or before all of it."""
    aside = draw()
    style = ROUND if chance.random() < 0.75 else SQUARE
    before_the_mark = chance.random() < 0.75
    sides = []
    for text, other, ways in (
        (base.source, inner(aside.source), style),
        (base.target, inner(aside.target), {code: few[:1] for code, few in style.items()}),
    ):
        if other is None or text.isascii() != other.isascii():
            return None
        code, gap = ("en", " ") if text.isascii() else ("zh", "")
        brackets = chance.choice(ways[code])
        body, mark = parted(text)
        other = f"{brackets[0]}{other}{brackets[1]}"
        sides.append(f"{body}{gap}{other}{mark}" if before_the_mark else f"{other}{gap}{text}")
    return TrainingExample(normalise(sides[0]), normalise(sides[1]), base.language)


def chained(base: TrainingExample, draw: Draw, chance: Chance) -> TrainingExample | None:
    """Join two short texts with a comma, as in "Hi, how are you?"."""
    two = draw()
    sides = []
    for a, b, commas in ((base.source, two.source, "，,"), (base.target, two.target, "，")):
        second = inner(b)
        if len(WORDS.findall(a)) > ASIDE or second is None or a.isascii() != b.isascii():
            return None
        comma = ", " if a.isascii() else chance.choice(commas)
        sides.append(f"{parted(a)[0]}{comma}{parted(second)[0]}{parted(b)[1]}")
    return TrainingExample(normalise(sides[0]), normalise(sides[1]), base.language)


def parted(text: str) -> tuple[str, str]:
    """Return a text without its final marks, and these."""
    body = text.rstrip(".。!！?？")
    return body, text[len(body) :]


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
    bracketed: 5,
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
    augmented: list[TrainingExample] = []
    for _ in range(round(share * len(examples))):
        [kind] = chance.choices(kinds, tickets)
        for _ in range(200):  # a kind that applies to none of these is skipped
            base = chance.choice(examples)
            new = kind(base, draws[base.language], chance)
            if new is not None:
                augmented.append(new)
                break
    return augmented


def unmark(examples: Sequence[TrainingExample], share: float, seed: int) -> list[TrainingExample]:
    """Return the examples with `share` of the sources' final marks removed; seeded."""
    chance = random.Random(seed)
    return [
        (without_mark(example) if chance.random() < share else None) or example
        for example in examples
    ]
