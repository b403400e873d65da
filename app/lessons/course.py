"""The course: its lessons in order, the plans for classes, and what they quote from models.

Numbers and texts that a lesson quotes are in ``lessons/numbers.toml``.
A lesson writes ``{{name}}`` where a value belongs; the file has a table for each lesson. It is
written by ``make lessons``, which computes every value from the models that are in the repository.
``{{lesson-masks}}`` is the number of another lesson. `lessons/contents.toml` has the order of the
lessons, which lie in a folder each, with a file per language.

A plan is what a collection is made of in one click. A row of it is a lesson with the minute at
which it begins, a question to the class, and what to watch out for; the heading says how many
minutes there are.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

from app.lessons.markdown import Document, read
from app.lessons.markdown_extensions import Symbol
from app.settings import ROOT

NUMBERS = ROOT / "lessons" / "numbers.toml"

PLACE = re.compile(r"\{\{([\w-]+)\}\}")


@cache
def numbers() -> Mapping[str, Mapping[str, str]]:
    """Return the values of each lesson, by name."""
    by_lesson: dict[str, dict[str, str]] = tomllib.loads(NUMBERS.read_text(encoding="utf-8"))
    return by_lesson


def fill(text: str, values: Mapping[str, str]) -> str:
    """Put values into their places. Raises ValueError for a place that has no value."""

    def value(place: re.Match[str]) -> str:
        if place[1] not in values:
            raise ValueError(f"not in {NUMBERS.name}: {place[1]} (run make lessons)")
        return values[place[1]]

    return PLACE.sub(value, text)


LESSONS = ROOT / "lessons"


@dataclass(frozen=True)
class Lesson:
    """A lesson, and its place in the course."""

    slug: str
    number: int  # from 1, in the order of the course; 0: not one of its lessons
    minutes: int  # duration in class
    symbols: tuple[tuple[str, Symbol], ...] = ()  # of its formulas, beside the common ones

    def document(self, lang: str) -> Document:
        """Return the lesson in a language, or in English if there is no such file."""
        lang, text = self.written(lang)
        values = {**numbers().get(self.slug, {}), **_lesson_numbers()}
        return read(fill(text, values), lang, self.symbols)

    def written(self, lang: str) -> tuple[str, str]:
        """Return the language and the Markdown of its file, with the places of numbers."""
        return _found(f"{self.slug}/{{}}.md", lang)


def plan(lang: str) -> Document:
    """Return the plans for classes of several lengths in a language, or in English."""
    lang, text = _found("plan.{}.md", lang)
    return read(text, lang)


def plan_text(lang: str) -> str:
    """Return the Markdown of the plans in a language, or in English."""
    return _found("plan.{}.md", lang)[1]


def _found(name: str, lang: str) -> tuple[str, str]:
    file = LESSONS / name.format(lang)
    if not file.is_file():
        lang, file = "en", LESSONS / name.format("en")
    return lang, file.read_text(encoding="utf-8")


@cache
def _contents() -> Mapping[str, Any]:
    return tomllib.loads((LESSONS / "contents.toml").read_text(encoding="utf-8"))


@cache
def lessons() -> tuple[Lesson, ...]:
    """Return all lessons in order."""
    return tuple(
        Lesson(entry["slug"], number, entry["minutes"], _symbols(entry.get("symbols", {})))
        for number, entry in enumerate(_contents()["lesson"], start=1)
    )


@cache
def short_lesson() -> Lesson:
    """Return the shorter way for one reader, which is not one of the lessons of the course."""
    short = _contents()["short"]
    return Lesson(short["slug"], 0, short["minutes"])


@cache
def _lesson_numbers() -> Mapping[str, str]:
    """Return the number of each lesson by its place in a text: ``{{lesson-masks}}``."""
    return {f"lesson-{lesson.slug}": str(lesson.number) for lesson in lessons()}


@cache
def bringing() -> Mapping[str, Lesson]:
    """Return the lesson that brings each term of the glossary: the first that links to it."""
    by_term: dict[str, Lesson] = {}
    for lesson in lessons():
        for term in lesson.document("en").terms:
            by_term.setdefault(term, lesson)
    return by_term


def _symbols(by_symbol: dict[str, list[str]]) -> tuple[tuple[str, Symbol], ...]:
    return tuple(
        (name, Symbol(term, " ".join(parts))) for name, (term, *parts) in by_symbol.items()
    )


HEADING = re.compile(r"^## (\D*?(\d+).*)$", re.MULTILINE)

ROW = re.compile(r"^\| (\d+) \| (.*?) \| (.*?) \|(?: (.*?) \|| \|)?$", re.MULTILINE)

LESSON = re.compile(r"^\[(.+?)\]\(/learn/([a-z0-9-]+)[^)]*\)(.*)$")


@dataclass(frozen=True)
class PlannedLesson:
    """A lesson of a plan."""

    lesson: str  # its name in links
    title: str
    part: str  # which part of it fits, in words; "": all
    minutes: int
    question: str
    pitfall: str

    def item(self, translated: "PlannedLesson", second: str) -> dict[str, Any]:
        """Return the lesson as an item of a collection; its question is in two languages.

        `translated` is the same lesson in the language `second`.
        """
        question: dict[str, Any] = {"kind": "open", "link": "", "words": self.question}
        if translated.question != self.question:
            question["translations"] = {second: {"words": translated.question}}
        return {
            "link": f"/learn/{self.lesson}",
            "title": "",
            "note": "",
            "private": "\n".join(filter(None, (self.part, self.pitfall))),
            "minutes": self.minutes,
            "questions": [{"entry": "text", "ask": question}] if self.question else [],
        }


@dataclass(frozen=True)
class Plan:
    """A plan for a class."""

    title: str
    minutes: int
    lessons: tuple[PlannedLesson, ...]


@cache
def plans(lang: str) -> tuple[Plan, ...]:
    """Return the plans in a language, or in English."""
    text = plan_text(lang)
    headings = [*HEADING.finditer(text)]
    ends = [*(heading.start() for heading in headings[1:]), len(text)]
    return tuple(
        _plan(heading[1], int(heading[2]), text[heading.end() : end])
        for heading, end in zip(headings, ends, strict=True)
    )


def _plan(title: str, minutes: int, text: str) -> Plan:
    rows = [*ROW.finditer(text)]
    starts = [*(int(row[1]) for row in rows), minutes]
    lessons = []
    for row, (start, end) in zip(rows, pairwise(starts), strict=True):
        lesson, question, pitfall = (_plain(cell or "") for cell in row.groups()[1:])
        if found := LESSON.match(lesson):
            name, slug, part = found.groups()
            part = part.strip(" ，")
            lessons.append(PlannedLesson(slug, name, part, end - start, question, pitfall))
    return Plan(title, minutes, tuple(lessons))


def _plain(cell: str) -> str:
    """Return a cell without the marks of emphasis."""
    return re.sub(r"\*([^*]+)\*", r"\1", cell).strip()


def collections_of(lang: str) -> list[dict[str, Any]]:
    """Return the plans as collections: what `POST /api/collections` takes, with their minutes."""
    second = "en" if lang == "zh" else "zh"
    return [
        {
            "title": plan.title,
            "minutes": plan.minutes,
            "items": [
                lesson.item(translated, second)
                for lesson, translated in zip(plan.lessons, other.lessons, strict=True)
            ],
        }
        for plan, other in zip(plans(lang), plans(second), strict=True)
    ]
