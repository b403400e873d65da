"""The lessons on disk: `lessons/contents.toml` and a folder for each, with a file per language."""

import tomllib
from dataclasses import dataclass
from functools import cache

from app.lessons.markdown import Document, read
from app.settings import ROOT

LESSONS = ROOT / "lessons"


@dataclass(frozen=True)
class Lesson:
    """A lesson, and its place in the course."""

    slug: str
    number: int
    minutes: int  # duration in class

    def document(self, lang: str) -> Document:
        """Return the lesson in a language, or in English if there is no such file."""
        return _read(f"{self.slug}/{{}}.md", lang)


def plan(lang: str) -> Document:
    """Return the plans for classes of several lengths in a language, or in English."""
    return _read("plan.{}.md", lang)


def _read(name: str, lang: str) -> Document:
    file = LESSONS / name.format(lang)
    if not file.is_file():
        lang, file = "en", LESSONS / name.format("en")
    return read(file.read_text(encoding="utf-8"), lang)


@cache
def lessons() -> tuple[Lesson, ...]:
    """Return all lessons in order."""
    found = tomllib.loads((LESSONS / "contents.toml").read_text(encoding="utf-8"))
    return tuple(Lesson(one["slug"], one["number"], one["minutes"]) for one in found["lesson"])
