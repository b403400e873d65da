"""The shelf: collections that anyone can use, those that come with Headlight and those listed here.

One comes with Headlight for each lesson: `lessons/{lesson}/class.toml`. Each is written in two
languages, with what a teacher says, the minutes, and questions of every kind that a teacher can
write. `answered` names what the right answer to a question is read from, so that a test can compare
it with the model.

A copy belongs to whoever makes it and names its origin. Of a listed collection it has the minutes
and the questions, but not the private notes.
"""

import tomllib
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, Self

from fastapi import Request
from pydantic import Field, ValidationError, model_validator

from app.assets.languages import languages, negotiate
from app.collections import service as collections
from app.collections.schemas import (
    CollectionCreated,
    CollectionDocument,
    Lang,
    Listing,
    ShelfEntry,
    ShelfItem,
)
from app.collections.store import Collection, Collections
from app.figures.links import FIGURE, Entry, parse_link
from app.http.limits import client_network
from app.http.problems import ProblemError
from app.http.route_dependencies import Services
from app.http.tasks_and_caches import ByteCache, off_loop
from app.lessons import pages as lessons
from app.lessons.course import LESSONS
from app.lessons.course import lessons as all_lessons
from app.lessons.inventory import Entry as Part
from app.lessons.inventory import Words
from app.settings import Settings
from app.store.storage_errors import DamagedError
from model.errors import Excess

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
    for lesson in all_lessons():
        file = LESSONS / lesson.slug / "class.toml"
        if file.is_file():
            collections[lesson.slug] = ReadyCollection.model_validate(
                tomllib.loads(file.read_text(encoding="utf-8"))
            )
    return collections


MAX_SHOWN = 100  # listed collections, those that were changed last

MAX_BY_ADDRESS = 20  # listed collections of one author

SHELF = "/collections"


async def shelf(request: Request, services: Services) -> list[ShelfEntry]:
    """Return what is on the shelf: what comes with Headlight first, then the newest."""
    lang = negotiate(request, languages())
    return [*_ready(lang), *await _listed(services)]


def _ready(lang: str) -> list[ShelfEntry]:
    entries = []
    minutes_of = {lesson.slug: lesson for lesson in all_lessons()}
    for slug, collection in ready_collections().items():
        document = collection.document(slug, lang)
        title = minutes_of[slug].document(lang).title
        entry = _entry(slug, document, languages(), f"{SHELF}#{slug}")
        items = [
            ShelfItem(
                title=item["title"]
                or lessons.says(slug, written.figure, lang, live=False).striptags(),
                minutes=item["minutes"],
                questions=[question["ask"]["words"] for question in item.get("questions", [])],
            )
            for item, written in zip(document["items"], collection.items, strict=True)
        ]
        entries.append(entry.model_copy(update={"items": items, "lesson": title}))
    return entries


async def _listed(services: Services) -> list[ShelfEntry]:
    """Return the listed collections; those that are damaged are left out."""
    if not services[Settings].list_collections:
        return []
    entries = []
    for name, version, listing in await services[Collections].listed(MAX_SHOWN):

        async def make(name: str = name) -> bytes:
            return await off_loop(_summary, await collections.find(services, name))

        try:
            summary = await services[ByteCache].find(("shelf", name, version, listing), make)
            entries.append(ShelfEntry.model_validate_json(summary))
        except (DamagedError, ProblemError, ValidationError):
            continue
    return entries


def _summary(collection: Collection) -> bytes:
    link = f"/c/{collection.id}"
    entry = _entry(collection.id, collection.document, collection.languages, link)
    return entry.model_dump_json().encode()


def _entry(
    name: str, document: Mapping[str, Any], named_languages: list[Any], link: str
) -> ShelfEntry:
    items = document["items"]
    return ShelfEntry(
        id=name,
        title=document["title"],
        note=document["note"],
        languages=named_languages,
        minutes=sum(item.get("minutes") or 0 for item in items),
        figures=sum(map(_figures, items)),
        questions=sum(len(item.get("questions", [])) for item in items),
        origin=document.get("origin"),
        link=link,
    )


def _figures(item: Mapping[str, Any]) -> int:
    """Return how many figures an item has: a lesson has several."""
    target = parse_link(item["link"], "")
    if target is None or target.kind != "lesson":
        return 1
    try:
        return len(lessons.figures(target.lesson, "en"))
    except ProblemError:  # the lesson is no longer there
        return 0


async def list_it(services: Services, collection_id: str, edit_key: str, listing: Listing) -> None:
    """List a collection for a language or two. Raises ProblemError, also where that is refused."""
    if not services[Settings].list_collections:
        raise ProblemError(403, "listing-off", "this server lists no collections")
    named = " ".join(sorted(set(listing.languages)))
    refused = await services[Collections].list_it(collection_id, edit_key, named, MAX_BY_ADDRESS)
    if refused == "full":
        detail = f"at most {MAX_BY_ADDRESS} collections of one author can be listed"
        excess = Excess(MAX_BY_ADDRESS, "collections")
        raise ProblemError(409, "too-many-listed", detail, excess=excess)
    if refused == "withdrawn":
        detail = "the operator of the server has taken the collection off the shelf"
        raise ProblemError(403, "listing-withdrawn", detail)
    if refused:
        collections.refuse(refused)


async def unlist(services: Services, collection_id: str, edit_key: str) -> None:
    """Take a collection off the shelf. Raises ProblemError if there is none."""
    if refused := await services[Collections].unlist(collection_id, edit_key):
        collections.refuse(refused)


async def copy(
    services: Services, request: Request, name: str, edit_key: str | None, token: str
) -> tuple[CollectionCreated, bool]:
    """Copy a collection by its id, or one that comes with Headlight by its name.

    Return the reply and whether it is new. The copy is of what the reader can see; of a listed
    collection with its minutes and questions, and for its owner with everything. Raises
    ProblemError if there is none, and StorageError.
    """
    address = client_network(request)
    ready = ready_collections().get(name)
    if ready:
        document = ready.document(name, negotiate(request, languages()))
        origin = f"{SHELF}#{name}"
    else:
        collection = await collections.find(services, name)
        owner = await collections.owns(services, collection.id, edit_key)
        document = _for_others(collection, services) if not owner else collection.document
        origin = f"/c/{collection.id}"
    named = {"title": document["title"], "link": origin}
    return await collections.store(services, request, {**document, "origin": named}, address, token)


def _for_others(collection: Collection, services: Services) -> dict[str, Any]:
    listed = bool(collection.languages) and services[Settings].list_collections
    names = ("link", "title", "note", *(("minutes", "questions") if listed else ()))
    items = [
        {name: item[name] for name in names if name in item}
        for item in collection.document["items"]
    ]
    return {**collection.document, "items": items}
