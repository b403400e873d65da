"""Helpers to read lessons in tests."""

import re
from html import unescape

from app.lessons.course import PLACE, Lesson, lessons, short_lesson
from app.lessons.markdown import Document, Figure, Predict, Text, read

LANGS = ("en", "zh")
ALL_LESSONS = (*lessons(), short_lesson())
PAGES = [(lesson, lang) for lesson in ALL_LESSONS for lang in LANGS]
NAMES = [f"{lesson.slug}-{lang}" for lesson, lang in PAGES]
MATH = re.compile(r"<math.*?</math>", re.DOTALL)
TAG = re.compile(r"<[^>]+>")
# Numbers that name a place: of a section, a preprint, a year.
PLACES = re.compile(
    r"\d+\.\d+\.\d+|arXiv \d{4}\.\d{4,5}|\b(?:19|20)\d\d\b|(?:[Ss]ection|第) ?\d+(?:\.\d+)*"
)


def html(document: Document) -> str:
    """Return the whole lesson as HTML."""
    said = [document.title, document.claim, *document.notes]
    for part in document.parts:
        match part:
            case Text():
                said.append(part.html)
            case Figure():
                said += [part.caption, part.live, part.still, *part.notes]
            case Predict():
                said += [part.question, part.why, *part.notes]
    return "\n".join(str(one) for one in said)


def prose(lesson: Lesson, lang: str) -> str:
    """Return it as plain text, without formulas and without what it quotes from models."""
    document = read(PLACE.sub(" ", lesson.written(lang)[1]), lang)
    return unescape(TAG.sub("", MATH.sub(" ", html(document))))


def numbers(text: str) -> set[str]:
    """Return the numbers that a text states: decimals, and integers of two digits or more."""
    return set(re.findall(r"\d+\.\d+|(?<![\d.])\d{2,}(?![\d.]*\d)", PLACES.sub(" ", text)))
