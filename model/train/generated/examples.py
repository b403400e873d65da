"""Examples from the lists and slots, as people type them."""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Iterator
from functools import partial
from itertools import islice

from model.text.tokens import normalise
from model.text.writing_systems import HAN
from model.train import synthetic_pairs
from model.train.data import Languages, TrainingExample
from model.train.generated import lists
from model.train.generated.lists import Said
from model.train.generated.slots import SLOTS
from model.train.pair_cleaning import key

LANGUAGES = ("en", "zh")
SLOT = re.compile(r"\{([a-z]+?)2?\}")  # {city2} is another city than {city}
# A slot at the start of a sentence.
OPENS = re.compile(r"\{(?:field|country|word|landmark|food|festival)\}.* .*[.?!]$")
ARTICLE = re.compile(r"\b([Aa]) (?i:(?=[aeio])(?!eu|one\b))")  # to become "an"
SOURCES = {lists.phrases: 6, lists.words: 3, lists.frames: 15}  # relative frequencies
# Slots whose values rarely repeat: the model must learn to copy or convert them.
VARIED = frozenset(
    [
        "unheard",
        "chinese",
        "url",
        "email",
        "file",
        "phone",
        "sum",
        "integer",
        "decimal",
        "bignumber",
        "money",
        "year",
        "date",
        "day",
        "time",
        "percent",
        "height",
        "latin",
        "han",
        "hans",
        "hancity",
        "hanbrand",
        "hanfood",
        "english",
    ]
)
MORE = 3  # extra weight of a frame for each such slot
# Blocks of emoji, so that the model learns to copy any of them.
PICTURES = [*synthetic_pairs.EMOJI, *map(chr, (*range(0x1F300, 0x1F650), *range(0x1F900, 0x1FA00)))]


def with_emoji(
    base: TrainingExample, draw: synthetic_pairs.Draw, chance: random.Random
) -> TrainingExample | None:
    """Append one to three emoji of any kind to both sides, so that the model learns to copy."""
    tail = chance.choice((chance.choice(synthetic_pairs.EMOJI), chance.choice(PICTURES)))
    tail = chance.choice(("", " ")) + tail * chance.choice((1, 1, 1, 2, 3))
    return TrainingExample(
        normalise(base.source + tail), normalise(base.target + tail), base.language
    )


def capitals(
    base: TrainingExample, draw: synthetic_pairs.Draw, chance: random.Random
) -> TrainingExample | None:
    """Convert an English source to capitals; a Chinese one with a name in it is not changed."""
    return synthetic_pairs.capitals(base, draw, chance) if base.language == "zh" else None


SHAPES: dict[synthetic_pairs.Kind | None, int] = {  # ways of typing; None: unchanged
    None: 14,
    synthetic_pairs.lower: 3,
    capitals: 1,
    synthetic_pairs.marks: 1,
    with_emoji: 3,
    synthetic_pairs.bracketed: 2,
    synthetic_pairs.chained: 2,
}
PLAIN_HEART = 0.5  # share of emoji without the selector of their coloured form
COLOURED = "\ufe0f"


def generated(
    count: int,
    languages: Languages,
    seed: int,
    unread: Collection[str] = (),
    excluded: frozenset[str] = frozenset(),
) -> list[TrainingExample]:
    """Return `count` examples, in random directions; seeded.

    No source has its `key` in `unread`, and neither side has it in `excluded`. Raises `ValueError`
    for languages other than English and Chinese.
    """
    if count and {*languages} != {*LANGUAGES}:
        raise ValueError(f"only {LANGUAGES} are generated, not {tuple(languages)}")
    examples = (
        example
        for example in _endless(seed)
        if (read := key(example.source)) not in unread
        and not {read, key(example.target)} & excluded
    )
    return list(islice(examples, count))


def _endless(seed: int) -> Iterator[TrainingExample]:
    chance = random.Random(seed)
    sources, tickets = [*SOURCES], [*SOURCES.values()]
    lots = {source: (source(), [*map(_tickets, source())]) for source in sources}
    shapes, shares = [*SHAPES], [*SHAPES.values()]
    while True:
        [source] = chance.choices(sources, tickets)
        [chosen] = chance.choices(*lots[source])
        phrase = filled(chosen, chance)
        example = _typed(phrase, chance)
        [shape] = chance.choices(shapes, shares)
        example_ = (
            shape(example, partial(_aside, example.language, chance), chance) if shape else None
        )
        yield _hearted(example_ or example, chance)


def _tickets(phrase: Said) -> int:
    """Return how often a phrase, word or frame is drawn, relative to others of its list."""
    return 1 + MORE * sum(name.rstrip("2") in VARIED for name in {*_slots(phrase.en[0])})


def _aside(language: str, chance: random.Random) -> TrainingExample:
    """Draw a word or a phrase, translated into this language."""
    while True:
        example = _typed(chance.choice(chance.choice((lists.words, lists.phrases))()), chance)
        if example.language == language:
            return example


def filled(frame: Said, chance: random.Random) -> Said:
    """Return a frame with values in its slots, or unchanged without slots.

    Each form of the frame gets a form of each value: the first gets the first, others any.
    """
    slots_ = dict.fromkeys(name for form in (*frame.en, *frame.zh) for name in _slots(form))
    values: dict[str, Said] = {}
    for name in slots_:
        slot = SLOTS[SLOT.fullmatch("{" + name + "}")[1]]  # type: ignore[index]
        while name not in values or values[name] in [v for n, v in values.items() if n != name]:
            values[name] = slot(chance)
    sides = []
    for language in LANGUAGES:
        forms = getattr(frame, language)
        texts = []
        for place, form in enumerate((forms[0], *forms)):
            text = form
            for name in _slots(form):
                ways = getattr(values[name], language)
                text = text.replace("{" + name + "}", chance.choice(ways) if place else ways[0])
            opens = language == "en" and OPENS.search(form) and form.startswith("{")
            text = text[:1].upper() + text[1:] if opens else text
            text = ARTICLE.sub(r"\1n ", text) if language == "en" else text
            texts.append(text.replace(".m..", ".m."))
        sides.append(tuple(texts))
    return Said(*sides)


def _slots(form: str) -> list[str]:
    return [match[0][1:-1] for match in SLOT.finditer(form)]


def _typed(phrase: Said, chance: random.Random) -> TrainingExample:
    """Pair any form with the first one of the other language; English targets have no Chinese."""
    if HAN.search(phrase.en[0]) or chance.random() < 0.5:
        source, target, language = chance.choice(phrase.en), phrase.zh[0], "zh"
    else:
        source, target, language = chance.choice(phrase.zh), phrase.en[0], "en"
    return TrainingExample(normalise(source), normalise(target), language)


def _hearted(base: TrainingExample, chance: random.Random) -> TrainingExample:
    """Add or remove the selector of hearts and similar emoji, on both sides alike."""
    source, target = (text.replace(COLOURED, "") for text in (base.source, base.target))
    if chance.random() < PLAIN_HEART:
        return TrainingExample(source, target, base.language)
    source, target = (re.sub("[❤✨☀⭐✈]", rf"\g<0>{COLOURED}", text) for text in (source, target))
    return TrainingExample(source, target, base.language)
