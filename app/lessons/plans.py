"""The plans for classes, read from their tables: what a collection is made of in one click.

A row of a plan is a lesson with the minute at which it begins, a question to the class, and what to
watch out for; the heading says how many minutes there are.
"""

import re
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

from app.lessons.library import plan_text

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

    def item(self, watch_out: str) -> dict[str, Any]:
        """Return the lesson as an item of a collection; `watch_out` is the pitfall's heading."""
        notes = (self.part, f"{watch_out} {self.pitfall}" if self.pitfall else "")
        question = {"kind": "open", "link": "", "words": self.question}
        return {
            "link": f"/learn/{self.lesson}",
            "title": "",
            "note": "",
            "private": "\n".join(filter(None, notes)),
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
    rows = [
        (int(row[1]), *(_plain(cell or "") for cell in row.groups()[1:]))
        for row in ROW.finditer(text)
    ]
    starts = [*(row[0] for row in rows), minutes]
    lessons = []
    for (_, lesson, question, pitfall), (start, end) in zip(rows, pairwise(starts), strict=True):
        if found := LESSON.match(lesson):
            name, slug, part = found.groups()
            lessons.append(
                PlannedLesson(slug, name, part.strip(" ，"), end - start, question, pitfall)
            )
    return Plan(title, minutes, tuple(lessons))


def _plain(cell: str) -> str:
    """Return a cell without the marks of emphasis."""
    return re.sub(r"\*([^*]+)\*", r"\1", cell).strip()
