"""Phrases, words, names and frames, read from the lists next to this file.

A line is `English forms = Chinese forms`, with forms separated by "|"; "# " starts a comment.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from model.text.writing_systems import HAN

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Said:
    """One meaning in both languages: its forms, of which the first is used as the target."""

    en: tuple[str, ...]
    zh: tuple[str, ...]


Chance = random.Random
Slot = Callable[[Chance], Said]  # a random value


def copied(text: str) -> Said:
    """Return a text that is the same in both languages."""
    return Said((text,), (text,))


@cache
def phrases() -> tuple[Said, ...]:
    """Return greetings, everyday phrases and sayings."""
    return _sections("phrases.txt")[""]


@cache
def words() -> tuple[Said, ...]:
    """Return words that are typed alone."""
    return _sections("words.txt")[""]


@cache
def frames() -> tuple[Said, ...]:
    """Return sentences with slots in braces."""
    return _sections("frames.txt")[""]


@cache
def names() -> Mapping[str, tuple[Said, ...]]:
    """Return well-known names, by kind."""
    return _sections("names.txt")


@cache
def english_words() -> tuple[str, ...]:
    """Return all English words of the lists, in lower case."""
    return tuple(sorted({*re.findall(r"\b[a-z]{3,}\b", _all().lower())}))


@cache
def characters() -> tuple[str, ...]:
    """Return all Chinese characters of the lists."""
    return tuple(sorted({*HAN.findall(_all())}))


def _all() -> str:
    listed = (*phrases(), *words(), *(phrase for part in names().values() for phrase in part))
    return "\n".join(text for phrase in listed for text in (*phrase.en, *phrase.zh))


def _sections(file: str) -> dict[str, tuple[Said, ...]]:
    """Return the lines under each heading; those before the first one under "".

    Raises `ValueError` for a line that is not `English = Chinese`.
    """
    sections: dict[str, list[Said]] = {}
    heading = ""
    for number, line in enumerate((HERE / file).read_text(encoding="utf-8").splitlines(), 1):
        if not line or line.startswith("# "):
            continue
        if line.startswith("[") and line.endswith("]"):
            heading = line[1:-1]
            continue
        en, equals, zh = line.partition(" = ")
        if not equals or not en or not zh:
            raise ValueError(f"{file}, line {number}: not `English = Chinese`: {line}")
        phrase = Said(tuple(en.split("|")), tuple(zh.split("|")))
        sections.setdefault(heading, []).append(phrase)
    return {heading: tuple(entries) for heading, entries in sections.items()}
