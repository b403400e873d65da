"""The plans for classes, read from their tables: what a collection is made of in one click.

A row of a plan is a lesson with the minute at which it begins, a question to the class, and what to
watch out for; the heading says how many minutes there are.
"""

import re
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

from app.lessons.quoted_numbers import plan_text

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
