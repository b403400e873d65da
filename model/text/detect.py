"""Which of a model's languages a text is in, by the script that it is written in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

# What is counted of each script: words where it parts them, else characters. Between equal counts
# the one further down wins: a Chinese sentence may hold as many Latin words as characters.
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
# By language; all others are taken for Latin.
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
    """The script that a language is usually written in."""
    return USUAL.get(language, "Latin")


@dataclass(frozen=True)
class Detector:
    """Tells languages apart by their scripts; those of one script count as the first of them.

    `scripts` says what a language is written in where that is not the usual; raises `ValueError`
    for a script that is not known.
    """

    languages: tuple[str, ...]
    scripts: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for language, script in self.scripts.items():
            if script not in SCRIPTS:
                known = ", ".join(SCRIPTS)
                raise ValueError(f"unknown script of {language}: {script}; known: {known}")

    def script(self, language: str) -> str:
        """What a language is written in."""
        return self.scripts.get(language, usual(language))

    def language(self, text: str) -> str:
        """The language whose script has most in the text; the first one where none has any."""
        order = list(SCRIPTS)
        found = [
            (len(SCRIPTS[script].findall(text)), order.index(script))
            for script in map(self.script, self.languages)
        ]
        if not any(count for count, _ in found):
            return self.languages[0]
        return self.languages[found.index(max(found))]
