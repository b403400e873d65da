"""Examples from the lists, and from frames whose slots have random values, as people type them.

Each slot returns a random value, in both languages.
"""

from __future__ import annotations

import random
import re
import string
from collections.abc import Collection, Iterator
from functools import partial
from itertools import islice

from model.text.tokens import normalise
from model.text.writing_systems import HAN
from model.train import synthetic_pairs
from model.train.data import Languages, TrainingExample
from model.train.generated import lists, quantities
from model.train.generated.lists import Chance, Said, Slot, copied
from model.train.generated.quantities import size
from model.train.pair_cleaning import key

FILE_ENDINGS = (
    *("txt", "pdf", "py", "jpg", "docx", "csv", "exe", "zip", "png", "mp3", "mp4", "xlsx"),
    *("pptx", "html", "js", "json", "md", "apk"),
)


def unheard(chance: Chance) -> Said:
    """Draw an invented name, which is copied."""
    return copied(synthetic_pairs.name(chance))


def chinese(chance: Chance) -> Said:
    """Draw a Chinese name in pinyin and in characters."""
    surname = chance.choice(lists.names()["surname"])
    given_names = chance.sample(lists.names()["given"], chance.choice((1, 2, 2)))
    en = f"{surname.en[0]} {''.join(part.en[0] for part in given_names).capitalize()}"
    return Said((en,), ("".join(part.zh[0] for part in (surname, *given_names)),))


def english(chance: Chance) -> Said:
    """Draw an English word that the sentence is about, so that it is not translated."""
    return copied(chance.choice(lists.words()).en[0])


def url(chance: Chance) -> Said:
    """Draw a web address."""
    scheme = chance.choice(("https://www.", "https://", "http://www.", "http://", "www.", ""))
    domain = chance.choice(("", "", f"{_word(chance)}.", f"{_word(chance)}-")) + _word(chance)
    ending = chance.choice(("com", "com", "com", "org", "org", "net", "cn", "edu", "io", "com.cn"))
    path = chance.choice(("", "", f"/{_word(chance)}", f"/{_word(chance)}/{size(chance, 3)}"))
    return copied(f"{scheme}{domain}.{ending}{path}")


def email(chance: Chance) -> Said:
    """Draw an e-mail address."""
    ending = chance.choice(("com", "com", "org", "cn", "edu", "net"))
    tail = chance.choice(("", "", f".{_word(chance)}", f"_{_word(chance)}", str(size(chance, 3))))
    return copied(f"{_word(chance)}{tail}@{_word(chance)}.{ending}")


def file(chance: Chance) -> Said:
    """Draw a file name."""
    ending = chance.choice(FILE_ENDINGS)
    tail = chance.choice(("", "", "", str(size(chance, 2)), f"_{_word(chance)}"))
    return copied(f"{_word(chance)}{tail}.{ending}")


def latin(chance: Chance) -> Said:
    """Draw a product or abbreviation in Latin letters, which is copied: BriKota, QTX, VR-7."""
    word_, capitals = (
        synthetic_pairs.name(chance),
        "".join(chance.choices(string.ascii_uppercase, k=4)),
    )
    return copied(
        chance.choice(
            (
                word_,
                word_ + synthetic_pairs.name(chance),
                chance.choice("ieX") + word_,
                chance.choice(lists.english_words()).capitalize() + word_,
                capitals[: chance.randint(2, 4)],
                f"{capitals[: chance.randint(2, 3)]}-{chance.randint(1, 99)}",
                f"{word_} {chance.randint(2, 20)}",
            )
        )
    )


def hans(chance: Chance) -> Said:
    """Draw two to four Chinese characters, which are copied inside English."""
    return copied("".join(chance.choices(lists.characters(), k=chance.choice((2, 2, 3, 4)))))


def _word(chance: Chance) -> str:
    """Draw a real word or an invented name, in lower case."""
    if chance.random() < 0.4:
        return synthetic_pairs.name(chance).lower()
    return chance.choice(lists.english_words())


def listed(heading: str) -> Slot:
    """Return a slot of the names under a heading of `names.txt`."""
    return lambda chance: chance.choice(lists.names()[heading])


def han(chance: Chance) -> Said:
    """Draw a Chinese word, which is copied inside English."""
    return copied(chance.choice(lists.words()).zh[0])


def foreign(heading: str) -> Slot:
    """Return a slot of names under a heading of `names.txt`, in Chinese inside English."""
    return lambda chance: copied(chance.choice(lists.names()[heading]).zh[0])


def word(chance: Chance) -> Said:
    """Draw a word."""
    return chance.choice(lists.words())


SLOTS: dict[str, Slot] = {
    **{heading: listed(heading) for heading in ("person", "city", "country", "brand", "code")},
    **{heading: listed(heading) for heading in ("field", "key", "clothing", "part")},
    **{heading: listed(heading) for heading in ("landmark", "book", "food", "festival")},
    **{heading: listed(heading) for heading in ("job", "people", "adjective", "work")},
    "han": han,
    "hans": hans,
    "latin": latin,
    "hancity": foreign("city"),
    "hanbrand": foreign("brand"),
    "hanfood": foreign("food"),
    "hanlandmark": foreign("landmark"),
    "height": quantities.height,
    "weekday": quantities.weekday,
    "unheard": unheard,
    "chinese": chinese,
    "english": english,
    "word": word,
    "small": quantities.small,
    "age": quantities.age,
    "integer": quantities.integer,
    "decimal": quantities.decimal,
    "bignumber": quantities.bignumber,
    "year": quantities.year,
    "date": quantities.date,
    "day": quantities.day,
    "time": quantities.time,
    "money": quantities.money,
    "percent": quantities.percent,
    "length": quantities.measured(
        ("meter|meters", "m", "米"),
        ("kilometer|kilometers", "km", "公里"),
        ("centimeter|centimeters", "cm", "厘米"),
        ("mile|miles", "", "英里"),
    ),
    "weight": quantities.measured(
        ("kilogram|kilograms", "kg", "公斤"),
        ("gram|grams", "g", "克"),
        ("ton|tons", "t", "吨"),
        ("pound|pounds", "", "磅"),
    ),
    "volume": quantities.measured(
        ("liter|liters", "L", "升"), ("milliliter|milliliters", "ml", "毫升")
    ),
    "speed": quantities.measured(
        ("kilometer per hour|kilometers per hour", "km/h", "公里每小时"),
        ("meter per second|meters per second", "m/s", "米每秒"),
    ),
    "duration": quantities.measured(
        ("second|seconds", "", "秒"),
        ("minute|minutes", "", "分钟"),
        ("hour|hours", "", "小时"),
        ("day|days", "", "天"),
        ("week|weeks", "", "周"),
        ("month|months", "", "个月"),
        ("year|years", "", "年"),
    ),
    "temperature": quantities.temperature,
    "phone": quantities.phone,
    "sum": quantities.sum_,
    "spoken": quantities.spoken,
    "url": url,
    "email": email,
    "file": file,
}

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
