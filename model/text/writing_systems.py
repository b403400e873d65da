"""Writing systems: the language of a text by its script, and characters with the same meaning.

Folding, mostly of Chinese, keeps the number of code points, so offsets into the folded text are
offsets into the text as sent.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

import opencc

# What is counted for each script: words if it separates them, otherwise characters. If counts are
# equal, the later one wins: a Chinese sentence may have as many Latin words as characters.
SCRIPTS = {
    "Latin": re.compile(r"[A-Za-zÀ-ɏ]+"),
    "Greek": re.compile(r"[\u0370-\u03ff\u1f00-\u1fff]+"),
    "Cyrillic": re.compile(r"[\u0400-\u052f]+"),
    "Hebrew": re.compile(r"[\u0590-\u05ff]+"),
    "Arabic": re.compile(r"[\u0600-\u06ff\u0750-\u077f]+"),
    "Devanagari": re.compile(r"[\u0900-\u097f]+"),
    "Thai": re.compile(r"[\u0e00-\u0e7f]"),
    "Hangul": re.compile(r"[\u1100-\u11ff\uac00-\ud7af]+"),
    "Japanese": re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]"),  # kana and characters
    "Han": re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"),
}
# Scripts of languages; all others are assumed to be Latin.
USUAL = {
    **dict.fromkeys(("be", "bg", "kk", "mk", "mn", "ru", "sr", "uk"), "Cyrillic"),
    **dict.fromkeys(("ar", "fa", "ur"), "Arabic"),
    **dict.fromkeys(("hi", "mr", "ne"), "Devanagari"),
    "el": "Greek",
    "he": "Hebrew",
    "ja": "Japanese",
    "ko": "Hangul",
    "th": "Thai",
    "zh": "Han",
}


def usual(language: str) -> str:
    """Return the usual script of a language."""
    return USUAL.get(language, "Latin")


@dataclass(frozen=True)
class Detector:
    """Detects a text's language by its script; of several languages with one script, the first.

    `scripts` gives the script of a language if it is not the usual one. Raises `ValueError` for an
    unknown script.
    """

    languages: tuple[str, ...]
    scripts: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for language, script in self.scripts.items():
            if script not in SCRIPTS:
                scripts = ", ".join(SCRIPTS)
                raise ValueError(f"unknown script of {language}: {script}; known: {scripts}")

    def script(self, language: str) -> str:
        """Return the script of a language."""
        return self.scripts.get(language, usual(language))

    def language(self, text: str) -> str:
        """Return the language whose script occurs most in the text, or the first language."""
        order = list(SCRIPTS)
        counts = [
            (len(SCRIPTS[script].findall(text)), order.index(script))
            for script in map(self.script, self.languages)
        ]
        if not any(count for count, _ in counts):
            return self.languages[0]
        return self.languages[counts.index(max(counts))]


HAN, LATIN_WORD = SCRIPTS["Han"], SCRIPTS["Latin"]
# Full-width Latin letters and digits become ASCII; full-width punctuation is kept, as Chinese.
FULL_WIDTH = {
    wide: wide - 0xFEE0
    for first, last in ("09", "AZ", "az")
    for wide in range(ord(first) + 0xFEE0, ord(last) + 0xFEE1)
}
# The capitals to keep when a text in capitals is lowered: the first of a sentence, and "I".
# A match never fails once it has begun, so that the time is linear.
KEPT = re.compile(r"(?:^|[.!?]\s)\W*\w?|\bI\b")
MARKS = 30  # combining characters in a row: no letter has more (UAX #15, stream-safe text)
APOSTROPHE = re.compile(r"(?<=[A-Za-z])’(?=[A-Za-z])")


def fold(text: str) -> str:
    """Normalise characters with the same meaning; the length in code points does not change.

    Traditional characters become simplified, compatibility ideographs and full-width letters and
    digits become the plain ones, a typographic apostrophe inside a word becomes "'", and a text
    entirely in capitals is lowered. Folding a folded text changes nothing.
    """
    text = APOSTROPHE.sub("'", text.translate(FULL_WIDTH))
    if not HAN.search(text):
        return _lowered(text) if _is_shouted(text) else text
    text = "".join(_canonical(character) for character in text)
    return _simplified(text) if any(c in simplifications() for c in text) else text


def _is_shouted(text: str) -> bool:
    """Return whether at least two words are all in capitals; one may be an abbreviation."""
    # Composed, so that a letter and its accent count as one, however they were sent.
    composed = text if text.isascii() else unicodedata.normalize("NFC", _few_marks(text))
    words = [word for word in LATIN_WORD.findall(composed) if len(word) > 1]
    return len(words) > 1 and not any(character.islower() for character in composed)


def _few_marks(text: str) -> str:
    """Return a text without the marks beyond `MARKS` in a row, since they are sorted pairwise."""
    characters, marks = [], 0
    for character in text:
        marks = marks + 1 if unicodedata.combining(character) else 0
        if marks <= MARKS:
            characters.append(character)
    return "".join(characters)


def _lowered(text: str) -> str:
    capitals = {place for match in KEPT.finditer(text) for place in range(*match.span())}
    lower = (character.lower() for character in text)
    return "".join(
        new if len(new) == 1 and place not in capitals else old
        for place, (old, new) in enumerate(zip(text, lower, strict=True))
    )


def _canonical(character: str) -> str:
    composed = unicodedata.normalize("NFC", character)
    return composed if len(composed) == 1 else character


@cache
def _converter() -> opencc.OpenCC:
    return opencc.OpenCC("tw2s")


@cache
def conversions() -> dict[str, str]:
    """Return the characters that a traditional text has in another form, each by itself."""
    characters = map(chr, range(0x3400, 0xA000))
    converted = ((character, _converter().convert(character)) for character in characters)
    return {before: after for before, after in converted if before != after and len(after) == 1}


@cache
def simplifications() -> dict[str, str]:
    """Return the characters that are only traditional: outside GB 2312, with a simplified form.

    A text is converted only if it has one of them, since characters such as 著 and 乾 are also
    valid in simplified text.
    """
    table = {}
    for code in range(0x3400, 0xA000):
        character = chr(code)
        simplified = _converter().convert(character)
        while (further := _converter().convert(simplified)) != simplified:
            simplified = further
        if simplified != character and not character.encode("gb2312", "ignore"):
            table[character] = simplified
    return table


def _simplified(text: str) -> str:
    converted = _converter().convert(text)  # handles phrases: 看著 -> 看着, 著名 is kept
    converted = converted if len(converted) == len(text) else text
    return "".join(simplifications().get(character, character) for character in converted)
