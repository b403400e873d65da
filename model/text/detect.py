"""Detection of a text's language, among a model's languages, by its script."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

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
                known = ", ".join(SCRIPTS)
                raise ValueError(f"unknown script of {language}: {script}; known: {known}")

    def script(self, language: str) -> str:
        """Return the script of a language."""
        return self.scripts.get(language, usual(language))

    def language(self, text: str) -> str:
        """Return the language whose script occurs most in the text, or the first language."""
        order = list(SCRIPTS)
        found = [
            (len(SCRIPTS[script].findall(text)), order.index(script))
            for script in map(self.script, self.languages)
        ]
        if not any(count for count, _ in found):
            return self.languages[0]
        return self.languages[found.index(max(found))]
