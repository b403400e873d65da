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
from model.train.clean import MARKS
from model.train.data import TrainingExample

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
    return replace(one, source=source) if source not in ("", one.source) else None


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


def bracketed(one: TrainingExample, draw: Draw, chance: Chance) -> TrainingExample | None:
    """Put a short text into brackets, before the final mark of a sentence or before all of it."""
    aside = draw()
    style = ROUND if chance.random() < 0.75 else SQUARE
    before_the_mark = chance.random() < 0.75
    sides = []
    for text, more, ways in (
        (one.source, inner(aside.source), style),
        (one.target, inner(aside.target), {code: few[:1] for code, few in style.items()}),
    ):
        if more is None or text.isascii() != more.isascii():
            return None
        code, gap = ("en", " ") if text.isascii() else ("zh", "")
        brackets = chance.choice(ways[code])
        body, mark = parted(text)
        more = f"{brackets[0]}{more}{brackets[1]}"
        sides.append(f"{body}{gap}{more}{mark}" if before_the_mark else f"{more}{gap}{text}")
    return TrainingExample(normalise(sides[0]), normalise(sides[1]), one.language)


def chained(one: TrainingExample, draw: Draw, chance: Chance) -> TrainingExample | None:
    """Join two short texts with a comma, as in "Hi, how are you?"."""
    two = draw()
    sides = []
    for a, b, commas in ((one.source, two.source, "，,"), (one.target, two.target, "，")):
        more = inner(b)
        if len(WORDS.findall(a)) > ASIDE or more is None or a.isascii() != b.isascii():
            return None
        comma = ", " if a.isascii() else chance.choice(commas)
        sides.append(f"{parted(a)[0]}{comma}{parted(more)[0]}{parted(b)[1]}")
    return TrainingExample(normalise(sides[0]), normalise(sides[1]), one.language)


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
