"""The collections that come with Headlight, one for each lesson: `lessons/{lesson}/class.toml`.

Each is written in two languages, with what a teacher says, the minutes, and questions of every kind
that a teacher can write. `answered` names what the right answer to a question is read from, so that
a test can compare it with the model.
"""

import tomllib
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from app.collections.schemas import CollectionDocument, Lang
from app.figures.links import FIGURE, Entry
from app.lessons.inventory import Entry as Part
from app.lessons.inventory import Words
from app.lessons.quoted_numbers import LESSONS, lessons

ENTRIES: dict[str, Entry] = {
    "choice": "choice",
    "number": "numbers",
    "open": "text",
    "order": "order",
}
Texts = Mapping[Lang, str]
EMPTY: Texts = {"en": "", "zh": ""}


def in_language(texts: Texts, lang: str) -> str:
    """Return a text in a language, or in English."""
    return texts.get("zh" if lang == "zh" else "en", "")


class Answered(Part):
    """Where a model answers a question, in the words of a lesson's prediction."""

    kind: Literal["looks", "nearest", "head", "next", "number", "off", "change"]
    link: str
    expects: str  # as in a lesson: a token, the number of a head, a number, "same" or "changes"
    step: str = ""
    row: int = 0
    column: int = 0


class ReadyOption(Words):
    """A choice, or a part of an order; in the right order."""

    right: bool = False
    note: Texts = EMPTY


class ReadyQuestion(Part):
    """A question to a class."""

    kind: Literal["choice", "number", "open", "order"]
    words: Words
    options: tuple[ReadyOption, ...] = Field(default=(), max_length=12)
    mixed: tuple[int, ...] = ()  # the order in which students see what is to be ordered
    value: float | None = None
    within: float | None = None
    quoted: str = ""  # the name of the value in lessons/numbers.toml
    answered: Answered | None = None

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if (self.kind in ("choice", "order")) != (len(self.options) >= 2):
            raise ValueError("a choice and an order have options, others have none")
        if (self.kind == "number") != (self.value is not None):
            raise ValueError("a number has a value, others have none")
        if sorted(self.mixed) != [*range(len(self.options))] * (self.kind == "order"):
            raise ValueError("mixed has each number of an option once")
        return self

    def prepared(self, lang: str) -> dict[str, Any]:
        """Return the question as a collection has it, with its words in both languages."""
        second = "en" if lang == "zh" else "zh"
        ordered = [self.options[i] for i in self.mixed] if self.kind == "order" else self.options
        translation = {
            "words": self.words.text(second),
            "options": [option.text(second) for option in ordered],
        }
        ask: dict[str, Any] = {
            "kind": self.kind,
            "link": "",
            "words": self.words.text(lang),
            "translations": {second: translation},
        }
        if self.options:
            ask["options"] = [
                {"text": option.text(lang), "note": in_language(option.note, lang)}
                for option in ordered
            ]
        if self.kind == "order":
            ask["right"] = [self.mixed.index(place) for place in range(len(ordered))]
        elif right := [i for i, option in enumerate(ordered) if option.right]:
            ask["right"] = right
        if self.value is not None:
            ask["value"] = self.value
        if self.within is not None:
            ask["within"] = self.within
        return {"entry": ENTRIES[self.kind], "ask": ask}


class ReadyItem(Part):
    """A figure of the lesson, or a link of this server; with what a teacher says."""

    figure: int = 0  # of the lesson; 0: `link`
    link: Words | None = None
    title: Texts = EMPTY
    note: Texts = EMPTY
    private: Texts = EMPTY
    minutes: int = Field(ge=1)
    questions: tuple[ReadyQuestion, ...] = Field(default=(), max_length=8)


class ReadyCollection(Part):
    """A collection in two languages."""

    title: Words
    note: Words
    items: tuple[ReadyItem, ...] = Field(min_length=1)

    def document(self, lesson: str, lang: str) -> dict[str, Any]:
        """Return the collection as it is stored, in a language."""
        items = [
            {
                "link": item.link.text(lang)
                if item.link
                else f"/learn/{lesson}#{FIGURE}{item.figure}",
                "title": in_language(item.title, lang),
                "note": in_language(item.note, lang),
                "private": in_language(item.private, lang),
                "minutes": item.minutes,
                "questions": [question.prepared(lang) for question in item.questions],
            }
            for item in self.items
        ]
        document = {"title": self.title.text(lang), "note": self.note.text(lang), "items": items}
        return CollectionDocument.model_validate(document).model_dump(mode="json")


@cache
def ready_collections() -> dict[str, ReadyCollection]:
    """Return the collections by the names of their lessons, in the order of the course."""
    collections = {}
    for lesson in lessons():
        file = LESSONS / lesson.slug / "class.toml"
        if file.is_file():
            collections[lesson.slug] = ReadyCollection.model_validate(
                tomllib.loads(file.read_text(encoding="utf-8"))
            )
    return collections
