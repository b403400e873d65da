"""Slots of a frame: each returns a random value, in both languages."""

from __future__ import annotations

import string

from model.train.generated import lists, quantities
from model.train.generated.lists import Chance, Said, Slot, copied
from model.train.generated.quantities import size
from model.train.synthetic_pairs import name

FILE_ENDINGS = (
    *("txt", "pdf", "py", "jpg", "docx", "csv", "exe", "zip", "png", "mp3", "mp4", "xlsx"),
    *("pptx", "html", "js", "json", "md", "apk"),
)


def unheard(chance: Chance) -> Said:
    """Draw an invented name, which is copied."""
    return copied(name(chance))


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
    word_, capitals = name(chance), "".join(chance.choices(string.ascii_uppercase, k=4))
    return copied(
        chance.choice(
            (
                word_,
                word_ + name(chance),
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
        return name(chance).lower()
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
